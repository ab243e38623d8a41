import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFacts } from './find-facts.ts';
import { noEmbeddings, startMemory } from './memory.fixture.ts';
import { lookups, recallSet } from './recall-set.fixture.ts';

let server: Awaited<ReturnType<typeof startMemory>>;
beforeAll(async () => {
  server = await startMemory();
});
afterAll(() => server.stop());

describe('search by meaning and words', () => {
  it('finds the fact among the first five for 85 of 100 questions in other words [MEM-009, MEM-020]', async () => {
    const { id: orgId, key } = await server.newOrg();
    for (const { fact } of recallSet) {
      const answer = await server.call('POST', '/v1/memory', { key, body: { user_id: 'u', text: fact } });
      expect(answer.status).toBe(201);
    }
    const owner = { orgId, mode: 'test', userId: 'u' } as const;
    const byBoth = async (question: string): Promise<string[]> => {
      const path = `/v1/memory/search?user_id=u&q=${encodeURIComponent(question)}`;
      return (await server.call('GET', path, { key })).body.text?.split('\n') ?? [];
    };
    const byWords = async (query: string) => {
      const facts = await findFacts({ ...server.search, embeddings: noEmbeddings }, owner, { query, limit: 5 });
      return facts.map(({ text }) => text);
    };
    const paraphrased = recallSet.map(({ fact, question }) => ({ question, has: fact }));
    const recall = {
      paraphrased: await recallOf(byBoth, paraphrased),
      paraphrasedByWords: await recallOf(byWords, paraphrased),
      named: await recallOf(byBoth, lookups),
      namedByWords: await recallOf(byWords, lookups),
    };
    process.stdout.write(`recall@5: ${JSON.stringify(recall)}\n`);
    expect(recallSet.length).toBeGreaterThanOrEqual(60);
    expect(recall.paraphrased).toBeGreaterThanOrEqual(0.85);
    expect(recall.paraphrasedByWords).toBeLessThan(0.5);
    expect(recall.named).toBe(1);
  });
});

type Question = { question: string; has: string };

async function recallOf(search: (question: string) => Promise<string[]>, asked: readonly Question[]): Promise<number> {
  let hits = 0;
  for (const { question, has } of asked) {
    if ((await search(question)).some((text) => text.includes(has))) hits++;
  }
  return hits / asked.length;
}
