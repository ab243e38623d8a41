import { createEmbedder } from '@vestra/models/embeddings/embedder';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rowsWhere } from '../../../../../tests/support/rows.ts';
import { startEmbeddingEndpoint } from '../../agents/embeddings/embedding-endpoint.fixture.ts';
import { createProviderEmbeddings } from '../../agents/embeddings/provider.ts';
import { closeDatabase, openDatabase } from '../../platform/db/pool.ts';
import { run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { memories } from '../tables.ts';
import type { Owner } from './fact.ts';
import { findFacts } from './find-facts.ts';
import { noEmbeddings, startMemory } from './memory.fixture.ts';
import { languageSets } from './recall-languages.fixture.ts';
import {
  named,
  sharedWords,
  subjectKeywords,
  unanswered,
  unansweredOfPeople,
  unrelatedKeywords,
  unrelatedQueries,
} from './recall-questions.fixture.ts';
import { lookups, recallSet } from './recall-set.fixture.ts';

let server: Awaited<ReturnType<typeof startMemory>>;
beforeAll(async () => {
  server = await startMemory();
});
afterAll(() => server.stop());

describe('search by meaning and words', () => {
  let orgId: string;
  let key: string;
  beforeAll(async () => {
    ({ id: orgId, key } = await server.newOrg());
    await keep(
      'u',
      recallSet.map(({ fact }) => fact),
    );
  });

  async function keep(user: string, facts: readonly string[]): Promise<void> {
    for (const text of facts) {
      const answer = await server.call('POST', '/v1/memory', { key, body: { user_id: user, text } });
      expect(answer.status).toBe(201);
    }
  }
  async function search(question: string, user = 'u'): Promise<string[]> {
    const path = `/v1/memory/search?user_id=${user}&q=${encodeURIComponent(question)}`;
    return (await server.call('GET', path, { key })).body.text?.split('\n') ?? [];
  }

  it('finds the fact among the first five for 85 of 100 questions in other words [MEM-009, MEM-020]', async () => {
    const owner = { orgId, mode: 'test', userId: 'u' } as const;
    const byWords = async (query: string) => {
      const facts = await findFacts({ ...server.search, embeddings: noEmbeddings }, owner, { query, limit: 5 });
      return facts.map(({ text }) => text);
    };
    const paraphrased = recallSet.map(({ fact, question }) => ({ question, has: fact }));
    const recall = {
      paraphrased: await recallOf(search, paraphrased),
      paraphrasedByWords: await recallOf(byWords, paraphrased),
      shared: await recallOf(search, sharedWords),
      sharedByWords: await recallOf(byWords, sharedWords),
      named: await recallOf(search, lookups),
    };
    process.stdout.write(`recall@1 and @5: ${JSON.stringify(recall)}\n`);
    expect(recallSet.length).toBeGreaterThanOrEqual(60);
    expect(recall.paraphrased.five).toBeGreaterThanOrEqual(0.85);
    expect(recall.paraphrasedByWords.five).toBeLessThan(0.5);
    // Facts that share words by chance must not rank above the right one.
    expect(recall.paraphrased.one).toBeGreaterThanOrEqual(0.55);
    expect(recall.shared.one).toBeGreaterThan(recall.sharedByWords.one);
    expect(recall.shared.one).toBeGreaterThanOrEqual(0.95);
    expect(recall.shared.five).toBe(1);
    expect(recall.named).toEqual({ one: 1, five: 1 });
  });

  it('finds nothing for unrelated questions, and one fact if one is named [EMB-005]', async () => {
    await keep('few', [
      'Allergic to peanuts',
      'Works at Acme as an engineer',
      'Works at Acme as a designer',
      'Lives in Lisbon',
      'Likes an aisle seat near the front.',
      'Prefers short answers',
    ]);
    for (const unrelated of unrelatedKeywords) {
      expect([unrelated, await search(unrelated, 'few')]).toEqual([unrelated, []]);
    }
    const missed: string[] = [];
    for (const { keyword, has } of subjectKeywords) {
      if (!(await search(keyword, 'few')).join().includes(has)) missed.push(keyword);
    }
    expect(missed.length / subjectKeywords.length).toBeLessThan(0.1);
    expect(await search('aisle', 'few')).toEqual(['Likes an aisle seat near the front.']);
    for (const [questions, most] of [
      [unanswered, 0.5],
      [unansweredOfPeople, 1.7],
    ] as const) {
      const found: number[] = [];
      for (const question of questions) found.push((await search(question)).length);
      const average = found.reduce((sum, count) => sum + count, 0) / found.length;
      const none = found.filter((count) => count === 0).length;
      process.stdout.write(
        `facts found for questions without an answer: ${average}, none for ${none} of ${found.length}\n`,
      );
      expect(average).toBeLessThan(most);
    }
  });

  it('returns nothing as found for a query that has nothing to do with the facts [SRCH-703]', async () => {
    const owner = { orgId, mode: 'test', userId: 'u' } as const;
    const found: string[] = [];
    const foundByWords: string[] = [];
    for (const query of unrelatedQueries) {
      const { body } = await server.call('GET', `/v1/memory/search?user_id=u&q=${encodeURIComponent(query)}`, { key });
      if (body.found) found.push(query);
      else expect(body).toEqual({ query, found: false, text: null });
      const byWords = await findFacts({ ...server.search, embeddings: noEmbeddings }, owner, { query, limit: 5 });
      if (byWords.length > 0) foundByWords.push(query);
    }
    expect(found).toEqual([]);
    // Without an encoder, a word that is shared by chance cannot be told from a name.
    expect(foundByWords).toEqual(['Which year did the Berlin wall come down?', 'How do magnets work?']);
    for (const [query, has] of [
      ['Was anything damaged in a previous delivery?', 'cracked vase'],
      ['Are they a member of the rewards program?', 'gold status'],
      ['Which programming language do they use?', 'Python'],
      ['animals at home', 'two cats'],
    ] as const) {
      expect([query, (await search(query)).join('\n')]).toEqual([query, expect.stringContaining(has)]);
    }
  });

  it('ignores chance words, and finds every name [EMB-500]', async () => {
    expect(await search('How does a nuclear reactor work?')).not.toContain(
      'The delivery van cannot enter the street because of road works.',
    );
    expect((await search('Which team won the world cup in 1998?')).join()).not.toMatch(/Python|Priya/);
    const missed: string[] = [];
    for (const { question, has } of named) if (!(await search(question)).join().includes(has)) missed.push(question);
    expect(missed).toEqual([]);
  });

  it('finds a long fact by its end [EMB-006]', async () => {
    const beginning = recallSet.slice(48, 66).map(({ fact }) => fact.replace(/^The /, 'Said that the '));
    const long = `${beginning.join(' ').slice(0, 850)}. On Sundays she repairs antique clocks in her cellar.`;
    expect(long.length).toBeGreaterThan(880);
    await keep('long', [
      long,
      'Drives an old electric Renault.',
      'Allergic to penicillin.',
      'Married to Clara since 2015.',
    ]);
    expect((await search('What old mechanical timepieces does the lady fix as a hobby?', 'long'))[0]).toBe(long);
    expect((await search('Is the corporation relocating to new premises?', 'long'))[0]).toBe(long);
  });

  it('finds little in other languages with the offline encoder, which reads English [EMB-011]', async () => {
    const recall: Record<string, { one: number; five: number }> = {};
    for (const [language, set] of Object.entries(languageSets)) {
      const kept: string[] = [];
      for (const { fact } of set) {
        const made = await server.call('POST', '/v1/memory', { key, body: { user_id: 'u', text: fact } });
        kept.push(made.body.id);
      }
      recall[language] = await recallOf(
        search,
        set.map(({ fact, question }) => ({ question, has: fact })),
      );
      for (const id of kept) await server.call('DELETE', `/v1/memory/${id}`, { key });
    }
    process.stdout.write(`recall@1 and @5 by language: ${JSON.stringify(recall)}\n`);
    expect(Object.values(languageSets).map(({ length }) => length)).toEqual(Array(6).fill(10));
    expect(Object.values(recall).some(({ five }) => five > 0)).toBe(true);
  });
});

describe('a search after another', () => {
  it('sees what another process added, changed, embedded again and deleted [SRCH-704]', async () => {
    const { id: orgId, key } = await server.newOrg();
    // Another pool has its own cache, like another process.
    const other = await openDatabase({ connectionString: server.db.$client.options.connectionString as string });
    const here = { orgId, mode: 'test', userId: 'u' } as const;
    const find = async (query: string, owner: Owner = here) =>
      (await findFacts(server.search, owner, { query, limit: 5 })).map(({ text }) => text);
    const add = async (text: string) =>
      (await server.call('POST', '/v1/memory', { key, body: { user_id: 'u', text } })).body.id;
    const allergy = await add('Allergic to penicillin.');
    await add('Plays the cello in an orchestra.');
    expect(await find('Which antibiotics must be avoided?')).toEqual(['Allergic to penicillin.']);
    expect(await find('Which antibiotics must be avoided?', { ...here, mode: 'live' })).toEqual([]);
    expect(await find('Which antibiotics must be avoided?', { ...here, userId: null })).toEqual([]);

    await run(other, sql`DELETE FROM memories WHERE org_id = ${orgId} AND id = ${allergy}`);
    expect(await find('Which antibiotics must be avoided?')).toEqual([]);
    await add('Takes amoxicillin for ten days.');
    expect(await find('Which antibiotics must be avoided?')).toEqual(['Takes amoxicillin for ten days.']);

    // Vectors of another model are never compared, also not those in the cache.
    await run(other, sql`UPDATE memories SET vector_model = 'another' WHERE org_id = ${orgId}`);
    expect(await find('Which antibiotics must be avoided?')).toEqual(['Takes amoxicillin for ten days.']);
    const rows = await rowsWhere(server.db, memories, sql`org_id = ${orgId}`);
    expect(rows.map(({ vector_model }) => vector_model)).toEqual(Array(2).fill(server.embeddings.model));
    await closeDatabase(other);
  });
});

describe("search by a provider's vectors", () => {
  it('finds facts in any language, and never compares vectors of two models [EMB-009]', async () => {
    const endpoint = await startEmbeddingEndpoint();
    const { id: orgId, key } = await server.newOrg();
    for (const text of ['犬が好き', 'दूध नहीं पीते', 'Takes the train to work.']) {
      await server.call('POST', '/v1/memory', { key, body: { user_id: 'u', text } });
    }
    const owner = { orgId, mode: 'test', userId: 'u' } as const;
    for (const dimensions of [64, 128, 64]) {
      endpoint.resize(dimensions);
      const embeddings = createProviderEmbeddings(createEmbedder(endpoint.settings('openai', dimensions)));
      const search = { ...server.search, embeddings };
      for (const [query, found] of [
        ['Hat die Kundin einen Hund?', '犬が好き'],
        ['¿Toma leche?', 'दूध नहीं पीते'],
        ['電車', 'Takes the train to work.'],
      ]) {
        const facts = await findFacts(search, owner, { query: query as string, limit: 5 });
        expect(facts.map(({ text }) => text)).toEqual([found]);
      }
      const stored = await rowsWhere(server.db, memories, sql`org_id = ${orgId}`);
      expect(stored.map(({ vector, vector_model }) => [vector?.length, vector_model])).toEqual(
        Array(3).fill([dimensions, `openai/scripted-embedding/${dimensions}`]),
      );
    }
    await endpoint.close();
  });
});

type Question = { question: string; has: string };

/** The share of questions whose fact ranks first, and among the first five. */
async function recallOf(search: (question: string) => Promise<string[]>, asked: readonly Question[]) {
  let [one, five] = [0, 0];
  for (const { question, has } of asked) {
    const place = (await search(question)).findIndex((text) => text.includes(has));
    if (place === 0) one++;
    if (place !== -1 && place < 5) five++;
  }
  return { one: one / asked.length, five: five / asked.length };
}
