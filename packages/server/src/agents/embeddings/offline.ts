import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Logger } from 'pino';
import type { EmbeddedBatch, EncoderReady, TextBatch } from './embed-process.ts';
import { cutText, type Embeddings, EmbeddingsFailure, type EmbedOptions } from './embeddings.ts';

type Settings = {
  /** How long the model stays loaded after its last use. It takes about 150 MB, and a third of a second to load. */
  idleMs: number;
  /** The program of the process. */
  program: URL;
  /** The package of the native runtime, or empty for none. */
  runtime: string;
  log: Pick<Logger, 'warn'> | null;
};

const defaults: Settings = {
  idleMs: 5 * 60_000,
  program: new URL('./embed-process.ts', import.meta.url),
  runtime: 'onnxruntime-node',
  log: null,
};

const dimensions = 512;
/** A query waits at most for one batch: 30 ms, measured on one slow core. */
const charactersInBatch = 1000;
const textsInBatch = 16;
/** The rest of a longer text is ignored. This much takes a slow core a quarter of a second. */
const maxTextLength = 8000;
/** The model reads 128 word pieces: 4 or 5 characters each in English, 2 in a list of codes. */
const maxPieceLength = 280;
/**
 * Measured on the recall set of memory. The first value loses one of 66 paraphrased questions and halves the false
 * facts of 0.2. Keywords are nearer to everything: "quantum chromodynamics" and "Works as an engineer" are at 0.362. Of
 * 28 keywords that name the subject of a fact, the second value finds 22; with 0.36 they were 23.
 */
const leastOfSentence = 0.25;
const leastOfKeyword = 0.38;
const closed = 'The embeddings are closed: the server stops.';

type EmbedCall = {
  texts: readonly string[];
  vectors: Float32Array[];
  urgency: 'query' | 'index';
  /** Positions of texts that are not sent yet, short ones first: a batch is as slow as its longest text. */
  left: number[];
  resolve: (vectors: Float32Array[]) => void;
  reject: (reason: unknown) => void;
};

type RunningBatch = { id: number; call: EmbedCall; places: number[] };

/**
 * The Universal Sentence Encoder (lite, English) from an npm package. Its process starts with the first call, ends when
 * idle, and is replaced when it dies.
 */
