import { setTimeout as delay } from 'node:timers/promises';
import { createEmbedder } from '@vestra/models/embeddings/embedder';
import { afterEach, describe, expect, it } from 'vitest';
import { startEmbeddingEndpoint } from './embedding-endpoint.fixture.ts';
import { createProviderEmbeddings } from './provider.ts';

const opened: { close: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});
async function start(intercept?: Parameters<typeof startEmbeddingEndpoint>[0]) {
  const endpoint = await startEmbeddingEndpoint(intercept);
  opened.push(endpoint);
  const open = (...given: Parameters<typeof endpoint.settings>) =>
    createProviderEmbeddings(createEmbedder(endpoint.settings(...given), { firstPauseMs: 1, longestPauseMs: 2 }));
  return { ...endpoint, open };
}
const cosine = (a?: Float32Array, b?: Float32Array) => a?.reduce((sum, value, at) => sum + value * (b?.[at] ?? 0), 0);

describe("a provider's embeddings", () => {
  it.each([
    ['openai', '/v1/embeddings', 'Bearer sk-embed-0123456789abcdef', { dimensions: 64, encoding_format: 'float' }],
    ['compatible', '/v1/embeddings', 'Bearer sk-embed-0123456789abcdef', { encoding_format: 'float' }],
    ['google', '/v1/models/scripted-embedding:batchEmbedContents', 'sk-embed-0123456789abcdef', {}],
  ] as const)('use the format of %s and order its vectors [EMB-007]', async (provider, path, key, fields) => {
    const { asked, open } = await start();
    const { embed, model } = open(provider);
    expect(model).toBe(`${provider}/scripted-embedding/64`);
    const [dog, nothing, hund, milk] = await embed(['A dog.', '…', 'Ein Hund.', 'milk']);
    expect(asked).toMatchObject([{ path, key, texts: ['A dog.', 'Ein Hund.', 'milk'], body: fields }]);
    expect(provider === 'compatible' && 'dimensions' in (asked[0]?.body ?? {})).toBe(false);
    expect(Math.hypot(...(dog as Float32Array))).toBeCloseTo(1, 5);
    expect(Math.hypot(...(nothing as Float32Array))).toBe(0);
    expect(cosine(dog, hund)).toBeGreaterThan(0.9);
    expect(cosine(dog, milk)).toBeLessThan(0.1);
    await embed(['kept'], { urgency: 'index' });
    const tasks = asked.flatMap(({ body }) => body.requests?.map(({ taskType }) => taskType) ?? []);
    if (provider === 'google') expect(new Set(tasks)).toEqual(new Set(['RETRIEVAL_QUERY', 'RETRIEVAL_DOCUMENT']));
  });

  it('read every language, and long texts in pieces', async () => {
    const { asked, open } = await start();
    const { embed, understands, pieces } = open();
    expect(['犬が好き', 'कुत्ता', 'собака', 'dog', '42'].map(understands)).toEqual(Array(5).fill(true));
    expect(['', '…'].map(understands)).toEqual([false, false]);
    expect(pieces('犬'.repeat(3000)).every((piece) => piece.length <= 1600)).toBe(true);
    const [long] = await embed([`${'Nothing at all. '.repeat(200)} Only the dog at the end.`]);
    const [dog] = await embed(['dog']);
    expect(cosine(long, dog)).toBeGreaterThan(0.3);
    expect(asked[0]?.texts.length).toBeGreaterThan(1);
  });

  it('send many texts in a few requests, with a slot for a query [EMB-007]', async () => {
    const { asked, open, mostRunning } = await start(async () => {
      await delay(5);
      return false;
    });
    const { embed } = open();
    const texts = Array.from({ length: 500 }, (_, at) => `Passage ${at}`);
    const [vectors] = await Promise.all([embed(texts, { urgency: 'index' }), embed(['A question?'])]);
    expect(vectors).toHaveLength(500);
    const [alone] = await embed(['Passage 437']);
    expect(cosine(vectors[437], alone)).toBeCloseTo(1, 5);
    expect(Math.max(...asked.map(({ texts }) => texts.length))).toBeLessThanOrEqual(96);
    expect(asked).toHaveLength(8);
    expect(mostRunning()).toBeLessThanOrEqual(4);
    expect(asked.findIndex(({ texts }) => texts[0] === 'A question?')).toBeLessThan(4);
  });

  it('are retried if the provider fails briefly [EMB-007]', async () => {
    const faults = [503, 429];
    const { asked, open } = await start((_call, response) => {
      const status = faults.shift();
      if (!status) return false;
      response.writeHead(status, { 'retry-after-ms': '1' }).end('{}');
      return true;
    });
    expect(await open().embed(['dog'])).toHaveLength(1);
    expect(asked).toHaveLength(3);
  });

  it('report errors without the key [EMB-008]', async () => {
    const { open } = await start((_call, response) => {
      const message = 'Incorrect API key provided: sk-embed-0123456789abcdef.';
      response.writeHead(401).end(JSON.stringify({ error: { message, code: 'invalid_api_key' } }));
      return true;
    });
    const failed = await open()
      .embed(['dog'])
      .catch((error: Error) => error);
    expect(failed).toMatchObject({
      name: 'EmbeddingsFailure',
      message: 'OpenAI did not accept the key (401 invalid_api_key): check OPENAI_API_KEY.',
    });
    expect(JSON.stringify(failed, Object.getOwnPropertyNames(failed))).not.toContain('sk-embed');
  });

  it.each([
    ['no JSON', 'oops'],
    ['too few vectors', JSON.stringify({ data: [] })],
    ['words for numbers', JSON.stringify({ data: [{ index: 0, embedding: Array(64).fill('x') }] })],
    ['nothing but zeros', JSON.stringify({ data: [{ index: 0, embedding: Array(64).fill(0) }] })],
  ])('refuse %s as an answer', async (_name, body) => {
    const { open } = await start((_call, response) => {
      response.writeHead(200).end(body);
      return true;
    });
    await expect(open().embed(['dog'])).rejects.toThrow('OpenAI sent an answer that cannot be read.');
  });

  it('of an unexpected size are refused with the setting to change [EMB-009]', async () => {
    const { resize, open } = await start();
    resize(96);
    await expect(open('compatible').embed(['dog'])).rejects.toThrow(
      'The compatible endpoint gives vectors of 96 numbers for scripted-embedding, and 64 are expected. Set VESTRA_EMBEDDINGS_DIMENSIONS',
    );
    expect(open('compatible', 96).model).not.toBe(open('compatible', 64).model);
  });

  it('stop at the caller’s signal', async () => {
    const stop = new AbortController();
    const { open } = await start(() => {
      stop.abort(new Error('enough'));
      return new Promise(() => {});
    });
    await expect(open().embed(['dog'], { signal: stop.signal })).rejects.toThrow('enough');
  });

  it('measure the least similarity of related texts once', async () => {
    const { asked, open } = await start();
    const { leastSimilarity } = open();
    const [least, again] = await Promise.all([leastSimilarity(), leastSimilarity({ query: 'dog' })]);
    expect(least).toBe(again);
    expect(least).toBeGreaterThanOrEqual(0);
    expect(least).toBeLessThan(1);
    expect(asked).toHaveLength(2);
  });
});
