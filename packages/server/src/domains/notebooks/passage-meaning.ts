import { setImmediate as nextTick, setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Embeddings } from '../../adapters/embeddings/embeddings.ts';
import type { Database } from '../../db/pool.ts';
import { windowsOf } from './passage-windows.ts';
import { insertVectors, loadPassages, loadVectors } from './store.ts';
import type { DocumentVectors, PassageKey } from './tables.ts';
import { packVectors, similarities } from './vectors.ts';

/** Ranks passages by what they mean. */
export type PassageMeaning = {
  /**
   * The nearest passages of the documents, nearest first. Documents without vectors are left out this once: they get
   * theirs in the background, so that neither adding a document nor the first search waits for it.
   */
  rank: (documentIds: readonly string[], query: string, limit: number) => Promise<PassageKey[]>;
  /** Resolves when nothing is being made any more. */
  settled: () => Promise<void>;
};

/** Measured with windows of one sentence: the nearest of the right passage is at 0.42 in the middle, of another at 0.26. */
const leastSimilarity = 0.3;
/** 64 MB hold the vectors of about two full notebooks; what does not fit is read again. */
const cacheBytes = 64 * 1_048_576;
/** 10 to 20 ms of work, after which the event loop gets its turn. */
const vectorsAtOnce = 4000;
/** Windows between two rests. */
const windowsAtOnce = 32;

/**
 * Vectors lie in a table, a row for each document, and are compared here, since plain SQL has no product of vectors.
 * Measured on two busy cores: 250 ms for the fifty thousand vectors of a full notebook once they are in the cache.
 */
export function createPassageMeaning(dependencies: {
  db: Database;
  embeddings: Embeddings;
  log: Pick<Logger, 'warn'>;
}): PassageMeaning {
  const { db, embeddings, log } = dependencies;
  const cache = createCache(cacheBytes);
  const waiting = new Set<string>();
  let working: Promise<void> | null = null;

  async function rank(documentIds: readonly string[], query: string, limit: number): Promise<PassageKey[]> {
    if (documentIds.length === 0 || !embeddings.understands(query)) return [];
    const vectors = await vectorsOf(documentIds);
    const found = new Set(vectors.map(({ document_id }) => document_id));
    makeLater(documentIds.filter((id) => !found.has(id)));
    if (vectors.length === 0) return [];
    const asked = await askedFor(query);
    if (!asked) return [];
    const near = await nearest(asked, vectors);
    return near.slice(0, limit).map(({ key }) => key);
  }

  async function askedFor(query: string): Promise<Float32Array | undefined> {
    try {
      return (await embeddings.embed([query]))[0];
    } catch (error) {
      log.warn({ err: error }, 'a search of notebooks went by words alone');
      return undefined;
    }
  }

  async function vectorsOf(documentIds: readonly string[]): Promise<DocumentVectors[]> {
    const known = documentIds.flatMap((id) => cache.get(id) ?? []);
    const isKnown = new Set(known.map(({ document_id }) => document_id));
    const read = await loadVectors(
      db,
      embeddings.model,
      documentIds.filter((id) => !isKnown.has(id)),
    );
    for (const each of read) cache.put(each);
    return [...known, ...read];
  }

  function makeLater(documentIds: readonly string[]): void {
    for (const id of documentIds) waiting.add(id);
    if (waiting.size === 0) return;
    working ??= makeAll().finally(() => {
      working = null;
    });
  }

  async function makeAll(): Promise<void> {
    for (const id of waiting) {
      try {
        await make(id);
      } catch (error) {
        // The next search that needs the document asks for it again.
        log.warn({ err: error, document_id: id }, 'a document has no vectors yet');
      }
      waiting.delete(id);
    }
  }

  async function make(documentId: string): Promise<void> {
    const windows = windowsOf(await loadPassages(db, documentId)).filter(({ text }) => embeddings.understands(text));
    const vectors: Float32Array[] = [];
    while (vectors.length < windows.length) {
      const begun = performance.now();
      const next = windows.slice(vectors.length, vectors.length + windowsAtOnce);
      vectors.push(...(await embeddings.embed(next.map(({ text }) => text))));
      // 10 KB keep a busy core at work for some 8 s. Half of the time is left to those who wait for an answer.
      if (vectors.length < windows.length) await sleep(performance.now() - begun, undefined, { ref: false });
    }
    await insertVectors(db, {
      document_id: documentId,
      model: embeddings.model,
      positions: windows.map(({ position }) => position),
      vectors: packVectors(vectors),
    });
  }

  return {
    rank,
    async settled() {
      while (working) await working;
    },
  };
}

/** A passage is as near as its nearest window. */
async function nearest(asked: Float32Array, documents: readonly DocumentVectors[]) {
  const found: { key: PassageKey; similarity: number }[] = [];
  let compared = 0;
  for (const { document_id, positions, vectors } of documents) {
    const best = new Map<number, number>();
    for (const [at, similarity] of similarities(asked, vectors).entries()) {
      const position = positions[at] as number;
      if (similarity > (best.get(position) ?? leastSimilarity)) best.set(position, similarity);
    }
    for (const [position, similarity] of best) found.push({ key: { document_id, position }, similarity });
    compared += positions.length;
    if (compared < vectorsAtOnce) continue;
    compared = 0;
    await nextTick();
  }
  return found.sort((a, b) => b.similarity - a.similarity);
}

/** What was used last stays. A document never changes, so what is kept of it is never wrong. */
function createCache(mostBytes: number) {
  const kept = new Map<string, DocumentVectors>();
  let bytes = 0;
  const sizeOf = ({ vectors, positions }: DocumentVectors) => vectors.byteLength + positions.length * 8;

  function drop(id: string): void {
    const dropped = kept.get(id);
    if (dropped && kept.delete(id)) bytes -= sizeOf(dropped);
  }

  return {
    get(id: string): DocumentVectors | undefined {
      const found = kept.get(id);
      if (found && kept.delete(id)) kept.set(id, found);
      return found;
    },
    put(vectors: DocumentVectors): void {
      drop(vectors.document_id);
      kept.set(vectors.document_id, vectors);
      bytes += sizeOf(vectors);
      for (const id of kept.keys()) {
        if (bytes <= mostBytes) break;
        drop(id);
      }
    },
  };
}
