import { describe, expect, it } from 'vitest';
import { type Embeddings, EmbeddingsFailure } from '../../agents/index.ts';
import { clusterTexts, nearnessOf } from './cause-clusters.ts';
import { comparedText } from './cause-words.ts';

const texts = ['Where is my parcel?', 'Where is my parcel now', 'When does the delivery arrive?', 'I hate shoes'].map(
  comparedText,
);

/** A model that knows two subjects. */
const embeddingsThat = (embed: Embeddings['embed']): Embeddings => ({
  model: 'test',
  dimensions: 2,
  languages: 'every',
  understands: () => true,
  pieces: (text) => [text],
  embed,
  leastSimilarity: async () => 0.2,
});
const bySubject = embeddingsThat(async (given) =>
  given.map((text) => new Float32Array(/parcel|delivery/.test(text) ? [1, 0] : [0, 1])),
);
const groupsOf = async (leaders: Promise<Map<string, string>>) => new Set((await leaders).values()).size;
const never = new AbortController().signal;

describe('clusters of texts', () => {
  it('are found by words without a model', async () => {
    expect(await groupsOf(clusterTexts(texts))).toBe(3);
  });

  it('are found by meaning with a model', async () => {
    const nearness = await nearnessOf(bySubject, texts, never);
    expect(await groupsOf(clusterTexts(texts, nearness ?? undefined))).toBe(2);
  });

  it('are named by the most frequent text, whichever order the texts have', async () => {
    const more = [...texts, comparedText('Where is my parcel now')];
    const named = async (given: typeof texts) =>
      (await clusterTexts(given)).get(comparedText('Where is my parcel?').key);
    expect(await named(more)).toBe(comparedText('Where is my parcel now').key);
    expect(await named(more.toReversed())).toBe(await named(more));
  });

  it('are found by words if the model fails, and the request ends if its caller left', async () => {
    const failing = embeddingsThat(() => Promise.reject(new EmbeddingsFailure('down')));
    expect(await nearnessOf(failing, texts, never)).toBeNull();
    const left = AbortSignal.abort(new Error('left'));
    const asked = embeddingsThat((_texts, options) => Promise.reject(options?.signal?.reason));
    await expect(nearnessOf(asked, texts, left)).rejects.toThrow('left');
  });

  it('of thousands of texts are found', async () => {
    const many = Array.from({ length: 2000 }, (_, at) =>
      comparedText(`${[...String(at)].map((digit) => 'abcdefghij'[Number(digit)]).join('')}x fails`),
    );
    expect(await groupsOf(clusterTexts(many))).toBeGreaterThan(1000);
  });
});
