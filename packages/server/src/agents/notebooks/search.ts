import type { Executor } from '../../platform/db/pool.ts';
import { one, rowsOf } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { boolean, columnsOf, text, textArray } from '../../platform/db/table.ts';
import type { PassageMeaning } from './passage-meaning.ts';
import { readSearchQuery, type SearchQuery } from './search-words.ts';
import { isIndexed, isRead, mayRead, type NotebookReader } from './store.ts';
import { documentPassages, documents, notebooks, type PassageKey } from './tables.ts';
import { nameOf, passageKey, rankByWords, type WordScope } from './word-ranking.ts';

type Hit = {
  notebookId: string;
  documentId: string;
  title: string;
  /** The position of the passage in its document, from 0. */
  position: number;
  /** The headings above the passage, outermost first, or an empty text. */
  heading: string;
  /** The page on which the passage begins, or null if the file has no pages. */
  page: number | null;
  text: string;
  snippet: string;
};

export type SearchResult = {
  hits: Hit[];
  /** The number of documents that are not completely indexed by meaning yet. */
  unindexed: number;
};

const noResult: SearchResult = { hits: [], unindexed: 0 };

/** Returns the best passages for a query, best first: by words and, with `meaning`, also by meaning. */
export async function searchNotebooks(
  db: Executor,
  { query, limit, ...reader }: NotebookReader & { query: string; limit: number },
  meaning: PassageMeaning | null = null,
): Promise<SearchResult> {
  const wanted = readSearchQuery(query);
  if (wanted.words.length === 0) return noResult;
  const scope = await findSearchScope(db, reader, wanted, meaning);
  if (scope.languages.length === 0) return noResult;
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

/** Each ranking goes deeper than the limit: a passage a little further down in both beats one that is in only one. */
async function rankByBoth(
  db: Executor,
  meaning: PassageMeaning,
  scope: SearchScope,
  query: SearchQuery,
  limit: number,
): Promise<PassageKey[]> {
  const depth = limit * 2 + 10;
  const unindexed = new Set(scope.unindexedIds);
  const documents = scope.readableIds.map((id) => ({ id, isIndexed: !unindexed.has(id) }));
  // PostgreSQL ranks the words while this process and the encoder rank the meaning.
  const [byWords, near] = await Promise.all([
    rankByWords(db, scope, query, depth),
    // A query of stop words has a vector that is near everything, so it is not ranked by meaning.
    scope.hasContent ? meaning.rank(documents, query.words.join(' '), depth) : [],
  ]);
  const byMeaning = query.excluded === '' ? near : await withoutExcluded(db, near, query.excluded);
  const keys = new Map([...byWords, ...byMeaning].map((key) => [nameOf(key), key]));
  const fused = fuseRanks([byWords.map(nameOf), byMeaning.map(nameOf)]);
  return fused.slice(0, limit).map((name) => keys.get(name) as PassageKey);
}

/** The usual constant of reciprocal rank fusion: the larger, the less the first ranks count. */
const smoothing = 60;

/**
 * Fuses rankings by reciprocal rank, because the scores of words and vectors are not comparable. Ties keep the order of
 * the first list that has them.
 */
export function fuseRanks(rankings: readonly (readonly string[])[]): string[] {
  const scores = new Map<string, number>();
  for (const keys of rankings) {
    keys.forEach((key, rank) => {
      scores.set(key, (scores.get(key) ?? 0) + 1 / (smoothing + rank + 1));
    });
  }
  return [...scores].sort(([, a], [, b]) => b - a).map(([key]) => key);
}

const snippetLength = 320;

/**
 * Returns the part of a passage with the most query words. It guesses stems from the beginning of words in any
 * language; the search itself used real stems.
 */
export function snippetOf(passage: string, words: readonly string[]): string {
  const text = passage.replace(/\s+/g, ' ').trim();
  if (text.length <= snippetLength) return text;
  const start = bestStart(text, matchesIn(text, words));
  const end = Math.min(text.length, start + snippetLength);
  const from = start === 0 ? 0 : nextSpace(text, start, end);
  const to = end === text.length ? end : lastSpace(text, from, end);
  // The cut may split a surrogate pair at either edge.
  const cut = text.slice(from, to).replace(/^\p{Cs}|\p{Cs}$/gu, '');
  return `${from > 0 ? '… ' : ''}${cut.trim()}${to < text.length ? ' …' : ''}`;
}

type Match = { at: number; word: string };

function matchesIn(text: string, words: readonly string[]): Match[] {
  const lowered = text.toLowerCase();
  const beginnings = words.map((word) => ({
    word,
    beginning: word.slice(0, Math.max(2, Math.ceil(word.length * 0.7))),
  }));
  return beginnings
    .flatMap(({ word, beginning }) => placesOf(lowered, beginning).map((at) => ({ at, word })))
    .sort((a, b) => a.at - b.at);
}

/** Finds words with this beginning. In scripts without spaces, a match may be anywhere. */
function placesOf(text: string, beginning: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(beginning); at !== -1; at = text.indexOf(beginning, at + 1)) {
    const isInsideWord = /^[\p{ASCII}\p{Script=Latin}]/u.test(beginning) && /[\p{L}\p{N}]/u.test(text[at - 1] ?? ' ');
    if (!isInsideWord) places.push(at);
  }
  return places;
}

