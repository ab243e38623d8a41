import type { Logger } from 'pino';
import { type Embeddings, EmbeddingsFailure } from '../../agents/index.ts';
import { packVectors, similarities } from '../../agents/notebooks/index.ts';
import type { Database } from '../../platform/db/pool.ts';
import type { FactRow } from '../tables.ts';
import type { Owner } from './fact.ts';
import { type Candidate, candidatesOf, loadFacts, type StoredVector, stemsOf, storeVector } from './store.ts';

export type Search = {
  db: Database;
  embeddings: Embeddings;
  log: Pick<Logger, 'warn'>;
  /** How long a caller is kept waiting for embeddings that hang. */
  embedWithinMs?: number;
};

/** Far more than loading the offline encoder takes on a busy machine. */
const usuallyWithinMs = 15_000;

/**
 * What all words of a query are worth beside a text of the same meaning. Measured with 0.3 to 0.8: below 0.4 the fact that
 * shares the words falls back, above 0.5 a chance word passes the fact that is meant.
 */
const weightOfWords = 0.5;
/** A long message is not about each of its words. */
const mostWordsCounted = 6;
/**
 * A word or two of a question that stand in a fact by chance: a third of the question or less, in a fact that the encoder
 * puts well below what has to do with it. Measured: chance words are at −0.13 and below, but for one; facts about a person
 * or place that the question names are at −0.08 and above.
 */
const mostOfChance = 1 / 3;
const nearnessOfChance = -0.12;
/** Facts without a vector that one search makes up for; the next ones do the rest. */
const mostRepaired = 32;

/**
 * The facts that answer a query best, best first: by what they mean and by the words they share with it. Where the
 * embeddings fail or take longer than `signal` allows, by words alone.
 */
export async function findFacts(
  search: Search,
  owner: Owner,
  { query, limit, signal }: { query: string; limit: number; signal?: AbortSignal },
): Promise<FactRow[]> {
  const { db } = search;
  const candidates = await candidatesOf(db, owner);
  if (candidates.length === 0) return [];
  const shares = sharesOfWords(candidates, await stemsOf(db, query));
  const nearness = await nearnessTo(search, owner, candidates, query, withinTime(search, signal));
  const ranked = candidates
    .map(({ id }) => {
      const meaning = nearness.get(id) ?? 0;
      const shared = shares.get(id);
      const isChance = shared?.isLittle && meaning < nearnessOfChance;
      return { id, words: isChance ? 0 : (shared?.share ?? 0), meaning };
    })
    .filter(({ words, meaning }) => words > 0 || meaning > 0)
    .sort((a, b) => b.meaning + weightOfWords * b.words - (a.meaning + weightOfWords * a.words));
  return loadFacts(
    db,
    owner,
    ranked.slice(0, limit).map(({ id }) => id),
  );
}

type Shared = { share: number; isLittle: boolean };

/**
 * How much of the query each fact has in words: 1 for all of them, where no other fact has any. Rare words count more.
 * `isLittle`: it is so little of a short query that it may be chance. Of a long one a single word may be what matters.
 */
function sharesOfWords(candidates: readonly Candidate[], stems: readonly string[]): Map<string, Shared> {
  const wanted = new Set(stems);
  const matches = candidates.map(({ id, words }) => ({
    id,
    found: words.split(' ').filter((word) => wanted.has(word)),
  }));
  const counts = new Map<string, number>();
  for (const word of matches.flatMap(({ found }) => found)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const weightIn = (count: number) => Math.log(1 + (candidates.length - count + 0.5) / (count + 0.5));
  const whole = Math.min(wanted.size, mostWordsCounted) * weightIn(0);
  return new Map(
    matches.map(({ id, found }) => {
      const weight = found.reduce((sum, word) => sum + weightIn(counts.get(word) as number), 0);
      const isLittle = wanted.size <= mostWordsCounted && found.length <= wanted.size * mostOfChance;
      return [id, { share: weight / whole, isLittle }];
    }),
  );
}

/** 0 for what has nothing to do with the query or less, 1 for the same. */
async function nearnessTo(
  { db, embeddings, log }: Search,
  owner: Owner,
  candidates: readonly Candidate[],
  query: string,
  signal: AbortSignal,
): Promise<Map<string, number>> {
  if (!embeddings.understands(query)) return new Map();
  const bare = candidates.filter(({ vector_model }) => vector_model !== embeddings.model).slice(0, mostRepaired);
  const facts = await loadFacts(
    db,
    owner,
    bare.map(({ id }) => id),
  );
  try {
    const [[asked], least, made] = await Promise.all([
      embeddings.embed([query], { signal }),
      embeddings.leastSimilarity({ query, signal }),
      vectorsOf(embeddings, facts, signal),
    ]);
    const vectors = new Map(
      candidates.flatMap(({ id, vector, vector_model }) =>
        vector && vector_model === embeddings.model ? [[id, vector] as const] : [],
      ),
    );
    for (const [at, fact] of facts.entries()) {
      const stored = made[at] as StoredVector;
      await storeVector(db, owner, fact, stored);
      if (stored.vector) vectors.set(fact.id, stored.vector);
    }
    const found = similarities(asked as Float32Array, Buffer.concat([...vectors.values()]));
    const nearness = new Map<string, number>();
    let from = 0;
    for (const [id, { length }] of vectors) {
      const to = from + length / embeddings.dimensions;
      // A fact is as near as its nearest piece.
      nearness.set(id, (Math.max(...found.slice(from, to)) - least) / (1 - least));
      from = to;
    }
    return nearness;
  } catch (error) {
    if (!isOfEmbeddings(error, signal)) throw error;
    log.warn({ err: error }, 'a search of memory went by words alone');
    return new Map();
  }
}

const isOfEmbeddings = (error: unknown, signal: AbortSignal) => signal.aborted || error instanceof EmbeddingsFailure;

function withinTime({ embedWithinMs = usuallyWithinMs }: Pick<Search, 'embedWithinMs'>, signal?: AbortSignal) {
  const ends = AbortSignal.timeout(embedWithinMs);
  return signal ? AbortSignal.any([signal, ends]) : ends;
}

/** The vector of a fact that is about to be kept. None where the embeddings fail: the next search makes up for it. */
export async function vectorOf(search: Omit<Search, 'db'>, text: string): Promise<StoredVector> {
  const { embeddings, log } = search;
  const signal = withinTime(search);
  try {
    const [stored] = await vectorsOf(embeddings, [{ text }], signal);
    return stored as StoredVector;
  } catch (error) {
    if (!isOfEmbeddings(error, signal)) throw error;
    log.warn({ err: error }, 'a fact is kept without its vector');
    return { vector: null, vector_model: null };
  }
}

/** One row of bytes for each fact: the vectors of its pieces, one after the other. */
async function vectorsOf(
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
