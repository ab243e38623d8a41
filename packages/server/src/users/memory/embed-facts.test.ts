import { afterAll, beforeAll, expect, it } from 'vitest';
import { rowsWhere } from '../../../../../tests/support/rows.ts';
import { type Embeddings, EmbeddingsFailure } from '../../agents/index.ts';
import { sql } from '../../platform/db/sql.ts';
import { memories } from '../tables.ts';
import { embedFacts } from './embed-facts.ts';
import { findFacts } from './find-facts.ts';
import { noEmbeddings, startMemory } from './memory.fixture.ts';

/** Vectors of the first letter, of which no two models agree. */
const lettersBy = (model: string, refuses: (text: string) => boolean = () => false): Embeddings => ({
  ...noEmbeddings,
  model,
  dimensions: 64,
  understands: () => true,
  embed: async (texts) => {
    if (texts.some(refuses)) throw new EmbeddingsFailure('This text is refused.');
    return texts.map((text) => {
      const vector = new Float32Array(64);
      vector[(text.toLowerCase().charCodeAt(0) + model.length) % 64] = 1;
      return vector;
    });
  },
  leastSimilarity: async () => 0.5,
});

let server: Awaited<ReturnType<typeof startMemory>>;
beforeAll(async () => {
  server = await startMemory({ embeddings: lettersBy('first') });
});
afterAll(() => server.stop());

const { signal } = new AbortController();

it('embeds all facts again in the background after a change of the model [SRCH-706]', async () => {
  const orgs = [await server.newOrg(), await server.newOrg()];
  const names = Array.from({ length: 40 }, (_, at) => `${String.fromCharCode(97 + (at % 26))}${at}`);
  for (const [at, name] of names.entries()) {
    const { key } = orgs[at % 2] as { key: string };
    await server.call('POST', '/v1/memory', { key, body: { text: name, ...(at % 3 === 0 && { user_id: 'u' }) } });
  }
  const modelsNow = async () => {
    const rows = await rowsWhere(server.db, memories, sql`org_id = ANY(${orgs.map(({ id }) => id)})`);
    return Object.fromEntries(
      [...Map.groupBy(rows, (row) => row.vector_model)].map(([model, of]) => [model, of.length]),
    );
  };
  expect(await modelsNow()).toEqual({ first: 40 });

  // One batch is refused, and the others are not held up by it.
  const refusing = lettersBy('second', (text) => text === names[0]);
  await embedFacts({ db: server.db, embeddings: refusing, log: server.search.log }, signal);
  const halfway = await modelsNow();
  expect([halfway.first, halfway.second]).toEqual([32, 8]);

  // A search with the new model finds a fact with an old vector, because it embeds it again and never compares it.
  const owner = { orgId: (orgs[0] as { id: string }).id, mode: 'test', userId: null } as const;
  const search = { ...server.search, embeddings: lettersBy('second') };
  const found = await findFacts(search, owner, { query: 'cat', limit: 5 });
  expect(found.map(({ text }) => text).sort()).toEqual(['c2', 'c28']);

  await embedFacts({ db: server.db, embeddings: lettersBy('second'), log: server.search.log }, signal);
  expect(await modelsNow()).toEqual({ second: 40 });
  // Nothing is left to do, so nothing is embedded.
  await embedFacts({ db: server.db, embeddings: { ...noEmbeddings, model: 'second' }, log: server.search.log }, signal);
});

it('ends a round when the provider is down, and stops with the server [SRCH-706]', async () => {
  let asked = 0;
  const down: Embeddings = {
    ...lettersBy('third'),
    embed: () => {
      asked += 1;
      return Promise.reject(new EmbeddingsFailure('The provider is down.'));
    },
  };
  const { key } = await server.newOrg();
  for (let at = 0; at < 70; at++) await server.call('POST', '/v1/memory', { key, body: { text: `fact ${at}` } });
  await embedFacts({ db: server.db, embeddings: down, log: server.search.log }, signal);
  expect(asked).toBe(2);
  const stopped = embedFacts({ db: server.db, embeddings: down, log: server.search.log }, AbortSignal.abort('stop'));
  await expect(stopped).rejects.toBe('stop');
});
