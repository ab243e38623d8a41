import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
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
  it('put texts with the same meaning near each other, in order', async () => {
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

  it('return the same vector alone and in a batch', async () => {
    const { embed } = open();
    const texts = Array.from({ length: 40 }, (_, at) => `Fact ${at}: the shop opens at ${at}.`);
    const [together, [alone]] = await Promise.all([embed(texts), embed([texts[33] as string])]);
    expect(together).toHaveLength(40);
    expect(cosine(together[33] as Float32Array, alone as Float32Array)).toBeGreaterThan(0.9999);
  });

  it('accept empty, symbol-only, malformed and long texts', async () => {
    const { embed } = open();
    expect(await embed([])).toEqual([]);
    const vectors = await embed(['', ' \n', '???', '\ud83d', 'x '.repeat(20_000), 'Hello']);
    expect(vectors.map((vector) => Math.round(Math.hypot(...vector)))).toEqual([0, 0, 0, 0, 1, 1]);
  });

  it('report texts that they cannot read', () => {
    const { understands } = open();
    expect(['Allergic to nuts', 'Ich mag Züge', 'Call me 2pac'].map(understands)).toEqual([true, true, true]);
    expect(['ナッツアレルギー', 'орехи', '42', '', 'Я люблю jazz'].map(understands)).toEqual(Array(5).fill(false));
  });

  it('let a query overtake a half-indexed document', async () => {
    const { embed } = open();
    const order: string[] = [];
    const long = embed(Array(60).fill('A paragraph of some length about nothing in particular. '.repeat(20)), {
      urgency: 'index',
    });
    const question = embed(['Where is it?']);
    await Promise.all([long.then(() => order.push('document')), question.then(() => order.push('question'))]);
    expect(order).toEqual(['question', 'document']);
  });

  it('abort a call with its signal and serve the next one', async () => {
    const { embed } = open();
    const reason = new Error('stopped');
    const controller = new AbortController();
    const stopped = embed(['one', 'two'], { signal: controller.signal });
    controller.abort(reason);
    await expect(stopped).rejects.toBe(reason);
    await expect(embed(['one'], { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(await embed(['three'])).toHaveLength(1);
  });

  it('start a process with the first call and end it when idle', async () => {
    // Counted by the system: a process without a reference here still uses memory.
    const processes = async () => (await readFile(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8')).trim();
    await vi.waitFor(async () => expect(await processes()).toBe(''), { timeout: 20_000 });
    const { embed } = open({ idleMs: 1 });
    expect(await processes()).toBe('');
    const first = embed(['one']);
    expect(await processes()).not.toBe('');
    expect(await first).toHaveLength(1);
    await vi.waitFor(async () => expect(await processes()).toBe(''), { timeout: 20_000 });
    expect(await embed(['two'])).toHaveLength(1);
  });

  it('fall back to WebAssembly if the runtime does not load, and log it once [EMB-004]', async () => {
    const warned: unknown[][] = [];
    const log = { warn: (...said: unknown[]) => warned.push(said) } as never;
    const { embed, close } = open({ runtime: 'a-runtime-that-is-not-installed', idleMs: 1, log });
    const [parcel] = await embed(['Where is my parcel?']);
    const [native] = await open().embed(['Where is my parcel?']);
    expect(cosine(parcel as Float32Array, native as Float32Array)).toBeGreaterThan(0.998);
    await vi.waitFor(() => expect(warned).toHaveLength(1));
    await close();
    expect(warned).toHaveLength(1);
  });

  it('stay closed', async () => {
    const embeddings = open();
    const running = embeddings.embed(['one']);
    const refused = expect(running).rejects.toThrow('The embeddings are closed');
    await embeddings.close();
    await refused;
    await expect(embeddings.embed(['two'])).rejects.toThrow('The embeddings are closed');
  });
});

describe('a process that dies', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'vestra-embed-'));
  afterAll(() => rm(folder, { recursive: true }));

  /** A mocked process: it ends at the word `crash` and fails at `fail`. */
  async function fragile(): Promise<URL> {
    const file = join(folder, 'fragile.mjs');
    await writeFile(
      file,
      `process.send({ slow: null });
      process.on('disconnect', () => process.exit());
      process.on('message', ({ id, texts }) => {
        if (texts.includes('crash')) process.exit(3);
        if (texts.includes('throw')) throw new Error('broken');
        if (texts.includes('fail')) return process.send({ id, reason: 'no memory' });
        process.send({ id, vectors: texts.map(() => new Float32Array(512)) });
      });`,
    );
    return pathToFileURL(file);
  }

  it('while loading the runtime is restarted without it [EMB-004]', async () => {
    const file = join(folder, 'no-runtime.mjs');
    await writeFile(
      file,
      `if (process.argv[2] !== '') process.kill(process.pid, 'SIGILL');
      process.send({ slow: 'its process ended' });
      process.on('disconnect', () => process.exit());
      process.on('message', ({ id, texts }) => process.send({ id, vectors: texts.map(() => new Float32Array(512)) }));`,
    );
    const { embed } = open({ program: pathToFileURL(file) });
    expect(await Promise.all([embed(['one', 'two']), embed(['three'])])).toMatchObject([{ length: 2 }, { length: 1 }]);
  });

  it.each([
    ['crash', 'The process of the embedding model ended while it worked.'],
    ['throw', 'The process of the embedding model ended while it worked.'],
    ['fail', 'The embedding model failed: no memory'],
  ])('at %s fails only that call', async (word, message) => {
    const { embed } = open({ program: await fragile() });
    const refused = expect(embed([word])).rejects.toThrow(message);
    const others = Promise.all([embed(['one', 'two', 'three']), embed(['four', 'five'])]);
    await refused;
    expect((await others).map((vectors) => vectors.length)).toEqual([3, 2]);
    expect(await embed(['six'])).toHaveLength(1);
  });
});
