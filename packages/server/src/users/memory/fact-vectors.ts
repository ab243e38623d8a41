import type { Database } from '../../platform/db/pool.ts';
import type { Owner } from './fact.ts';
import { type FactVectors, loadVectorsOfFacts } from './store.ts';

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
export async function vectorsOfFacts(db: Database, owner: Owner, model: string): Promise<FactVectors> {
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
