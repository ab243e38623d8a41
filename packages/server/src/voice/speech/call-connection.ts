import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import {
  bareEnvironment,
  type Confinement,
  callAccount,
  confine,
  mountsOfProgram,
  nodeProgram,
} from '../../platform/sandbox/confine.ts';
import { joinCaptured, spawnConfined, waitForExit, writeToPipe } from '../../platform/sandbox/confined-process.ts';
import { systemCallFilter } from '../../platform/sandbox/system-call-filter.ts';
import { type CallChannel, callPipe, openCallChannel } from './call-channel.ts';
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
};

export type CallConnections = {
  /** Why calls cannot work here, and what to do; null if they can. */
  obstacle: () => Promise<string | null>;
  /**
   * Answers a browser's offer, which must have passed `guardOffer`. Throws `CallConnectionFailure`. Reports events only
   * after it resolved.
   */
  open: (offer: CallOffer, heard: (news: ConnectionEvent) => void) => Promise<CallConnection>;
};

type Settings = {
  folder: string;
  network: CallNetwork;
  runtime?: string;
  /** False if the operator accepts calls that run as the account of the server. */
  isConfined: boolean;
};

const answerMs = 20_000;
const closeMs = 2_000;
/** Far more than an answer or a piece of sound takes. */
const maxMessageBytes = 256 * 1024;

const program = fileURLToPath(new URL('./call-connection-process.ts', import.meta.url));

export function createCallConnections(settings: Settings): CallConnections {
  const { folder, network, runtime = 'onnxruntime-node', isConfined } = settings;
  const work: ConnectionSettings = { files: callFiles(folder), runtime, network };
  const needed = { program, folder, runtime, files: Object.values(work.files) };
  /** A failed trial is repeated at the next call: the operator may have fixed the cause. */
  let isTried = false;
  return {
    async obstacle() {
      const missing = missingPackages(folder, 'elsewhere');
      if (missing !== null || !isConfined || isTried) return missing;
      const obstacle = await confinementObstacle(needed);
      isTried = obstacle === null;
      return obstacle;
    },
    async open(offer, heard) {
      const words = [program, JSON.stringify(work)];
      const child = isConfined ? confinedCall(needed, words) : unconfinedCall(words);
      let receive: (message: FromConnection) => void = () => {};
      const channel = openCallChannel<ToConnection>(child.stdio[callPipe] as unknown as Duplex, {
        maxBytes: maxMessageBytes,
        message(message) {
          const read = fromConnection.safeParse(message);
          // Only code that took over the process sends anything else.
          if (read.success) receive(read.data);
          else child.kill('SIGKILL');
        },
        end: () => void child.kill('SIGKILL'),
      });
      const answer = answerOf(child, (next) => {
        receive = next;
      });
      channel.send({ kind: 'offer', ...offer });
      const sdpOfAnswer = await answer.catch((error: unknown) => {
        child.kill('SIGKILL');
        throw error;
      });
      receive = (message) => {
        if (message.kind !== 'answer' && message.kind !== 'refused') heard(message);
      };
      child.on('exit', () => heard({ kind: 'gone' }));
      return { sdp: guardAnswer(sdpOfAnswer, network), ...controlsOf(child, channel) };
    },
  };
}

const controlsOf = (child: ChildProcess, { send }: CallChannel<ToConnection>): Omit<CallConnection, 'sdp'> => ({
  say: (id, samples, isWhole) => send({ kind: 'say', id, samples, isWhole }),
  resume: () => send({ kind: 'resume' }),
  clear: () => send({ kind: 'clear' }),
  note: (note) => send({ kind: 'note', note }),
  close() {
    send({ kind: 'close' });
    setTimeout(() => child.kill('SIGKILL'), closeMs).unref();
  },
});

/** The environment of the server contains keys, so the process gets none. */
const unconfinedCall = (words: readonly string[]): ChildProcess =>
  spawn(process.execPath, words, { env: {}, stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });

async function answerOf(
  child: ChildProcess,
  onMessage: (next: (message: FromConnection) => void) => void,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const fail = (message: string) => reject(new CallConnectionFailure('process', message));
  const timer = setTimeout(() => fail('its process did not answer'), answerMs);
  child.once('error', ({ message }) => fail(message));
  void once(child, 'exit').then(
    () => fail('its process ended'),
    () => {},
  );
  onMessage((message) => {
    if (message.kind === 'answer') resolve(message.sdp);
    else if (message.kind === 'refused') reject(new CallConnectionFailure(message.reason, message.message));
  });
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
  /** `hearing`: the words of the user so far. `heard`: all of them. `saying`: the sentence that the agent speaks. */
  type: 'state' | 'hearing' | 'heard' | 'saying' | 'ended';
  [field: string]: unknown;
};

