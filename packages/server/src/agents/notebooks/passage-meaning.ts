import { setImmediate as nextTick } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../../platform/db/pool.ts';
import type { Embeddings } from '../embeddings/embeddings.ts';
import { loadVectors } from './document-index.ts';
import type { PassageKey } from './tables.ts';
import { type Near, nearestInDatabase, similarities } from './vectors.ts';

/** Ranks passages by what they mean. */
export type PassageMeaning = {
  model: string;
  /** The text search configurations of the documents that can be ranked. */
  languages: Embeddings['languages'];
  /** The nearest passages of the documents, nearest first. What has no vectors yet is left out. */
  rank: (documents: readonly Ranked[], query: string, limit: number) => Promise<PassageKey[]>;
};

/** `isIndexed`: there are no more vectors of it to come. */
type Ranked = { id: string; isIndexed: boolean };

/**
 * Above what the model says of two texts: of thousands of sentences some are near to any question by chance. Measured with
 * the offline encoder: the nearest of the right passage is at 0.42 in the middle, of another at 0.26.
 */
const margin = 0.05;
/** 64 MB hold the vectors of about two full notebooks; what does not fit is read again. */
const cacheBytes = 64 * 1_048_576;
/**
 * A provider that hangs would have the agent wait for minutes, and words find something at once. Far more than loading the
 * offline encoder takes on a busy machine.
 */
const usuallyWithinMs = 15_000;
/** 10 to 20 ms of work, after which the event loop gets its turn. */
const vectorsAtOnce = 4000;

/**
 * Vectors lie in a table, a row for each batch of a document, and are compared here, since plain SQL has no product of
 * vectors. Measured on two busy cores: 250 ms for the fifty thousand vectors of a full notebook once they are in the cache.
 */
export function createPassageMeaning(dependencies: {
  db: Database;
  embeddings: Embeddings;
  /** PostgreSQL compares them itself, but for those that were stored before it could. */
  comparesVectors: boolean;
  log: Pick<Logger, 'warn'>;
  /** How long the vector of a query is waited for. */
  embedWithinMs?: number;
}): PassageMeaning {
  const { db, embeddings, comparesVectors, log, embedWithinMs = usuallyWithinMs } = dependencies;
  const { model, languages } = embeddings;
  const cache = createCache(cacheBytes);

  async function rank(documents: readonly Ranked[], query: string, limit: number): Promise<PassageKey[]> {
    if (documents.length === 0 || !embeddings.understands(query)) return [];
    const packed = await vectorsOf(documents);
    if (packed.length === 0 && !comparesVectors) return [];
    const asked = await askedFor(query);
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

  async function compared(asked: Float32Array, of: Parameters<typeof nearestInDatabase>[3]): Promise<Near[]> {
    try {
      return await nearestInDatabase(db, model, asked, of);
    } catch (error) {
      // Such as vectors of another length, where a provider has changed its model under the same name.
      log.warn({ err: error }, 'a search of notebooks went by words alone');
      return [];
    }
  }

  async function askedFor(query: string): Promise<{ vector: Float32Array; least: number } | undefined> {
    const signal = AbortSignal.timeout(embedWithinMs);
    try {
      const [[vector], least] = await Promise.all([
        embeddings.embed([query], { signal }),
        embeddings.leastSimilarity({ query, signal }),
      ]);
      return vector && { vector, least };
    } catch (error) {
      log.warn({ err: error }, 'a search of notebooks went by words alone');
      return undefined;
    }
  }

  /** Of a document that is being indexed, what was stored since the last search is read and added to what is known. */
  async function vectorsOf(documents: readonly Ranked[]): Promise<Vectors[]> {
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

/** Of one document. A text never changes, so what is kept of it is never wrong, only not yet whole. */
type Vectors = {
  documentId: string;
  windows: number;
  isWhole: boolean;
  parts: readonly { positions: number[]; vectors: Uint8Array }[];
};

/** A passage is as near as its nearest window. */
async function nearest(asked: Float32Array, documents: readonly Vectors[], least: number): Promise<Near[]> {
  const found: Near[] = [];
  let compared = 0;
  for (const { documentId, parts, windows } of documents) {
    const best = new Map<number, number>();
    for (const { positions, vectors } of parts) {
      for (const [at, similarity] of similarities(asked, vectors).entries()) {
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

/** What was used last stays. */
function createCache(mostBytes: number) {
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
        if (bytes <= mostBytes) break;
        drop(id);
      }
    },
  };
}
