import { documentTexts, readableDocuments } from '../../agents/notebooks/index.ts';
import type { FixedContent, Manifest } from '../../agents/versions/index.ts';
import type { Executor } from '../../platform/db/pool.ts';

/** A document that the agent can read. `text` is null if there was no room for it. */
export type KnownDocument = { notebook_id: string; notebook: string; title: string; text: string | null };

const maxDocuments = 500;
const maxCharacters = 60_000;

/**
 * The documents of a version, those that share most words with `about` first. Their texts fit into one model request;
 * the others have only a title.
 */
export async function documentsAbout(
  db: Executor,
  orgId: string,
  { manifest, content }: { manifest: Manifest; content: FixedContent },
  about: string,
): Promise<KnownDocument[]> {
  if (manifest.notebooks.length === 0) return [];
  const reader = { orgId, notebookIds: manifest.notebooks, revisions: content.notebooks, userId: null };
  const found = await readableDocuments(db, reader, maxDocuments);
  const small = found.filter(({ bytes }) => bytes <= maxCharacters);
  const texts = await documentTexts(
    db,
    orgId,
    withinCharacters(small, maxCharacters * 8, ({ bytes }) => bytes).map(({ id }) => id),
  );
  const wanted = wordsOf(about);
  const ranked = found
    .map((document) => ({ ...document, text: texts.get(document.id) ?? null }))
    .map((document) => ({ document, shared: sharedWords(wanted, `${document.title} ${document.text ?? ''}`) }))
    .toSorted((one, other) => other.shared - one.shared)
    .map(({ document }) => document);
  const shown = new Set(withinCharacters(ranked, maxCharacters, ({ text }) => text?.length ?? 0));
  return ranked.map((document) => ({
    notebook_id: document.notebook_id,
    notebook: document.notebook,
    title: document.title,
    text: shown.has(document) ? document.text : null,
  }));
}

function withinCharacters<Item>(items: readonly Item[], most: number, sizeOf: (item: Item) => number): Item[] {
  let left = most;
  return items.filter((item) => {
    if (sizeOf(item) > left) return false;
    left -= sizeOf(item);
    return true;
  });
}

const wordsOf = (text: string) => new Set(text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []);

function sharedWords(wanted: ReadonlySet<string>, text: string): number {
  const words = wordsOf(text);
  let shared = 0;
  for (const word of wanted) if (words.has(word)) shared += 1;
  return shared;
}
