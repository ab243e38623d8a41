import { type Embeddings, EmbeddingsFailure } from '../../agents/index.ts';
import { type Breather, createBreather } from '../../platform/async/breather.ts';
import { type ComparedText, sharedWords } from './cause-words.ts';

/** Texts with at least half of their words in common have one cause. */
const leastShared = 0.5;
/** The nearness of two texts above that of unrelated ones, from 0 to 1, from which on they have one cause. */
const leastNearness = 0.55;
/** Rarer texts are compared as a whole only: the number of comparisons grows with the square. */
const maxCompared = 300;
/** Encoding a text takes some milliseconds. */
const maxEncoded = 64;
const patienceMs = 3_000;

/** How near two texts are in meaning, by their keys: from 0, unrelated, to 1. Null if it is unknown. */
export type Nearness = (oneKey: string, otherKey: string) => number | null;

/** Assigns each text to the most frequent text that is similar to it. Returns the key of that text by key. */
export async function clusterTexts(
  texts: readonly ComparedText[],
  nearness: Nearness = () => null,
  breathe: Breather = createBreather(),
): Promise<Map<string, string>> {
  const isSimilar = (one: ComparedText, other: ComparedText) =>
    sharedWords(one, other) >= leastShared || (nearness(one.key, other.key) ?? 0) >= leastNearness;
  const leaders: ComparedText[] = [];
  const leaderOf = new Map<string, string>();
  for (const [at, each] of mostFrequent(texts).entries()) {
    const leader = at < maxCompared ? leaders.find((known) => isSimilar(known, each)) : undefined;
    if (!leader && at < maxCompared) leaders.push(each);
    leaderOf.set(each.key, leader?.key ?? each.key);
    await breathe();
  }
  return leaderOf;
}

/** One text of each key, the most frequent key first. */
function mostFrequent(texts: readonly ComparedText[]): ComparedText[] {
  const byKey = Map.groupBy(texts, ({ key }) => key);
  return [...byKey.values()]
    .sort((a, b) => b.length - a.length || ((a[0]?.key as string) < (b[0]?.key as string) ? -1 : 1))
    .map(([first]) => first as ComparedText);
}

/**
 * Compares texts by their meaning. Only the most frequent texts are encoded, and those that the model can read. Null if
 * the model is down or slow: then words decide.
 */
export async function nearnessOf(
  embeddings: Embeddings,
  texts: readonly ComparedText[],
  signal: AbortSignal,
): Promise<Nearness | null> {
  const read = mostFrequent(texts)
    .filter(({ text }) => embeddings.understands(text))
    .slice(0, maxEncoded);
  if (read.length < 2) return null;
  const encoded = read.map(({ text }) => text);
  const hurry = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
  try {
    const vectors = await embeddings.embed(encoded, { signal: hurry, urgency: 'index' });
    const least = await embeddings.leastSimilarity({ query: encoded[0] as string, signal: hurry });
    const vectorOf = new Map(read.map(({ key }, at) => [key, vectors[at] as Float32Array]));
    return (one, other) => {
      const [a, b] = [vectorOf.get(one), vectorOf.get(other)];
      return a && b ? (cosineOf(a, b) - least) / (1 - least) : null;
    };
  } catch (error) {
    if (signal.aborted) throw error;
    if (error instanceof EmbeddingsFailure || hurry.aborted) return null;
    throw error;
  }
}

/** The vectors have length 1. */
function cosineOf(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += (a[at] as number) * (b[at] as number);
  return sum;
}
