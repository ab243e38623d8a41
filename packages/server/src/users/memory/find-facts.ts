import type { Logger } from 'pino';
import { type Embeddings, EmbeddingsFailure } from '../../agents/index.ts';
import { compareWith, packVectors } from '../../agents/notebooks/index.ts';
import type { Database } from '../../platform/db/pool.ts';
import type { FactRow } from '../tables.ts';
import type { Owner } from './fact.ts';
import {
  type FactVectors,
  factsWithStems,
  loadFacts,
  loadVectorsOfFacts,
  type StoredVector,
  stemsOf,
  storeVector,
} from './store.ts';

export type Search = {
  db: Database;
  embeddings: Embeddings;
  log: Pick<Logger, 'warn'>;
  /** The maximum wait for embeddings. */
  embedWithinMs?: number;
};

/** Far longer than loading the offline encoder takes on a busy machine. */
const defaultEmbedMs = 15_000;

/**
 * The weight of shared words relative to similar meaning. Measured from 0.3 to 0.8: below 0.4, facts that share the
 * words rank too low. Above 0.5, a fact with a chance word ranks above the right one.
 */
const weightOfWords = 0.5;
/** Limits the effect of long messages, where most words do not matter. */
const maxWordsCounted = 6;
/**
 * A match is chance if it covers half of the question or less, and texts about anything are far nearer to the question.
 * Measured: facts with chance words are 0.25 to 0.65 below such texts, facts about a person or place in the question at
 * most 0.14, with one exception among 45.
 */
const maxChanceShare = 1 / 2;
const distanceOfChance = 0.25;

/**
 * Finds the facts that match a query best, by meaning and by shared words, the best first. If the embeddings fail or
 * are too slow for `signal`, it uses words alone.
 */
export async function findFacts(
  search: Search,
  owner: Owner,
  { query, limit, signal }: { query: string; limit: number; signal?: AbortSignal },
): Promise<FactRow[]> {
  const { db, embeddings } = search;
  const [facts, stems] = await Promise.all([vectorsOfFacts(db, owner, embeddings.model), stemsOf(db, query)]);
  if (facts.ids.length === 0) return [];
  // PostgreSQL compares the words while the encoder reads the query.
  const [withStems, nearness] = await Promise.all([
    factsWithStems(db, owner, stems),
    nearnessTo(search, owner, facts, query, withinTime(search, signal)),
  ]);
  const shares = sharesOfWords(withStems, stems, facts.ids.length);
  const ranked: { id: string; score: number }[] = [];
  for (const id of facts.ids) {
    const { meaning, unrelated } = nearness.get(id) ?? unknownNearness;
    const shared = shares.get(id);
    const isChance = shared?.isLittle && meaning < unrelated - distanceOfChance;
    const words = isChance ? 0 : (shared?.share ?? 0);
    if (words > 0 || meaning > Math.max(0, unrelated)) ranked.push({ id, score: meaning + weightOfWords * words });
  }
  ranked.sort((a, b) => b.score - a.score);
  return loadFacts(
    db,
    owner,
    ranked.slice(0, limit).map(({ id }) => id),
  );
}

type Shared = { share: number; isLittle: boolean };

/**
 * The share of the query's words in each fact: 1 if it has all of them and no other fact has any. Rare words count
 * more. `isLittle`: so little of a short query that it may be chance. In a long query, a single word may be the
 * important one. `total` counts all facts, `facts` are those with a word of the query.
 */
function sharesOfWords(
  facts: readonly { id: string; words: string[] }[],
  stems: readonly string[],
  total: number,
): Map<string, Shared> {
  const wanted = new Set(stems);
  const counts = new Map<string, number>();
  const matches = facts.map(({ id, words }) => {
    const found = words.filter((word) => wanted.has(word));
    for (const word of found) counts.set(word, (counts.get(word) ?? 0) + 1);
    return { id, found };
  });
  const weightIn = (count: number) => Math.log(1 + (total - count + 0.5) / (count + 0.5));
  const weights = new Map([...counts].map(([word, count]) => [word, weightIn(count)]));
  const whole = Math.min(wanted.size, maxWordsCounted) * weightIn(0);
  return new Map(
    matches.map(({ id, found }) => {
      const weight = found.reduce((sum, word) => sum + (weights.get(word) as number), 0);
      const isLittle = wanted.size <= maxWordsCounted && found.length <= wanted.size * maxChanceShare;
      return [id, { share: weight / whole, isLittle }];
    }),
  );
}

/** `meaning` is 1 for the same meaning, and 0 or less for an unrelated fact. `unrelated` is that of texts about anything. */
type Nearness = { meaning: number; unrelated: number };
const unknownNearness: Nearness = { meaning: 0, unrelated: 0 };

