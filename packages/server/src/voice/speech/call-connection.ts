import { type ChildProcess, fork } from 'node:child_process';
import { guardAnswer } from './session-description.ts';
import type { GateNews, Interruption } from './sound.ts';
import { type CallFiles, callFiles, missingPackages } from './voice-packages.ts';

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
  return fork(new URL('./call-connection-process.ts', import.meta.url), [JSON.stringify(work)], {
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

type LineNetwork = {
  /** Where sound comes in by UDP; null: any port. */
  ports: { min: number; max: number } | null;
  /** The address under which browsers reach this machine, where that is not one of its own. */
  address: string | null;
  /** Whether the operator opened private and loopback addresses. */
  allowPrivate: boolean;
};

export type LineWork = { files: CallFiles; runtime: string; network: LineNetwork };

/** A browser's offer, and whom to ask for a way to it. Never among a process's arguments, which everybody reads: it holds passwords. */
export type LineOffer = {
  sdp: string;
  iceServers: readonly { urls: string[]; username?: string; credential?: string }[];
};

/** What the page of the person is told beside the sound. */
export type LineNote = {
  type: 'state' | 'heard' | 'ended';
  [field: string]: unknown;
};

export type ToLine =
  | ({ kind: 'offer' } & LineOffer)
  | { kind: 'say'; id: number; samples: Int16Array; isWhole: boolean }
  /** `resume`: goes on where it was broken off. `clear`: what was not said stays unsaid. */
  | { kind: 'resume' | 'clear' }
  | { kind: 'note'; note: LineNote }
  | { kind: 'close' };

export type FromLine =
  | { kind: 'answer'; sdp: string }
  | { kind: 'refused'; reason: 'sdp' | 'process'; message: string }
  | { kind: 'connected' }
  /** `broken`: what was being said when the person began to speak, and how much of it was out. */
  | { kind: 'speech'; news: GateNews; broken: Interruption | null }
  | { kind: 'sound'; samples: Int16Array }
  | { kind: 'said'; id: number }
  | { kind: 'hung_up' }
  | { kind: 'lost' };

/** A call could not be begun. `sdp`: what the browser sent is no offer of sound. */
export class LineFailure extends Error {
  override readonly name = 'LineFailure';
  readonly reason: 'sdp' | 'process';

  constructor(reason: 'sdp' | 'process', message: string) {
    super(message);
    this.reason = reason;
  }
}
