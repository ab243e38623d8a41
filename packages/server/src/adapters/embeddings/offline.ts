import { Worker } from 'node:worker_threads';
import type { Batch, Embedded } from './embed-worker.ts';
import type { Embeddings, EmbedOptions } from './embeddings.ts';
import { EmbeddingsFailure } from './embeddings-failure.ts';

type Settings = {
  /** How long the model stays in memory after its last use; it takes about 150 MB and a third of a second to load. */
  idleMs: number;
  /** The file that the thread runs. */
  worker: URL;
};

const defaults: Settings = { idleMs: 5 * 60_000, worker: new URL('./embed-worker.ts', import.meta.url) };

const dimensions = 512;
/**
 * A batch holds a question up for as long as it takes. Measured on one core: a text of 65 characters takes 11 ms, one of
 * 1,200 takes 110; and texts of some length take longer together than one by one.
 */
const charactersInBatch = 700;
const textsInBatch = 8;
/** The tokenizer takes the square of a text's length, and further sentences hardly move the vector. */
const longestText = 1600;

type Call = {
  texts: readonly string[];
  vectors: (Float32Array | undefined)[];
  /** The place of the first text that no thread has been given yet. */
  next: number;
  resolve: (vectors: Float32Array[]) => void;
  reject: (reason: unknown) => void;
};

/**
 * The Universal Sentence Encoder (lite, English) from an npm package, in a thread that is started with the first call,
 * ended when nobody has asked for a while, and replaced when it dies.
 */
export function createOfflineEmbeddings(given: Partial<Settings> = {}): Embeddings & { close: () => Promise<void> } {
  const settings = { ...defaults, ...given };
  const calls = new Set<Call>();
  let worker: Worker | null = null;
  let running: { id: number; call: Call; places: number[] } | null = null;
  let lastId = 0;
  let idle: NodeJS.Timeout | undefined;
  let isClosed = false;

  async function embed(texts: readonly string[], { signal }: EmbedOptions = {}): Promise<Float32Array[]> {
    signal?.throwIfAborted();
    if (isClosed) throw new EmbeddingsFailure('The embeddings are closed: the server stops.');
    if (texts.length === 0) return [];
    const { promise, resolve, reject } = Promise.withResolvers<Float32Array[]>();
    const call: Call = { texts, vectors: [], next: 0, resolve, reject };
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

  /** Gives the thread the next batch, of the call that has least left: a question passes a document that is half read. */
  function goOn(): void {
    if (running) return;
    const [call] = [...calls].sort((a, b) => a.texts.length - a.next - (b.texts.length - b.next));
    if (!call) {
      rest();
      return;
    }
    const places = nextPlaces(call);
    if (places.length === 0) {
      calls.delete(call);
      call.resolve(call.vectors.map((vector) => vector ?? new Float32Array(dimensions)));
      goOn();
      return;
    }
    clearTimeout(idle);
    worker ??= start();
    worker.ref();
    running = { id: ++lastId, call, places };
    const texts = places.map((place) => readable(call.texts[place] as string));
    worker.postMessage({ id: running.id, texts } satisfies Batch);
  }

  function start(): Worker {
    const started = new Worker(settings.worker, { stdout: true, stderr: true });
    // Whoever reads nothing of these would let the thread's output pile up in memory.
    started.stdout.resume();
    started.stderr.resume();
    started.on('message', (answer: Embedded) => started === worker && take(answer));
    started.on('error', () => ended(started));
    started.on('exit', () => ended(started));
    return started;
  }

  function take(answer: Embedded): void {
    if (running?.id !== answer.id) return;
    const { call, places } = running;
    running = null;
    if ('vectors' in answer) {
      for (const [at, place] of places.entries()) call.vectors[place] = answer.vectors[at];
    } else refuse(call, `The embedding model failed: ${answer.reason}`);
    goOn();
  }

  /** What the thread was doing is refused, since it may be what ended it; the others go on in a new one. */
  function ended(which: Worker): void {
    if (which !== worker) return;
    worker = null;
    const broken = running?.call;
    running = null;
    if (broken) refuse(broken, 'The thread of the embedding model ended while it worked.');
    goOn();
  }

  function refuse(call: Call, message: string): void {
    calls.delete(call);
    call.reject(new EmbeddingsFailure(message));
  }

  /** Nothing to do keeps no process alive, and after a while no model in memory. */
  function rest(): void {
    worker?.unref();
    clearTimeout(idle);
    idle = setTimeout(() => void unload(), settings.idleMs).unref();
  }

  async function unload(): Promise<void> {
    const unloaded = worker;
    worker = null;
    await unloaded?.terminate();
  }

  return {
    model: 'universal-sentence-encoder-lite-en-1',
    dimensions,
    languages: ['english', 'simple'],
    understands,
    pieces: (text) => [text],
    embed,
    leastSimilarity: async () => 0.2,
    async close() {
      isClosed = true;
      clearTimeout(idle);
      for (const call of calls) refuse(call, 'The embeddings are closed: the server stops.');
      running = null;
      await unload();
    },
  };
}

/** Texts without a letter or digit stay without a vector: the model fails on nothing at all. */
function nextPlaces(call: Call): number[] {
  const places: number[] = [];
  let characters = 0;
  for (; call.next < call.texts.length; call.next++) {
    const text = readable(call.texts[call.next] as string);
    call.vectors[call.next] = undefined;
    if (!/[\p{L}\p{N}]/u.test(text)) continue;
    if (places.length === textsInBatch || (places.length > 0 && characters + text.length > charactersInBatch)) break;
    characters += text.length;
    places.push(call.next);
  }
  return places;
}

const readable = (text: string) => text.slice(0, longestText).toWellFormed();

/** Its word pieces are English. Other Latin text is read badly, other scripts not at all: each sign is the same unknown. */
function understands(text: string): boolean {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0;
  return latin > 0 && latin >= letters * 0.8;
}