async function nearnessTo(
  { db, embeddings, log }: Search,
  owner: Owner,
  facts: FactVectors,
  query: string,
  signal: AbortSignal,
): Promise<Map<string, Nearness>> {
  if (!embeddings.understands(query)) return new Map();
  const bare = await loadFacts(db, owner, facts.bareIds);
  try {
    const [[asked], least, made] = await Promise.all([
      embeddings.embed([query], { signal }),
      embeddings.leastSimilarity({ query, signal }),
      vectorsOf(embeddings, bare, signal),
    ]);
    for (const [at, fact] of bare.entries()) await storeVector(db, owner, fact, made[at] as StoredVector);
    const { similarityOfUnrelated } = await import('./unrelated-texts.ts');
    const unrelated = await similarityOfUnrelated(embeddings, asked as Float32Array, signal);
    const similaritiesTo = compareWith(asked as Float32Array);
    const nearness = new Map<string, Nearness>();
    const scaled = (similarity: number) => (similarity - least) / (1 - least);
    const rate = (id: string, similarity: number) =>
      nearness.set(id, { meaning: scaled(similarity), unrelated: scaled(unrelated) });
    const similarities = similaritiesTo(facts.vectors);
    let from = 0;
    for (const [at, id] of facts.ids.entries()) {
      const to = from + (facts.sizes[at] as number) / embeddings.dimensions;
      // Use the most similar piece of the fact.
      if (to > from) rate(id, Math.max(...similarities.subarray(from, to)));
      from = to;
    }
    for (const [at, { id }] of bare.entries()) {
      const { vector } = made[at] as StoredVector;
      if (vector) rate(id, Math.max(...similaritiesTo(vector)));
    }
    return nearness;
  } catch (error) {
    if (!isOfEmbeddings(error, signal)) throw error;
    log.warn({ err: error }, 'searched memory by words alone, without embeddings');
    return new Map();
  }
}

const isOfEmbeddings = (error: unknown, signal: AbortSignal) => signal.aborted || error instanceof EmbeddingsFailure;

function withinTime({ embedWithinMs = defaultEmbedMs }: Pick<Search, 'embedWithinMs'>, signal?: AbortSignal) {
  const ends = AbortSignal.timeout(embedWithinMs);
  return signal ? AbortSignal.any([signal, ends]) : ends;
}

/** Embeds a fact before it is stored. If the embeddings fail, a later search does it. */
export async function vectorOf(search: Omit<Search, 'db'>, text: string): Promise<StoredVector> {
  const { embeddings, log } = search;
  const signal = withinTime(search);
  try {
    const [stored] = await vectorsOf(embeddings, [{ text }], signal);
    return stored as StoredVector;
  } catch (error) {
    if (!isOfEmbeddings(error, signal)) throw error;
    log.warn({ err: error }, 'stored a fact without its vector');
    return { vector: null, vector_model: null };
  }
}

/** The vectors of each fact: those of its pieces, concatenated. */
export async function vectorsOf(
  embeddings: Embeddings,
  facts: readonly { text: string }[],
  signal: AbortSignal,
): Promise<StoredVector[]> {
  const pieces = facts.map(({ text }) => (embeddings.understands(text) ? embeddings.pieces(text) : []));
  const vectors = await embeddings.embed(pieces.flat(), { signal, urgency: 'index' });
  return pieces.map(({ length }) => ({
    vector: length === 0 ? null : packVectors(vectors.splice(0, length)),
    vector_model: embeddings.model,
  }));
}

/** Room for the vectors of 16 users with as many facts as a memory holds, or of hundreds with fewer. */
const cacheBytes = 16 * 1_048_576;
/** One search embeds at most this many facts without a vector. Later searches embed the rest. */
const maxBare = 32;

type VectorCache = { entries: Map<string, FactVectors>; bytes: number };
const caches = new WeakMap<Database, VectorCache>();

/**
 * Returns the vectors of the owner's facts. A megabyte per search would keep the garbage collector busy, so PostgreSQL
 * sends them only if a fact has changed since the last search in this process.
 */
async function vectorsOfFacts(db: Database, owner: Owner, model: string): Promise<FactVectors> {
  const cache = caches.get(db) ?? { entries: new Map(), bytes: 0 };
  caches.set(db, cache);
  const key = JSON.stringify([owner.orgId, owner.mode, owner.userId, model]);
  const cached = cache.entries.get(key);
  const loaded = await loadVectorsOfFacts(db, owner, { model, maxBare, known: cached?.stamp ?? '' });
  const vectors = loaded ?? (cached as FactVectors);
  keep(cache, key, vectors);
  return vectors;
}

/** Evicts the least recently used vectors. */
function keep(cache: VectorCache, key: string, vectors: FactVectors): void {
  const { entries } = cache;
  drop(cache, key);
  entries.set(key, vectors);
  cache.bytes += sizeOf(vectors);
  for (const oldest of entries.keys()) {
    if (cache.bytes <= cacheBytes) break;
    drop(cache, oldest);
  }
}

function drop(cache: VectorCache, key: string): void {
  const dropped = cache.entries.get(key);
  if (dropped && cache.entries.delete(key)) cache.bytes -= sizeOf(dropped);
}

/** An id and its size take about 60 bytes. */
const sizeOf = ({ vectors, ids }: FactVectors): number => vectors.byteLength + ids.length * 60 + 500;
