import { type ChildProcess, fork } from 'node:child_process';
import { guardAnswer } from './session-description.ts';
import type { Interruption, SpeechEvent } from './sound.ts';
import { type CallFiles, callFiles, missingPackages } from './voice-packages.ts';

/** `gone`: the process of the call has died. */
export type ConnectionEvent = Exclude<FromConnection, { kind: 'answer' | 'refused' }> | { kind: 'gone' };

export type CallConnection = {
  /** The answer for the browser. */
  sdp: string;
  say: (id: number, samples: Int16Array, isWhole: boolean) => void;
  resume: () => void;
  clear: () => void;
  note: (note: PageNote) => void;
  /** Earlier notes still arrive. */
  close: () => void;
  pid: number | undefined;
};

export type CallConnections = {
  /** Why calls cannot work here, and what to do; null if they can. */
  obstacle: () => string | null;
  /**
   * Answers a browser's offer, which must have passed `guardOffer`. Throws `CallConnectionFailure`. Reports events only
   * after it resolved.
   */
  open: (offer: CallOffer, heard: (news: ConnectionEvent) => void) => Promise<CallConnection>;
};

type Settings = { folder: string; network: CallNetwork; runtime?: string };

const answerMs = 20_000;
const closeMs = 2_000;

export function createCallConnections({ folder, network, runtime = 'onnxruntime-node' }: Settings): CallConnections {
  const work: ConnectionSettings = { files: callFiles(folder), runtime, network };
  return {
    obstacle: () => missingPackages(folder, 'elsewhere'),
    async open(offer, heard) {
      const child = start(work);
      const send = (message: ToConnection) => void (child.connected && child.send(message, () => {}));
      const sdpOfAnswer = await answered(child, offer, send).catch((error: unknown) => {
        child.kill('SIGKILL');
        throw error;
      });
      child.on('message', (message: FromConnection) => {
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

function start(work: ConnectionSettings): ChildProcess {
  // The environment of the server contains keys.
  return fork(new URL('./call-connection-process.ts', import.meta.url), [JSON.stringify(work)], {
    serialization: 'advanced',
    env: {},
    execArgv: [],
    stdio: 'ignore',
  });
}

function answered(child: ChildProcess, offer: CallOffer, send: (message: ToConnection) => void): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const fail = (message: string) => reject(new CallConnectionFailure('process', message));
  const timer = setTimeout(() => fail('its process did not answer'), answerMs);
  child.once('error', ({ message }) => fail(message));
  child.once('exit', () => fail('its process ended'));
  child.once('message', (message: FromConnection) => {
    if (message.kind === 'answer') resolve(message.sdp);
    else if (message.kind === 'refused') reject(new CallConnectionFailure(message.reason, message.message));
  });
  send({ kind: 'offer', ...offer });
  return promise.finally(() => clearTimeout(timer));
}

type CallNetwork = {
  /** UDP ports for incoming sound; null: any port. */
  ports: { min: number; max: number } | null;
  /** The public address of this machine, if it differs from its own. */
  address: string | null;
  /** True if the operator allows private and loopback addresses. */
  allowPrivate: boolean;
};

export type ConnectionSettings = { files: CallFiles; runtime: string; network: CallNetwork };

/**
 * Sent as a message and never as a process argument, which every user of the machine can read: it contains passwords.
 */
export type CallOffer = {
  sdp: string;
  iceServers: readonly { urls: string[]; username?: string; credential?: string }[];
};

/** A message for the page of the user, beside the sound. */
export type PageNote = {
  type: 'state' | 'heard' | 'ended';
  [field: string]: unknown;
};

export type ToConnection =
  | ({ kind: 'offer' } & CallOffer)
  | { kind: 'say'; id: number; samples: Int16Array; isWhole: boolean }
  /** `resume`: continues after an interruption. `clear`: drops unspoken sentences. */
  | { kind: 'resume' | 'clear' }
  | { kind: 'note'; note: PageNote }
  | { kind: 'close' };

export type FromConnection =
  | { kind: 'answer'; sdp: string }
  | { kind: 'refused'; reason: 'sdp' | 'process'; message: string }
  | { kind: 'connected' }
  /** `broken`: the sentence that the user interrupted, and how much of it was spoken. */
  | { kind: 'speech'; news: SpeechEvent; broken: Interruption | null }
  | { kind: 'sound'; samples: Int16Array }
  | { kind: 'said'; id: number }
  | { kind: 'hung_up' }
  | { kind: 'lost' };

/** A call could not start. `sdp`: the browser sent no valid offer of sound. */
export class CallConnectionFailure extends Error {
  override readonly name = 'CallConnectionFailure';
  readonly reason: 'sdp' | 'process';

  constructor(reason: 'sdp' | 'process', message: string) {
    super(message);
    this.reason = reason;
  }
}
