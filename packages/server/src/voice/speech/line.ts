import { type ChildProcess, fork } from 'node:child_process';
import { LineFailure } from './line-failure.ts';
import type { FromLine, LineNetwork, LineNote, LineOffer, LineWork, ToLine } from './line-messages.ts';
import { guardAnswer } from './session-description.ts';
import { callFiles, missingPackages } from './voice-packages.ts';

/** What is heard of a call. `gone`: its process has died. */
export type LineNews = Exclude<FromLine, { kind: 'answer' | 'refused' }> | { kind: 'gone' };

export type Line = {
  /** For the browser. */
  sdp: string;
  say: (id: number, samples: Int16Array, isWhole: boolean) => void;
  resume: () => void;
  clear: () => void;
  note: (note: LineNote) => void;
  /** What was noted before still arrives. */
  close: () => void;
  pid: number | undefined;
};

export type Lines = {
  /** As of `Speech`. */
  obstacle: () => string | null;
  /** Answers a browser's offer, which must have passed `guardOffer`. Throws `LineFailure`. Calls `heard` only after that. */
  open: (offer: LineOffer, heard: (news: LineNews) => void) => Promise<Line>;
};

type Settings = { folder: string; network: LineNetwork; runtime?: string };

const answerMs = 20_000;
const closeMs = 2_000;

export function createLines({ folder, network, runtime = 'onnxruntime-node' }: Settings): Lines {
  const work: LineWork = { files: callFiles(folder), runtime, network };
  return {
    obstacle: () => missingPackages(folder, 'elsewhere'),
    async open(offer, heard) {
      const child = start(work);
      const send = (message: ToLine) => void (child.connected && child.send(message, () => {}));
      const sdpOfAnswer = await answered(child, offer, send).catch((error: unknown) => {
        child.kill('SIGKILL');
        throw error;
      });
      child.on('message', (message: FromLine) => {
        if (message.kind !== 'answer' && message.kind !== 'refused') heard(message);
      });
      child.on('exit', () => heard({ kind: 'gone' }));
      return {
        sdp: guardAnswer(sdpOfAnswer, network),
        say: (id, samples, isWhole) => send({ kind: 'say', id, samples, isWhole }),
        resume: () => send({ kind: 'resume' }),
        clear: () => send({ kind: 'clear' }),
        note: (note) => send({ kind: 'note', note }),
        close() {
          send({ kind: 'close' });
          setTimeout(() => child.kill('SIGKILL'), closeMs).unref();
        },
        pid: child.pid,
      };
    },
  };
}

function start(work: LineWork): ChildProcess {
  // Nothing of the server's environment: it holds keys.
  return fork(new URL('./line-process.ts', import.meta.url), [JSON.stringify(work)], {
    serialization: 'advanced',
    env: {},
    execArgv: [],
    stdio: 'ignore',
  });
}

function answered(child: ChildProcess, offer: LineOffer, send: (message: ToLine) => void): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const fail = (message: string) => reject(new LineFailure('process', message));
  const timer = setTimeout(() => fail('its process did not answer'), answerMs);
  child.once('error', ({ message }) => fail(message));
  child.once('exit', () => fail('its process ended'));
  child.once('message', (message: FromLine) => {
    if (message.kind === 'answer') resolve(message.sdp);
    else if (message.kind === 'refused') reject(new LineFailure(message.reason, message.message));
  });
  send({ kind: 'offer', ...offer });
  return promise.finally(() => clearTimeout(timer));
}
