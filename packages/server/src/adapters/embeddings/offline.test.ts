import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { createOfflineEmbeddings } from './offline.ts';

const opened: { close: () => Promise<void> }[] = [];
const open = (settings?: Parameters<typeof createOfflineEmbeddings>[0]) => {
  const embeddings = createOfflineEmbeddings(settings);
  opened.push(embeddings);
  return embeddings;
};
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});

const cosine = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, at) => sum + value * (b[at] as number), 0);

describe('the offline embeddings', () => {
  it('put texts of one meaning near each other, in the order they came', async () => {
    const { embed, dimensions } = open();
    const [parcel, pack, cello] = (await embed([
      'Where is my parcel?',
      'When does the package arrive?',
      'She plays the cello.',
    ])) as [Float32Array, Float32Array, Float32Array];
    expect(parcel).toHaveLength(dimensions);
    expect(Math.hypot(...parcel)).toBeCloseTo(1, 4);
    expect(cosine(parcel, pack)).toBeGreaterThan(cosine(parcel, cello) + 0.2);
  });

  it('give the same vector alone and among many', async () => {
    const { embed } = open();
    const texts = Array.from({ length: 40 }, (_, at) => `Fact ${at}: the shop opens at ${at}.`);
    const [together, [alone]] = await Promise.all([embed(texts), embed([texts[33] as string])]);
    expect(together).toHaveLength(40);
    expect(cosine(together[33] as Float32Array, alone as Float32Array)).toBeGreaterThan(0.9999);
  });

  it('take nothing, signs, half characters and long texts', async () => {
    const { embed } = open();
    expect(await embed([])).toEqual([]);
    const vectors = await embed(['', ' \n', '???', '\ud83d', 'x '.repeat(20_000), 'Hello']);
    expect(vectors.map((vector) => Math.round(Math.hypot(...vector)))).toEqual([0, 0, 0, 0, 1, 1]);
  });

  it('say what they cannot read', () => {
    const { understands } = open();
    expect(['Allergic to nuts', 'Ich mag Züge', 'Call me 2pac'].map(understands)).toEqual([true, true, true]);
    expect(['ナッツアレルギー', 'орехи', '42', '', 'Я люблю jazz'].map(understands)).toEqual(Array(5).fill(false));
  });

  it('let a question pass a document that is half read', async () => {
    const { embed } = open();
    const order: string[] = [];
    const long = embed(Array(60).fill('A paragraph of some length about nothing in particular. '.repeat(20)));
    const question = embed(['Where is it?']);
    await Promise.all([long.then(() => order.push('document')), question.then(() => order.push('question'))]);
    expect(order).toEqual(['question', 'document']);
  });

  it('stop a call at its signal, and serve the next', async () => {
    const { embed } = open();
    const reason = new Error('stopped');
    const controller = new AbortController();
    const stopped = embed(['one', 'two'], { signal: controller.signal });
    controller.abort(reason);
    await expect(stopped).rejects.toBe(reason);
    await expect(embed(['one'], { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(await embed(['three'])).toHaveLength(1);
  });

  it('start no thread before the first call, and end it when nobody asks', async () => {
    const threads = () => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;
    const before = threads();
    const { embed } = open({ idleMs: 1 });
    expect(threads()).toBe(before);
    const first = embed(['one']);
    expect(threads()).toBeGreaterThan(before);
    expect(await first).toHaveLength(1);
    await vi.waitFor(() => expect(threads()).toBe(before), { timeout: 20_000 });
    expect(await embed(['two'])).toHaveLength(1);
  });

  it('are closed once and for all', async () => {
    const embeddings = open();
    const running = embeddings.embed(['one']);
    const refused = expect(running).rejects.toThrow('The embeddings are closed');
    await embeddings.close();
    await refused;
    await expect(embeddings.embed(['two'])).rejects.toThrow('The embeddings are closed');
  });
});

describe('a thread that dies', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'vestra-embed-'));
  afterAll(() => rm(folder, { recursive: true }));

  /** Stands for the real thread: it ends at the word `crash`, fails at `fail`. */
  async function fragile(): Promise<URL> {
    const file = join(folder, 'fragile.mjs');
    await writeFile(
      file,
      `import { parentPort } from 'node:worker_threads';
      parentPort.on('message', ({ id, texts }) => {
        if (texts.includes('crash')) process.exit(3);
        if (texts.includes('throw')) throw new Error('broken');
        if (texts.includes('fail')) return parentPort.postMessage({ id, reason: 'no memory' });
        parentPort.postMessage({ id, vectors: texts.map(() => new Float32Array(512)) });
      });`,
    );
    return pathToFileURL(file);
  }

  it.each([
    ['crash', 'The thread of the embedding model ended while it worked.'],
    ['throw', 'The thread of the embedding model ended while it worked.'],
    ['fail', 'The embedding model failed: no memory'],
  ])('at %s refuses that call alone', async (word, message) => {
    const { embed } = open({ worker: await fragile() });
    const refused = expect(embed([word])).rejects.toThrow(message);
    const others = Promise.all([embed(['one', 'two', 'three']), embed(['four', 'five'])]);
    await refused;
    expect((await others).map((vectors) => vectors.length)).toEqual([3, 2]);
    expect(await embed(['six'])).toHaveLength(1);
  });
});
