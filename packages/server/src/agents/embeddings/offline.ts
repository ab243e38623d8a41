import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Logger } from 'pino';
import type { Batch, Embedded, Ready } from './embed-process.ts';
import { cutText, type Embeddings, EmbeddingsFailure, type EmbedOptions } from './embeddings.ts';

type Settings = {
  /** How long the model stays in memory after its last use; it takes about 150 MB and a third of a second to load. */
  idleMs: number;
  /** What the process runs. */
  program: URL;
  /** The package that runs the model in machine code; empty for none. */
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
/** A batch holds a question up for as long as it takes: measured on one slow core, 30 ms. */
const charactersInBatch = 1000;
const textsInBatch = 16;
/** What is further back in a text is left out. It takes a slow core a quarter of a second to get there. */
const longestText = 8000;
/** Plain English has 4 or 5 characters in each of the 128 word pieces that the model reads, a list of codes 2. */
const longestPiece = 280;
/**
 * Measured on memory's questions: of 66 in other words it costs one answer, and of those without an answer it leaves half
 * as many facts as 0.2 does. A word or two is nearer to everything: 23 of 30 that name a fact's subject are above the
 * second, 17 of 20 that name nothing are below.
 */
const leastOfSentence = 0.25;
const leastOfKeyword = 0.36;
const closed = 'The embeddings are closed: the server stops.';

type Call = {
  texts: readonly string[];
  vectors: Float32Array[];
  urgency: 'query' | 'index';
  /** The places of texts that no process has been given yet, short ones first: a batch is as slow as its longest. */
  left: number[];
  resolve: (vectors: Float32Array[]) => void;
  reject: (reason: unknown) => void;
};

type Running = { id: number; call: Call; places: number[] };

/**
 * The Universal Sentence Encoder (lite, English) from an npm package, in a process that is started with the first call,
 * ended when nobody has asked for a while, and replaced when it dies.
 */
export function createOfflineEmbeddings(given: Partial<Settings> = {}): Embeddings & { close: () => Promise<void> } {
  const settings = { ...defaults, ...given };
  const calls = new Set<Call>();
  let { runtime } = settings;
  let child: ChildProcess | null = null;
  let isReady = false;
  let isSlowSaid = false;
  let running: Running | null = null;
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
    const call = newCall(texts, urgency, { resolve, reject });
    const abort = () => reject(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    calls.add(call);
    goOn();
    try {
      return await promise;
    } finally {
      signal?.removeEventListener('abort', abort);
      calls.delete(call);
    }
  }

  /** Gives the process the next batch: of a query before what is to be stored, and of the call that has least left. */
  function goOn(): void {
    if (running) return;
    const [call] = [...calls].sort(
      (a, b) => Number(a.urgency === 'index') - Number(b.urgency === 'index') || a.left.length - b.left.length,
    );
    if (!call) {
      rest();
      return;
    }
    const places = nextPlaces(call);
    if (places.length === 0) {
      calls.delete(call);
      call.resolve(call.vectors);
      goOn();
      return;
    }
    clearTimeout(idle);
    child ??= start();
    child.ref();
    child.channel?.ref();
    running = { id: ++lastId, call, places };
    const texts = places.map((place) => call.texts[place] as string);
    // A process that is gone says so by its end.
    child.send({ id: running.id, texts } satisfies Batch, () => {});
  }

  function start(): ChildProcess {
    isReady = false;
    // Nothing of the server's environment: it holds keys.
    const started = fork(settings.program, [runtime], {
      serialization: 'advanced',
      env: {},
      execArgv: [],
      stdio: 'ignore',
    });
    started.on('message', (answer) => {
      if (started !== child) return;
      if ('slow' in (answer as Ready | Embedded)) begun(answer as Ready);
      else take(answer as Embedded);
    });
    started.on('error', () => ended(started));
    started.on('exit', () => ended(started));
    return started;
  }

  function begun({ slow }: Ready): void {
    isReady = true;
    if (slow === null || isSlowSaid) return;
    isSlowSaid = true;
    settings.log?.warn(
      { reason: slow },
      'onnxruntime-node does not run here: the offline embeddings are several times slower',
    );
  }

  function take(answer: Embedded): void {
    if (running?.id !== answer.id) return;
    const { call, places } = running;
    running = null;
    if ('vectors' in answer) {
      for (const [at, place] of places.entries()) call.vectors[place] = answer.vectors[at] as Float32Array;
    } else refuse(call, `The embedding model failed: ${answer.reason}`);
    goOn();
  }

  function ended(which: ChildProcess): void {
    if (which !== child) return;
    child = null;
    // An error need not be its end.
    which.kill('SIGKILL');
    const broken = running;
    running = null;
    if (broken && !isReady && runtime !== '') {
      // It did not come as far as its first text: the runtime cannot be loaded here.
      runtime = '';
      broken.call.left.unshift(...broken.places);
    } else if (broken) {
      // What it was doing may be what ended it; the other calls go on in a new process.
      refuse(broken.call, 'The process of the embedding model ended while it worked.');
    }
    goOn();
  }

  function refuse(call: Call, message: string): void {
    calls.delete(call);
    call.reject(new EmbeddingsFailure(message));
  }

  /** Nothing to do keeps no process alive, and after a while no model in memory. */
  function rest(): void {
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
    pieces: (text) => cutText(text, longestPiece),
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

/** Texts without a letter or digit stay without a direction: the model fails on nothing at all. */
function newCall(texts: readonly string[], urgency: Call['urgency'], settle: Pick<Call, 'resolve' | 'reject'>): Call {
  const readable = texts.map((text) => text.slice(0, longestText).toWellFormed());
  const left = [...readable.keys()]
    .filter((place) => /[\p{L}\p{N}]/u.test(readable[place] as string))
    .sort((a, b) => (readable[a] as string).length - (readable[b] as string).length);
  return { texts: readable, vectors: readable.map(() => new Float32Array(dimensions)), urgency, left, ...settle };
}

function nextPlaces(call: Call): number[] {
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

/** Its word pieces are English. Other Latin text is read badly, other scripts not at all: each sign is the same unknown. */
function understands(text: string): boolean {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0;
  return latin > 0 && latin >= letters * 0.8;
}
