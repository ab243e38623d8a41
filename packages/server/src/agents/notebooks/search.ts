import type { Executor } from '../../platform/db/pool.ts';
import { fuseRanks } from './fuse-ranks.ts';
import type { PassageMeaning } from './passage-meaning.ts';
import type { Reader } from './reader-store.ts';
import { readSearchQuery, type SearchQuery } from './search-query.ts';
import {
  findScope,
  loadRanked,
  rankBySomeWords,
  rankByWholeQuery,
  type Scope,
  withoutExcluded,
} from './search-store.ts';
import { snippetOf } from './snippet.ts';
import type { PassageKey } from './tables.ts';

type Hit = {
  notebookId: string;
  documentId: string;
  title: string;
  /** Which passage of the document it is, from 0. */
  position: number;
  /** The headings above the passage, the outermost first; empty where there is none. */
  heading: string;
  /** In a file that has pages, the one on which the passage begins. */
  page: number | null;
  text: string;
  snippet: string;
};

export type Found = {
  hits: Hit[];
  /** Documents of which some can only be found by their words yet. */
  unindexed: number;
};

const nothing: Found = { hits: [], unindexed: 0 };

/** The passages that answer a query best, best first: by words, and with `meaning` also by what they mean. */
export async function searchNotebooks(
  db: Executor,
  { query, limit, ...reader }: Reader & { query: string; limit: number },
  meaning: PassageMeaning | null = null,
): Promise<Found> {
  const wanted = readSearchQuery(query);
  if (wanted.words.length === 0) return nothing;
  const scope = await findScope(db, reader, wanted, meaning);
  if (scope.languages.length === 0) return nothing;
  const ranked = meaning
    ? await rankByBoth(db, meaning, scope, wanted, limit)
    : await rankByWords(db, scope, wanted, limit);
  const found = await loadRanked(db, ranked);
  const hits = found.map(({ notebook_id, document_id, language: _, ...shown }) => ({
    notebookId: notebook_id,
    documentId: document_id,
    ...shown,
    snippet: snippetOf(shown.text, wanted.words),
  }));
  return { hits, unindexed: scope.unindexedIds.length };
}

/** Each order goes deeper than what is shown: what both have a little further down is better than what one has alone. */
async function rankByBoth(
  db: Executor,
  meaning: PassageMeaning,
  scope: Scope,
  query: SearchQuery,
  limit: number,
): Promise<PassageKey[]> {
  const depth = limit * 2 + 10;
  const byWords = await rankByWords(db, scope, query, depth);
  // A question of stop words alone has a vector too, and it is near to anything.
  const unindexed = new Set(scope.unindexedIds);
  const documents = scope.readableIds.map((id) => ({ id, isIndexed: !unindexed.has(id) }));
  const near = scope.hasContent ? await meaning.rank(documents, query.words.join(' '), depth) : [];
  const byMeaning = query.excluded === '' ? near : await withoutExcluded(db, near, query.excluded);
  const keys = new Map([...byWords, ...byMeaning].map((key) => [nameOf(key), key]));
  const fused = fuseRanks([byWords.map(nameOf), byMeaning.map(nameOf)]);
  return fused.slice(0, limit).map((name) => keys.get(name) as PassageKey);
}

/** Passages with every word come first; where they are too few, passages with some of the words follow. */
async function rankByWords(db: Executor, scope: Scope, query: SearchQuery, limit: number): Promise<PassageKey[]> {
  const whole = await rankByWholeQuery(db, scope, query, limit);
  if (whole.length === limit || query.words.length === 1) return whole;
  const known = new Set(whole.map(nameOf));
  const some = await rankBySomeWords(db, scope, query, limit);
  return [...whole, ...some.filter((key) => !known.has(nameOf(key)))].slice(0, limit);
}

const nameOf = ({ document_id, position }: PassageKey) => `${document_id} ${position}`;