export type ToConnection =
  | ({ kind: 'offer' } & CallOffer)
  | { kind: 'say'; id: number; samples: Int16Array; isWhole: boolean }
  /** `resume`: continues after an interruption. `clear`: drops unspoken sentences. */
  | { kind: 'resume' | 'clear' }
  | { kind: 'note'; note: PageNote }
  | { kind: 'close' };

/** The process parses packets of strangers with native code, so the server checks what it sends. */
const fromConnection = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('answer'), sdp: z.string() }),
  z.object({ kind: z.literal('refused'), reason: z.enum(['sdp', 'process']), message: z.string() }),
  z.object({ kind: z.literal('connected') }),
  z.object({
    kind: z.literal('speech'),
    news: z.enum(['started', 'paused', 'resumed', 'ended'] satisfies SpeechEvent[]),
    /** The sentence that the user interrupted, and how much of it was spoken. */
    broken: z.object({ id: z.number(), share: z.number() }).nullable() satisfies z.ZodType<Interruption | null>,
  }),
  z.object({ kind: z.literal('sound'), samples: z.instanceof(Int16Array<ArrayBufferLike>) }),
  z.object({ kind: z.literal('said'), id: z.number() }),
  z.object({ kind: z.literal('hung_up') }),
  z.object({ kind: z.literal('lost') }),
]);

export type FromConnection = z.infer<typeof fromConnection>;

/** A call could not start. `sdp`: the browser sent no valid offer of sound. */
export class CallConnectionFailure extends Error {
  override readonly name = 'CallConnectionFailure';
  readonly reason: 'sdp' | 'process';

  constructor(reason: 'sdp' | 'process', message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The files that the process of a call reads. */
type CallPrograms = { program: string; folder: string; runtime: string; files: readonly string[] };

const filterPipe = 4;
const trialMs = 20_000;
const megabyte = 1024 * 1024;

/**
 * Starts the process of a call in a sandbox: native code that reads packets of strangers sees its libraries only. It
 * keeps the network, because it sends and receives sound by UDP.
 */
function confinedCall(programs: CallPrograms, words: readonly string[]): ChildProcess {
  const filter = systemCallFilter();
  const { file, args, identity } = confine([nodeProgram, ...words], confinementOf(programs), filter && filterPipe);
  const child = spawn(file, args, {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    env: bareEnvironment,
    cwd: '/',
    ...identity,
  });
  writeToPipe(child, filterPipe, filter ?? Buffer.alloc(0));
  return child;
}

/** Why calls cannot be confined here, and what to do; null if they can. Starts Node in the sandbox to find out. */
async function confinementObstacle(programs: CallPrograms): Promise<string | null> {
  const words = ['/bin/sh', '-c', readsAll, nodeProgram, programs.program, ...programs.files];
  const limits = { timeoutMs: trialMs, signal: new AbortController().signal, maxBytes: 2_000 };
  try {
    const trial = spawnConfined(words, confinementOf(programs), { input: null });
    const { exitCode, stderr } = await waitForExit(trial, limits);
    if (exitCode === 0) return null;
    const said = Buffer.from(joinCaptured(stderr, () => '')).toString('utf8');
    return cannotConfine(said.trim().split('\n')[0]?.slice(0, 200) || 'it did not start');
  } catch (error) {
    return cannotConfine(`it cannot be started: ${(error as NodeJS.ErrnoException).code ?? 'unknown'}`);
  }
}

const cannotConfine = (why: string) =>
  `The server cannot confine voice calls with bubblewrap (${why}). Install bubblewrap, allow user namespaces, and keep the server and VESTRA_VOICE_DIR where other accounts may read them.`;

const readsAll = [
  'for file; do [ -r "$file" ] || { echo "$file cannot be read" >&2; exit 1; }; done',
  'exec "$0" --version >/dev/null',
].join('\n');

const confinementOf = ({ program, folder, runtime }: CallPrograms): Confinement => ({
  mounts: mountsOfProgram(program, [runtime], [join(folder, 'node_modules')]),
  env: {},
  workingFolder: '/',
  egressSocket: null,
  hasHostNetwork: true,
  // Threads count, and kernels before 5.14 count those of all calls together.
  limits: { processes: 4_096, fileBytes: 0, memoryBytes: 2_048 * megabyte },
  identity: callAccount(),
});
