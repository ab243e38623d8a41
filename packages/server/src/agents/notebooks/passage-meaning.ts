import { setImmediate as nextTick } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../../platform/db/pool.ts';
import type { Embeddings } from '../embeddings/embeddings.ts';
import { loadVectors } from './document-index.ts';
import type { PassageKey } from './tables.ts';
import { compareWith } from './vector-comparison.ts';
import { type NearPassage, nearestInDatabase } from './vectors.ts';

/** Ranks passages by meaning. */
export type PassageMeaning = {
  model: string;
  /** The text search configurations of languages that the model reads. */
  languages: Embeddings['languages'];
  /** Returns the nearest passages, nearest first. Documents without vectors are skipped. */
  rank: (documents: readonly RankedDocument[], query: string, limit: number) => Promise<PassageKey[]>;
};

/** `isIndexed`: all its vectors are stored. */
type RankedDocument = { id: string; isIndexed: boolean };

/**
 * Added to the least similarity of the model: of thousands of sentences some are near any question by chance. Median
 * with the offline encoder: 0.42 for the right passage, 0.26 for others.
 */
const margin = 0.05;
/** Room for the vectors of about two full notebooks. Evicted vectors are read again. */
const cacheBytes = 64 * 1_048_576;
/**
 * A provider that hangs must not delay the agent for minutes: search by words answers at once. Loading the offline
 * encoder takes far less, even on a busy machine.
 */
const defaultEmbedWithinMs = 15_000;
/** About 5 ms of work, after which the loop yields to the event loop. */
const vectorsAtOnce = 16_000;

/**
 * Without pgvector the vectors are stored in batches and compared in this process, because plain SQL has no vector
 * product. The 50,000 cached vectors of a full notebook take about 15 ms of processor time.
 */
export function createPassageMeaning(dependencies: {
  db: Database;
  embeddings: Embeddings;
  /** PostgreSQL compares the vectors, except those stored before it had pgvector. */
  comparesVectors: boolean;
  log: Pick<Logger, 'warn'>;
  /** The time limit for embedding a query. */
  embedWithinMs?: number;
}): PassageMeaning {
  const { db, embeddings, comparesVectors, log, embedWithinMs = defaultEmbedWithinMs } = dependencies;
  const { model, languages } = embeddings;
  const cache = createCache(cacheBytes);

  async function rank(documents: readonly RankedDocument[], query: string, limit: number): Promise<PassageKey[]> {
    if (documents.length === 0 || !embeddings.understands(query)) return [];
    const packed = await vectorsOf(documents);
    if (packed.length === 0 && !comparesVectors) return [];
    const asked = await embedQuery(query);
    if (!asked) return [];
    const least = asked.least + margin;
    const documentIds = documents.map(({ id }) => id);
    const near = [
      ...(await nearest(asked.vector, packed, least)),
      ...(comparesVectors ? await compared(asked.vector, { documentIds, least, limit }) : []),
    ];
    const ranked = near.sort((a, b) => b.similarity - a.similarity).slice(0, limit);
    return ranked.map(({ key }) => key);
  }

  async function compared(asked: Float32Array, of: Parameters<typeof nearestInDatabase>[3]): Promise<NearPassage[]> {
    try {
      return await nearestInDatabase(db, model, asked, of);
    } catch (error) {
      // For example vectors of another length, if a provider changed its model under the same name.
      log.warn({ err: error }, 'a notebook search fell back to words');
      return [];
    }
  }

  async function embedQuery(query: string): Promise<{ vector: Float32Array; least: number } | undefined> {
    const signal = AbortSignal.timeout(embedWithinMs);
    try {
      const [[vector], least] = await Promise.all([
        embeddings.embed([query], { signal }),
        embeddings.leastSimilarity({ query, signal }),
      ]);
      return vector && { vector, least };
    } catch (error) {
      log.warn({ err: error }, 'a notebook search fell back to words');
      return undefined;
    }
  }

  /** For a document that is being indexed, reads only the vectors stored since the last search. */
  async function vectorsOf(documents: readonly RankedDocument[]): Promise<Vectors[]> {
    const known = new Map(documents.flatMap(({ id }) => cache.get(id) ?? []).map((each) => [each.documentId, each]));
    const open = documents.filter(({ id }) => !known.get(id)?.isWhole);
    const read = await loadVectors(
      db,
      model,
      open.map(({ id }) => ({ documentId: id, from: known.get(id)?.windows ?? 0 })),
    );
    const parts = Map.groupBy(read, ({ document_id }) => document_id);
    for (const { id, isIndexed } of open) {
      const before = known.get(id) ?? { documentId: id, windows: 0, isWhole: false, parts: [] };
      const added = parts.get(id) ?? [];
      const windows = before.windows + added.reduce((sum, { positions }) => sum + positions.length, 0);
      const now = { documentId: id, windows, isWhole: isIndexed, parts: [...before.parts, ...added] };
      cache.put(now);
      known.set(id, now);
    }
    return [...known.values()].filter((each) => each.parts.length > 0);
  }

  return { model, languages, rank };
}

/**
 * Vectors of one document. The text of a document never changes, so cached vectors are never stale, only incomplete.
 */
type Vectors = {
  documentId: string;
  windows: number;
  isWhole: boolean;
  parts: readonly { positions: number[]; vectors: Uint8Array }[];
};

/** Scores a passage by its nearest window. */
async function nearest(asked: Float32Array, documents: readonly Vectors[], least: number): Promise<NearPassage[]> {
  const found: NearPassage[] = [];
  const similaritiesTo = compareWith(asked);
  let compared = 0;
  for (const { documentId, parts, windows } of documents) {
    const best = new Map<number, number>();
    for (const { positions, vectors } of parts) {
      const similarities = similaritiesTo(vectors);
      for (let at = 0; at < similarities.length; at++) {
        const similarity = similarities[at] as number;
        if (similarity <= least) continue;
        const position = positions[at] as number;
        if (similarity > (best.get(position) ?? least)) best.set(position, similarity);
      }
    }
    for (const [position, similarity] of best) found.push({ key: { document_id: documentId, position }, similarity });
    compared += windows;
    if (compared < vectorsAtOnce) continue;
    compared = 0;
    await nextTick();
  }
  return found;
}

/** Evicts the least recently used vectors. */
function createCache(maxBytes: number) {
  const kept = new Map<string, Vectors>();
  let bytes = 0;
  const sizeOf = ({ parts }: Vectors) =>
    parts.reduce((sum, { vectors, positions }) => sum + vectors.byteLength + positions.length * 8, 100);

  function drop(id: string): void {
    const dropped = kept.get(id);
    if (dropped && kept.delete(id)) bytes -= sizeOf(dropped);
  }

  return {
    get(id: string): Vectors | undefined {
      const found = kept.get(id);
      if (found && kept.delete(id)) kept.set(id, found);
      return found;
    },
    put(vectors: Vectors): void {
      drop(vectors.documentId);
      kept.set(vectors.documentId, vectors);
      bytes += sizeOf(vectors);
      for (const id of kept.keys()) {
        if (bytes <= maxBytes) break;
        drop(id);
      }
    },
  };
}