/** Finds the window with the most different words, starting a little before one of them. */
function bestStart(text: string, matches: readonly Match[]): number {
  const lead = 40;
  let best = { start: 0, count: 0 };
  matches.forEach(({ at }, first) => {
    const start = Math.max(0, Math.min(at - lead, text.length - snippetLength));
    const inside = matches.slice(first).filter((match) => match.at < start + snippetLength);
    const count = new Set(inside.map(({ word }) => word)).size;
    if (count > best.count) best = { start, count };
  });
  return best.start;
}

function nextSpace(text: string, start: number, end: number): number {
  const space = text.indexOf(' ', start);
  return space === -1 || space > Math.min(end, start + 30) ? start : space + 1;
}

function lastSpace(text: string, start: number, end: number): number {
  const space = text.lastIndexOf(' ', end);
  return space <= Math.max(start, end - 30) ? end : space;
}

/** The notebooks and documents that the reader may search. */
type SearchScope = WordScope & {
  /** Documents in a language that the encoder reads. */
  readableIds: string[];
  /** Those of `readableIds` without complete vectors. */
  unindexedIds: string[];
  /** True if the query has a word that is not an English stop word. */
  hasContent: boolean;
};

async function findSearchScope(
  db: Executor,
  reader: NotebookReader,
  { words }: SearchQuery,
  meaning: Pick<PassageMeaning, 'model' | 'languages'> | null,
): Promise<SearchScope> {
  const ids = () => textArray().nullable();
  const read = isRead(reader);
  const readable = sql`${read} AND ${meaning ? isReadable(meaning) : sql`FALSE`}`;
  const found = await one(
    db,
    {
      notebookIds: ids(),
      languages: ids(),
      readableIds: ids(),
      unindexedIds: ids(),
      otherIds: ids(),
      hasContent: boolean(),
    },
    sql`SELECT array_agg(DISTINCT n.id) AS "notebookIds",
          array_agg(DISTINCT d.language) FILTER (WHERE ${read}) AS languages,
          array_agg(d.id ORDER BY d.id) FILTER (WHERE ${readable}) AS "readableIds",
          array_agg(d.id) FILTER (WHERE ${readable} AND ${meaning ? sql`NOT ${isIndexed(meaning.model)}` : sql`FALSE`})
            AS "unindexedIds",
          array_agg(d.id) FILTER (WHERE NOT ${read}) AS "otherIds",
          numnode(websearch_to_tsquery('english', ${words.join(' ')})) > 0 AS "hasContent"
        FROM ${notebooks} n JOIN ${documents} d ON d.notebook_id = n.id
        WHERE ${mayRead(reader)}`,
  );
  return {
    notebookIds: found.notebookIds ?? [],
    languages: found.languages ?? [],
    readableIds: found.readableIds ?? [],
    unindexedIds: found.unindexedIds ?? [],
    otherIds: found.otherIds ?? [],
    hasContent: found.hasContent,
  };
}

const isReadable = ({ languages }: Pick<PassageMeaning, 'languages'>) =>
  languages === 'every' ? sql`TRUE` : sql`d.language = ANY(${languages})`;

/** Removes passages with excluded words and keeps the order. */
const withoutExcluded = (db: Executor, keys: readonly PassageKey[], excluded: string): Promise<PassageKey[]> =>
  rowsOf(
    db,
    passageKey,
    sql`SELECT document_id, position FROM ${ranked(keys)}
        JOIN ${documentPassages} passages USING (document_id, position)
        WHERE passages.search @@ websearch_to_tsquery(passages.language::regconfig, ${excluded})
        ORDER BY ranked.rank`,
  );

/** Loads the passages with the titles of their documents, in the given order. */
const loadRanked = (db: Executor, keys: readonly PassageKey[]) =>
  rowsOf(
    db,
    { ...documentPassages.columns, title: text() },
    sql`SELECT ${columnsOf(documentPassages, 'passages')}, d.title FROM ${ranked(keys)}
        JOIN ${documentPassages} passages USING (document_id, position)
        JOIN ${documents} d ON d.id = document_id
        ORDER BY ranked.rank`,
  );

const ranked = (keys: readonly PassageKey[]) => sql`
  unnest(${keys.map((key) => key.document_id)}::text[], ${keys.map((key) => key.position)}::int[])
    WITH ORDINALITY AS ranked (document_id, position, rank)`;
