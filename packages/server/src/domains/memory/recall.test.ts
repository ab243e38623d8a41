import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFacts } from './find-facts.ts';
import { noEmbeddings, startMemory } from './memory.fixture.ts';
import { sharedWords, unanswered } from './recall-questions.fixture.ts';
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
    // Words that are shared by chance must not pass the fact that is meant.
    expect(recall.paraphrased.one).toBeGreaterThanOrEqual(0.55);
    expect(recall.shared.one).toBeGreaterThan(recall.sharedByWords.one);
    expect(recall.shared.one).toBeGreaterThanOrEqual(0.95);
    expect(recall.shared.five).toBe(1);
    expect(recall.named).toEqual({ one: 1, five: 1 });
  });

  it('finds nothing where nothing is meant, and one fact where one is named [EMB-005]', async () => {
    await keep('few', [
      'Allergic to peanuts',
      'Works at Acme as a designer',
      'Lives in Lisbon',
      'Likes an aisle seat near the front.',
      'Prefers short answers',
    ]);
    expect(await search('quantum chromodynamics', 'few')).toEqual([]);
    expect(await search('aisle', 'few')).toEqual(['Likes an aisle seat near the front.']);
    const found = [];
    for (const question of unanswered) found.push((await search(question)).length);
    const average = found.reduce((sum, count) => sum + count, 0) / found.length;
    process.stdout.write(
      `facts found for questions without an answer: ${average}, none for ${found.filter((count) => count === 0).length} of ${found.length}\n`,
    );
    expect(average).toBeLessThan(2.5);
  });

  it('finds a long fact by what stands at its end [EMB-006]', async () => {
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
});

type Question = { question: string; has: string };

/** For which share of the questions the fact that is meant is the first, and among the first five. */
async function recallOf(search: (question: string) => Promise<string[]>, asked: readonly Question[]) {
  let [one, five] = [0, 0];
  for (const { question, has } of asked) {
    const place = (await search(question)).findIndex((text) => text.includes(has));
    if (place === 0) one++;
    if (place !== -1 && place < 5) five++;
  }
  return { one: one / asked.length, five: five / asked.length };
}
