import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { type Speech, type SpeechCall, SpeechFailure, samplesPerSecond } from './speech.ts';
import type { SpeechAnswer, SpeechRequest, SpeechWork } from './speech-process.ts';
import { fliteVoices, missingPackages, speechFiles } from './voice-packages.ts';

type Settings = {
  /** Where `vestra setup voice` has put the packages. */
  folder: string;
  /** How long the models stay in memory after the last call. */
  idleMs?: number;
  runtime?: string;
};

const leaveMs = 1_000;
/** Longer than anybody speaks without a breath; what came before is left out. */
const longestSamples = 30 * samplesPerSecond;

/**
 * Speech from packages alone, English: Moonshine tiny listens and Flite speaks, each in a process that is started with the
 * first call and ended when there has been none for a while.
 */
export function createOfflineSpeech({ folder, idleMs = 60_000, runtime = 'onnxruntime-node' }: Settings): Speech {
  const worker = (kind: SpeechWork['kind']) => createWorker({ kind, files: speechFiles(folder), runtime });
  const [ears, mouth] = [worker('hear'), worker('speak')];
  let open = 0;
  let idle: NodeJS.Timeout | undefined;

  const rest = () => {
    open -= 1;
    if (open > 0) return;
    idle = setTimeout(() => void Promise.all([ears.end(), mouth.end()]), idleMs).unref();
  };

  function openCall(voice: string): SpeechCall {
    let isOpen = true;
    open += 1;
    clearTimeout(idle);
    ears.begin();
    mouth.begin();
    return {
      listen: () => {
        const pieces: Int16Array[] = [];
        return {
          push: (samples) => void pieces.push(samples),
          text: async () => {
            const answer = await ears.ask({ sound: joined(pieces).subarray(-longestSamples) });
            return 'text' in answer ? answer.text : '';
          },
          drop: () => void pieces.splice(0),
        };
      },
      async *speak(text, signal) {
        const answer = await mouth.ask({ text, voice });
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
      await Promise.all([ears.end(), mouth.end()]);
    },
  };
}

type Waiting = { resolve: (answer: SpeechAnswer) => void; reject: (reason: unknown) => void };
type Asked = { sound: Int16Array } | { text: string; voice: string };

/** A process that does one kind of work, one piece after the other; one that has died is replaced with the next piece. */
function createWorker(work: SpeechWork) {
  const waiting = new Map<number, Waiting>();
  let child: ChildProcess | null = null;
  let lastId = 0;

  function begin(): ChildProcess {
    if (child) return child;
    // Nothing of the server's environment: it holds keys.
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

  /** Nothing to do keeps no process alive. */
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
    ask(asked: Asked): Promise<SpeechAnswer> {
      const { promise, resolve, reject } = Promise.withResolvers<SpeechAnswer>();
      const id = ++lastId;
      waiting.set(id, { resolve, reject });
      // One that is gone says so by its end.
      begin().send({ id, ...asked } satisfies SpeechRequest, () => {});
      hold();
      return promise;
    },
    /** It leaves by itself and takes its folder with it; one that is at a long sentence is not waited for. */
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
