import type { Logger } from 'pino';
import type { Embeddings } from '../../adapters/embeddings/embeddings.ts';
import { EmbeddingsFailure } from '../../adapters/embeddings/embeddings-failure.ts';
import type { Database } from '../../db/pool.ts';
import { fuseRanks, packVectors, similarities } from '../notebooks/api.ts';
import type { Owner } from './fact.ts';
import { type Candidate, candidatesOf, loadFacts, type StoredVector, stemsOf, storeVector } from './store.ts';
import type { FactRow } from './tables.ts';

export type Search = { db: Database; embeddings: Embeddings; log: Pick<Logger, 'warn'> };

/** Below it nothing but chance brings two texts together. Measured: 95 of 100 answers are above, 80 of 100 others below. */
const leastSimilarity = 0.2;
/** Facts without a vector that one search makes up for; the next ones do the rest. */
const mostRepaired = 32;

/**
 * The facts that answer a query best, best first: by the words they share and by what they mean, fused by rank. Where
 * the embeddings fail or take longer than `signal` allows, by words alone.
 */
export async function findFacts(
  search: Search,
  owner: Owner,
  { query, limit, signal }: { query: string; limit: number; signal?: AbortSignal },
): Promise<FactRow[]> {
  const { db } = search;
  const candidates = await candidatesOf(db, owner);
  if (candidates.length === 0) return [];
  const words = rankByWords(candidates, await stemsOf(db, query));
  const similarity = await similarityTo(search, owner, candidates, query, signal);
  const meaning = [...similarity].sort(([, a], [, b]) => b - a).map(([id]) => id);
  const haveWords = new Set(words);
  const isNear = (id: string) => (similarity.get(id) ?? 0) >= leastSimilarity;
  const ranked = fuseRanks([meaning, words]);
  return loadFacts(db, owner, ranked.filter((id) => haveWords.has(id) || isNear(id)).slice(0, limit));
}

/** Each word counts by how rare it is among the facts. */
function rankByWords(candidates: readonly Candidate[], stems: readonly string[]): string[] {
  const wanted = new Set(stems);
  const matches = candidates.map(({ id, words }) => ({
    id,
    found: words.split(' ').filter((word) => wanted.has(word)),
  }));
  const counts = new Map<string, number>();
  for (const word of matches.flatMap(({ found }) => found)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const weightOf = (word: string) => {
    const count = counts.get(word) as number;
    return Math.log(1 + (candidates.length - count + 0.5) / (count + 0.5));
  };
  return matches
    .map(({ id, found }) => ({ id, score: found.reduce((sum, word) => sum + weightOf(word), 0) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ id }) => id);
}

async function similarityTo(
  { db, embeddings, log }: Search,
  owner: Owner,
  candidates: readonly Candidate[],
  query: string,
  signal: AbortSignal | undefined,
): Promise<Map<string, number>> {
  if (!embeddings.understands(query)) return new Map();
  const bare = candidates.filter(({ vector_model }) => vector_model !== embeddings.model).slice(0, mostRepaired);
  const facts = await loadFacts(
    db,
    owner,
    bare.map(({ id }) => id),
  );
  try {
    const [asked, ...made] = await embeddings.embed([query, ...facts.map(({ text }) => text)], { signal });
    const vectors = new Map(
      candidates.flatMap(({ id, vector, vector_model }) =>
        vector && vector_model === embeddings.model ? [[id, vector] as const] : [],
      ),
    );
    for (const [at, fact] of facts.entries()) {
      const stored = storedVector(embeddings, fact.text, made[at]);
      await storeVector(db, owner, fact, stored);
      if (stored.vector) vectors.set(fact.id, stored.vector);
    }
    const found = similarities(asked as Float32Array, Buffer.concat([...vectors.values()]));
    return new Map([...vectors.keys()].map((id, at) => [id, found[at] as number]));
  } catch (error) {
    if (!isOfEmbeddings(error, signal)) throw error;
    log.warn({ err: error }, 'a search of memory went by words alone');
    return new Map();
  }
}

const isOfEmbeddings = (error: unknown, signal: AbortSignal | undefined) =>
  (signal?.aborted ?? false) || error instanceof EmbeddingsFailure;

/** The vector of a fact that is about to be kept. None where the embeddings fail: the next search makes up for it. */
export async function vectorOf({ embeddings, log }: Omit<Search, 'db'>, text: string): Promise<StoredVector> {
  if (!embeddings.understands(text)) return storedVector(embeddings, text, undefined);
  try {
    const [vector] = await embeddings.embed([text]);
    return storedVector(embeddings, text, vector);
  } catch (error) {
    if (!isOfEmbeddings(error, undefined)) throw error;
    log.warn({ err: error }, 'a fact is kept without its vector');
    return { vector: null, vector_model: null };
  }
}

function storedVector(embeddings: Embeddings, text: string, vector: Float32Array | undefined): StoredVector {
  const isRead = vector !== undefined && embeddings.understands(text);
  return { vector: isRead ? packVectors([vector]) : null, vector_model: embeddings.model };
}