export function createOfflineEmbeddings(given: Partial<Settings> = {}): Embeddings & { close: () => Promise<void> } {
  const settings = { ...defaults, ...given };
  const calls = new Set<EmbedCall>();
  let { runtime } = settings;
  let child: ChildProcess | null = null;
  let isReady = false;
  let isSlownessLogged = false;
  let running: RunningBatch | null = null;
  let lastId = 0;
  let idle: NodeJS.Timeout | undefined;
  let isClosed = false;

  async function embed(
    texts: readonly string[],
    { signal, urgency = 'query' }: EmbedOptions = {},
  ): Promise<Float32Array[]> {
    signal?.throwIfAborted();
    if (isClosed) throw new EmbeddingsFailure(closed);
    if (texts.length === 0) return [];
    const { promise, resolve, reject } = Promise.withResolvers<Float32Array[]>();
    const call = newEmbedCall(texts, urgency, { resolve, reject });
    const abort = () => reject(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    calls.add(call);
    sendNext();
    try {
      return await promise;
    } finally {
      signal?.removeEventListener('abort', abort);
      calls.delete(call);
    }
  }

  /** Sends the next batch to the process: queries before indexing, then the call with the fewest texts left. */
  function sendNext(): void {
    if (running) return;
    const [call] = [...calls].sort(
      (a, b) => Number(a.urgency === 'index') - Number(b.urgency === 'index') || a.left.length - b.left.length,
    );
    if (!call) {
      scheduleUnload();
      return;
    }
    const places = nextPlaces(call);
    if (places.length === 0) {
      calls.delete(call);
      call.resolve(call.vectors);
      sendNext();
      return;
    }
    clearTimeout(idle);
    child ??= start();
    child.ref();
    child.channel?.ref();
    running = { id: ++lastId, call, places };
    const texts = places.map((place) => call.texts[place] as string);
    // If the process is gone, its `exit` event reports that.
    child.send({ id: running.id, texts } satisfies TextBatch, () => {});
  }

  function start(): ChildProcess {
    isReady = false;
    // The environment is empty, because the server's holds keys.
    const started = fork(settings.program, [runtime], {
      serialization: 'advanced',
      env: {},
      execArgv: [],
      stdio: 'ignore',
    });
    started.on('message', (answer) => {
      if (started !== child) return;
      if ('slow' in (answer as EncoderReady | EmbeddedBatch)) onReady(answer as EncoderReady);
      else onBatch(answer as EmbeddedBatch);
    });
    started.on('error', () => onExit(started));
    started.on('exit', () => onExit(started));
    return started;
  }

  function onReady({ slow }: EncoderReady): void {
    isReady = true;
    if (slow === null || isSlownessLogged) return;
    isSlownessLogged = true;
    settings.log?.warn(
      { reason: slow },
      'onnxruntime-node does not run on this machine: the offline embeddings are several times slower',
    );
  }

  function onBatch(answer: EmbeddedBatch): void {
    if (running?.id !== answer.id) return;
    const { call, places } = running;
    running = null;
    if ('vectors' in answer) {
      for (const [at, place] of places.entries()) call.vectors[place] = answer.vectors[at] as Float32Array;
    } else refuse(call, `The embedding model failed: ${answer.reason}`);
    sendNext();
  }

  function onExit(which: ChildProcess): void {
    if (which !== child) return;
    child = null;
    // The process may still be running after an `error` event.
    which.kill('SIGKILL');
    const broken = running;
    running = null;
    if (broken && !isReady && runtime !== '') {
      // The process onExit before its first text: the runtime cannot be loaded on this machine.
      runtime = '';
      broken.call.left.unshift(...broken.places);
    } else if (broken) {
      // The batch may have onExit the process, so it is refused. Other calls continue in a new process.
      refuse(broken.call, 'The process of the embedding model ended while it worked.');
    }
    sendNext();
  }

  function refuse(call: EmbedCall, message: string): void {
    calls.delete(call);
    call.reject(new EmbeddingsFailure(message));
  }

  /** An idle encoder does not keep the server running, and is unloaded after a while. */
  function scheduleUnload(): void {
    child?.unref();
    child?.channel?.unref();
    clearTimeout(idle);
    idle = setTimeout(() => void unload(), settings.idleMs).unref();
  }

  async function unload(): Promise<void> {
    const unloaded = child;
    child = null;
    if (!unloaded || unloaded.exitCode !== null || unloaded.signalCode !== null) return;
    const gone = once(unloaded, 'exit');
    unloaded.ref();
    unloaded.kill('SIGKILL');
    await gone;
  }

  return {
    model: 'universal-sentence-encoder-lite-en-1',
    dimensions,
    languages: ['english', 'simple'],
    understands,
    pieces: (text) => cutText(text, maxPieceLength),
    embed,
    leastSimilarity: async ({ query } = {}) => (isKeyword(query) ? leastOfKeyword : leastOfSentence),
    async close() {
      isClosed = true;
      clearTimeout(idle);
      for (const call of calls) refuse(call, closed);
      running = null;
      await unload();
    },
  };
}

/** Texts without a letter or digit keep zero vectors: the model fails on empty input. */
function newEmbedCall(
  texts: readonly string[],
  urgency: EmbedCall['urgency'],
  settle: Pick<EmbedCall, 'resolve' | 'reject'>,
): EmbedCall {
  const readable = texts.map((text) => text.slice(0, maxTextLength).toWellFormed());
  const left = [...readable.keys()]
    .filter((place) => /[\p{L}\p{N}]/u.test(readable[place] as string))
    .sort((a, b) => (readable[a] as string).length - (readable[b] as string).length);
  return { texts: readable, vectors: readable.map(() => new Float32Array(dimensions)), urgency, left, ...settle };
}

function nextPlaces(call: EmbedCall): number[] {
  const places: number[] = [];
  let characters = 0;
  for (const place of call.left.slice(0, textsInBatch)) {
    characters += (call.texts[place] as string).length;
    if (places.length > 0 && characters > charactersInBatch) break;
    places.push(place);
  }
  call.left.splice(0, places.length);
  return places;
}

const isKeyword = (query = '') => query !== '' && query.trim().split(/\s+/).length <= 3;

/** The vocabulary is English. It reads other Latin text badly, and other scripts as one unknown piece. */
function understands(text: string): boolean {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0;
  return latin > 0 && latin >= letters * 0.8;
}
