import { type Embeddings, EmbeddingsFailure } from '../../agents/index.ts';
import { sharedWords, stemsOf } from './cause-words.ts';

/** Texts with at least half of their words in common have one cause. */
const leastShared = 0.5;
/** The nearness of two texts above that of unrelated ones, from 0 to 1, from which on they have one cause. */
const leastNearness = 0.55;
/** Rarer texts are compared as a whole only: the number of comparisons grows with the square. */
const maxCompared = 300;
/** Encoding a text takes some milliseconds. */
const maxEncoded = 64;
const patienceMs = 3_000;

/** A text that occurred, with its number of occurrences. `key` is the same for texts with the same words. */
type ClusterText = { key: string; stems: string[]; count: number };

/** How near two texts are in meaning, by their keys: from 0, unrelated, to 1. Null if it is unknown. */
export type Nearness = (oneKey: string, otherKey: string) => number | null;

export const keyOfText = (text: string): string => stemsOf(text).join(' ');

/** Assigns each text to the most frequent text that is similar to it. Returns the key of that text by key. */
export function clusterTexts(texts: readonly string[], nearness: Nearness = () => null): Map<string, string> {
  const byKey = new Map<string, ClusterText>();
  for (const text of texts) {
    const stems = stemsOf(text);
    const key = stems.join(' ');
    const known = byKey.get(key);
    if (known) known.count++;
    else byKey.set(key, { key, stems, count: 1 });
  }
  const leaders: ClusterText[] = [];
  const leaderOf = new Map<string, string>();
  for (const [at, each] of mostFrequent(byKey.values()).entries()) {
    const leader = at < maxCompared ? leaders.find((known) => isSimilar(known, each, nearness)) : undefined;
    if (!leader && at < maxCompared) leaders.push(each);
    leaderOf.set(each.key, leader?.key ?? each.key);
  }
  return leaderOf;
}

const mostFrequent = (texts: Iterable<ClusterText>): ClusterText[] =>
  [...texts].sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1));

const isSimilar = (one: ClusterText, other: ClusterText, nearness: Nearness): boolean =>
  sharedWords(one.stems, other.stems) >= leastShared || (nearness(one.key, other.key) ?? 0) >= leastNearness;

/**
 * Compares texts by their meaning. Only the first texts are encoded, and those that the model can read. Null if the model
 * is down or slow: then words decide.
 */
export async function nearnessOf(
  embeddings: Embeddings,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<Nearness | null> {
  const byKey = new Map(texts.map((text) => [keyOfText(text), text]));
  const read = [...byKey].filter(([, text]) => embeddings.understands(text)).slice(0, maxEncoded);
  const encoded = read.map(([, text]) => text);
  if (encoded.length < 2) return null;
  const hurry = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
  try {
    const vectors = await embeddings.embed(encoded, { signal: hurry, urgency: 'index' });
    const least = await embeddings.leastSimilarity({ query: encoded[0] as string, signal: hurry });
    const vectorOf = new Map(read.map(([key], at) => [key, vectors[at] as Float32Array]));
    return (one, other) => {
      const [a, b] = [vectorOf.get(one), vectorOf.get(other)];
      if (!a || !b) return null;
      const cosine = a.reduce((sum, value, place) => sum + value * (b[place] as number), 0);
      return (cosine - least) / (1 - least);
    };
  } catch (error) {
    if (signal.aborted) throw error;
    if (error instanceof EmbeddingsFailure || hurry.aborted) return null;
    throw error;
  }
}
