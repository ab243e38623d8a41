import { setImmediate as nextTick } from 'node:timers/promises';
import type { Database } from '../../platform/db/pool.ts';
import type { SweepSource } from '../../platform/jobs/sweep.ts';
import type { Embeddings } from '../embeddings/embeddings.ts';
import {
  beginIndex,
  copyIndex,
  findIndex,
  forgetIndex,
  loadText,
  storeVectors,
  unindexedDocuments,
} from './index-store.ts';
import { type Window, windowsOf } from './passage-windows.ts';

/** Stored together, and then searched: a second of work for a slow encoder, a tenth of one for a fast. */
const windowsAtOnce = 32;
const passagesAtOnce = 10;

/**
 * The job. It may be called again after any crash and goes on behind the last vectors that were stored. Whatever it finds
 * that it should not go on with, ends it: the document is gone or indexed, or another process is at it.
 */
export async function indexDocument(
  { db, embeddings, comparesVectors }: { db: Database; embeddings: Embeddings; comparesVectors: boolean },
  documentId: string,
  signal: AbortSignal,
): Promise<void> {
  const { model } = embeddings;
  const key = { documentId, model };
  const known = await findIndex(db, key);
  if (known?.completed_at) return;
  if (!known && (await copyIndex(db, key, comparesVectors))) return;
  const document = await loadText(db, documentId);
  if (!document) return;
  const windows = readsLanguage(embeddings, document.language)
    ? await readableWindows(embeddings, document.passages)
    : [];
  // Begun by a version of this program that cut the text otherwise: its vectors would stand for other words.
  if (known && known.total !== windows.length) await forgetIndex(db, key);
  const isGoingOn = known?.total === windows.length;
  if (!isGoingOn && !(await beginIndex(db, key, windows.length))) return;
  const encode = encoderOfRepeated(embeddings, windows, signal);
  for (let first = isGoingOn ? known.windows : 0; first < windows.length; first += windowsAtOnce) {
    const next = windows.slice(first, first + windowsAtOnce);
    const vectors = await encode(next.map(({ text }) => text));
    signal.throwIfAborted();
    const positions = next.map(({ position }) => position);
    const row = { document_id: documentId, model, first_window: first, positions, vectors };
    if (!(await storeVectors(db, row, comparesVectors))) return;
  }
}

/** What a text says again, such as a licence or the foot of its pages, is encoded once. */
function encoderOfRepeated(embeddings: Embeddings, windows: readonly Window[], signal: AbortSignal) {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const { text } of windows) (seen.has(text) ? repeated : seen).add(text);
  const kept = new Map<string, Float32Array>();
  return async (texts: readonly string[]): Promise<Float32Array[]> => {
    const unknown = [...new Set(texts)].filter((text) => !kept.has(text));
    const made = await embeddings.embed(unknown, { signal, urgency: 'index' });
    const vectors = new Map(unknown.map((text, at) => [text, made[at] as Float32Array]));
    for (const [text, vector] of vectors) if (repeated.has(text)) kept.set(text, vector);
    return texts.map((text) => (vectors.get(text) ?? kept.get(text)) as Float32Array);
  };
}

/** Cutting the largest text takes 150 ms, in which nobody else would be served: it is done bit by bit. */
async function readableWindows({ understands }: Embeddings, passages: readonly string[]): Promise<Window[]> {
  const windows: Window[] = [];
  for (let first = 0; first < passages.length; first += passagesAtOnce) {
    const next = windowsOf(passages.slice(first, first + passagesAtOnce), first);
    windows.push(...next.filter(({ text }) => understands(text)));
    await nextTick();
  }
  return windows;
}

/** Documents in other languages are searched by their words alone, and are indexed as soon as that is known. */
const readsLanguage = ({ languages }: Pick<Embeddings, 'languages'>, language: string): boolean =>
  languages === 'every' || languages.includes(language);

/** What was uploaded before this model was chosen, and what no job knows of. */
export function documentsToIndex({ model }: Pick<Embeddings, 'model'>): SweepSource {
  // Where the page before ended: a new model has all documents to go through, and the first of them have their jobs.
  let after = '';
  return {
    name: 'documents',
    async find({ tx, jobs, limit }) {
      for (let sent = 0; ; ) {
        const found = await unindexedDocuments(tx, model, { after, limit });
        const withJob = await jobs.keysWithJob(
          tx,
          'document.index',
          found.map(({ id }) => id),
        );
        const left = found.filter(({ id }) => !withJob.has(id));
        await jobs.sendMany(
          tx,
          'document.index',
          left.map(({ id, org_id }) => ({ org_id, document_id: id })),
        );
        sent += left.length;
        after = found.length < limit ? '' : (found.at(-1)?.id as string);
        if (after === '' || sent >= limit) return sent;
      }
    },
  };
}
