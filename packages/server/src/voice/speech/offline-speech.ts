import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { type Speech, SpeechFailure, type SpeechSession, samplesPerSecond } from './speech.ts';
import type { SpeechAnswer, SpeechRequest, SpeechTask } from './speech-process.ts';
import { fliteVoices, missingPackages, speechFiles } from './voice-packages.ts';

type Settings = {
  /** Where `vestra setup voice` put the packages. */
  folder: string;
  /** How long the models stay in memory after the last call. */
  idleMs?: number;
  runtime?: string;
};

const leaveMs = 1_000;
/** Longer than anyone speaks without a pause. Earlier sound is dropped. */
const maxSamples = 30 * samplesPerSecond;

/**
 * Offline speech in English: Moonshine tiny recognises and Flite speaks. Each runs in a process that starts with the
 * first call and ends when idle.
 */
export function createOfflineSpeech({ folder, idleMs = 60_000, runtime = 'onnxruntime-node' }: Settings): Speech {
  const worker = (kind: SpeechTask['kind']) => createWorker({ kind, files: speechFiles(folder), runtime });
  const [recognizer, synthesizer] = [worker('hear'), worker('speak')];
  let open = 0;
  let idle: NodeJS.Timeout | undefined;

  const rest = () => {
    open -= 1;
    if (open > 0) return;
    idle = setTimeout(() => void Promise.all([recognizer.end(), synthesizer.end()]), idleMs).unref();
  };

  function openCall(voice: string): SpeechSession {
    let isOpen = true;
    open += 1;
    clearTimeout(idle);
    recognizer.begin();
    synthesizer.begin();
    return {
      listen: () => {
        const pieces: Int16Array[] = [];
        return {
          push: (samples) => void pieces.push(samples),
          text: async () => {
            const answer = await recognizer.ask({ sound: joined(pieces).subarray(-maxSamples) });
            return 'text' in answer ? answer.text : '';
          },
          drop: () => void pieces.splice(0),
        };
      },
      async *speak(text, signal) {
        const answer = await synthesizer.ask({ text, voice });
        if (!signal.aborted && 'sound' in answer) yield answer.sound;
      },
      takeUsed: () => [],
      close() {
        if (isOpen) rest();
        isOpen = false;
      },
    };
  }

  return {
    model: 'offline',
    voices: Object.keys(fliteVoices),
    obstacle: () => missingPackages(folder, 'offline'),
    open: openCall,
    async close() {
      clearTimeout(idle);
      await Promise.all([recognizer.end(), synthesizer.end()]);
    },
  };
}

type PendingRequest = { resolve: (answer: SpeechAnswer) => void; reject: (reason: unknown) => void };
type SpeechInput = { sound: Int16Array } | { text: string; voice: string };

/**
 * A process for one kind of task, which runs one request after the other. A dead process is replaced at the next
 * request.
 */
function createWorker(work: SpeechTask) {
  const waiting = new Map<number, PendingRequest>();
  let child: ChildProcess | null = null;
  let lastId = 0;

  function begin(): ChildProcess {
    if (child) return child;
    // The environment of the server contains keys.
    const started = fork(new URL('./speech-process.ts', import.meta.url), [JSON.stringify(work)], {
      serialization: 'advanced',
      env: {},
      execArgv: ['--disable-warning=ExperimentalWarning'],
      stdio: 'ignore',
    });
    started.on('message', (answer: SpeechAnswer) => take(answer));
    for (const end of ['error', 'exit']) {
      started.on(end, () => {
        forget(started);
        started.kill('SIGKILL');
      });
    }
    child = started;
    hold();
    return started;
  }

  /** An idle child must not keep the server process alive. */
  function hold(): void {
    const way = waiting.size > 0 ? 'ref' : 'unref';
    child?.[way]();
    child?.channel?.[way]();
  }

  function take(answer: SpeechAnswer): void {
    const asked = waiting.get(answer.id);
    waiting.delete(answer.id);
    hold();
    if ('reason' in answer) asked?.reject(new SpeechFailure(answer.reason));
    else asked?.resolve(answer);
  }

  function forget(which: ChildProcess): void {
    if (which !== child) return;
    child = null;
    for (const asked of waiting.values()) asked.reject(new SpeechFailure(`The process that is to ${work.kind} ended.`));
    waiting.clear();
  }

  return {
    begin,
    ask(asked: SpeechInput): Promise<SpeechAnswer> {
      const { promise, resolve, reject } = Promise.withResolvers<SpeechAnswer>();
      const id = ++lastId;
      waiting.set(id, { resolve, reject });
      // If the process is gone, its exit event rejects the request.
      begin().send({ id, ...asked } satisfies SpeechRequest, () => {});
      hold();
      return promise;
    },
    /** The process exits by itself and removes its folder. It is killed if it is busy with a long sentence. */
    async end() {
      const running = child;
      if (!running) return;
      forget(running);
      const gone = once(running, 'exit');
      running.ref();
      if (running.connected) running.disconnect();
      const timer = setTimeout(() => running.kill('SIGKILL'), leaveMs);
      await gone;
      clearTimeout(timer);
    },
  };
}

function joined(pieces: readonly Int16Array[]): Int16Array {
  const all = new Int16Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
