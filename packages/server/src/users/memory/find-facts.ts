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
 * A match is chance if it covers a third of the question or less, and the encoder finds the fact unrelated. Measured:
 * facts with chance words are at −0.13 and below, with one exception. Facts about a person or place in the question are
 * at −0.08 and above.
 */
const maxChanceShare = 1 / 3;
const nearnessOfChance = -0.12;
/** One search embeds at most this many facts without a vector. Later searches embed the rest. */
const maxRepaired = 32;

/**
 * Finds the facts that match a query best, by meaning and by shared words, the best first. If the embeddings fail or
 * are too slow for `signal`, it uses words alone.
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
 * The share of the query's words in each fact: 1 if it has all of them and no other fact has any. Rare words count
 * more. `isLittle`: so little of a short query that it may be chance. In a long query, a single word may be the
 * important one.
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
  const whole = Math.min(wanted.size, maxWordsCounted) * weightIn(0);
  return new Map(
    matches.map(({ id, found }) => {
      const weight = found.reduce((sum, word) => sum + weightIn(counts.get(word) as number), 0);
      const isLittle = wanted.size <= maxWordsCounted && found.length <= wanted.size * maxChanceShare;
      return [id, { share: weight / whole, isLittle }];
    }),
  );
}

/** 1 for the same meaning, 0 or less for an unrelated fact. */
async function nearnessTo(
  { db, embeddings, log }: Search,
  owner: Owner,
  candidates: readonly Candidate[],
  query: string,
  signal: AbortSignal,
): Promise<Map<string, number>> {
  if (!embeddings.understands(query)) return new Map();
  const bare = candidates.filter(({ vector_model }) => vector_model !== embeddings.model).slice(0, maxRepaired);
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
      // Use the most similar piece of the fact.
      nearness.set(id, (Math.max(...found.slice(from, to)) - least) / (1 - least));
      from = to;
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
