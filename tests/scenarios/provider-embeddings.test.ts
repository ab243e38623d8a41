import { startEmbeddingEndpoint } from '@vestra/server/agents/embeddings/embedding-endpoint.fixture';
import { afterEach, expect, it } from 'vitest';
import { startAgentServer } from '../support/agent.ts';

const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (let step = cleanUp.pop(); step; step = cleanUp.pop()) await step();
});

const key = 'sk-embed-0123456789abcdef';

it.each([
  ['openai', '/v1/embeddings', { OPENAI_API_KEY: key }, 'OPENAI_BASE_URL'],
  [
    'google',
    '/v1/models/scripted-embedding:batchEmbedContents',
    { GOOGLE_GENERATIVE_AI_API_KEY: key },
    'GOOGLE_GENERATIVE_AI_BASE_URL',
  ],
])(
  '%s embeds a notebook through refusals and failures; where its vectors change size words still find [EMB-541, SRCH-705]',
  async (provider, path, keys, address) => {
    const refusals = [429, 500];
    const endpoint = await startEmbeddingEndpoint((_call, response) => {
      const status = refusals.shift();
      if (status === undefined) return false;
      response.writeHead(status, { 'content-type': 'application/json' }).end(`{"error":{"message":"no, ${key}"}}`);
      return true;
    });
    cleanUp.push(endpoint.close);
    const server = await startAgentServer({
      env: {
        ...keys,
        [address]: endpoint.settings().baseUrl,
        // With OpenAI the key alone is enough.
        ...(provider === 'openai'
          ? { VESTRA_EMBEDDINGS: 'auto' }
          : { VESTRA_EMBEDDINGS: provider, VESTRA_EMBEDDINGS_MODEL: 'scripted-embedding' }),
        VESTRA_EMBEDDINGS_DIMENSIONS: '64',
      },
    });
    cleanUp.push(server.stop);

    const { body: notebook } = await server.call('POST', '/v1/notebooks', {
      body: { name: 'Animals', slug: 'animals' },
    });
    const notebookPath = `/v1/notebooks/${notebook.id}`;
    const add = async (title: string, text: string) =>
      (await server.call('POST', `${notebookPath}/documents`, { body: { title, text } })).body;
    const titlesFor = async (q: string) => {
      const { status, body } = await server.call('GET', `${notebookPath}/search?q=${encodeURIComponent(q)}`);
      expect(status).toBe(200);
      return body.passages.map(({ title }: { title: string }) => title);
    };

    const hund = await add('Tiere', 'Der Hund schläft unter der Bank.');
    const milk = await add('飲み物', '牛乳は冷蔵庫にあります。');
    for (const { id } of [hund, milk]) {
      await server.until(`${notebookPath}/documents/${id}`, ({ indexed }) => indexed === true);
    }
    expect(refusals).toEqual([]);
    expect(endpoint.asked.every((asked) => asked.path === path && asked.key?.endsWith(key))).toBe(true);
    expect((await titlesFor('Where does my dog sleep?'))[0]).toBe('Tiere');
    expect((await titlesFor('leche'))[0]).toBe('飲み物');

    endpoint.resize(32);
    const late = await add('Züge', 'Der Zug nach Ulm fährt um neun.');
    await expect.poll(() => endpoint.asked.some(({ texts }) => texts.join().includes('Ulm'))).toBe(true);
    expect(await titlesFor('Ulm')).toEqual(['Züge']);
    expect((await server.call('GET', `${notebookPath}/documents/${late.id}`)).body.indexed).toBe(false);
    endpoint.resize(64);
    await server.until(`${notebookPath}/documents/${late.id}`, ({ indexed }) => indexed === true);
    expect((await titlesFor('train'))[0]).toBe('Züge');
  },
);
