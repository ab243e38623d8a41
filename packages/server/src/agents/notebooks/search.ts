import type { Executor } from '../../platform/db/pool.ts';
import { one, rowsOf } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { boolean, columnsOf, integer, text, textArray } from '../../platform/db/table.ts';
import type { PassageMeaning } from './passage-meaning.ts';
import { readSearchQuery, type SearchQuery } from './search-words.ts';
import { isIndexed, isRead, mayRead, type NotebookReader } from './store.ts';
import { documentPassages, documents, notebooks, type PassageKey } from './tables.ts';

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
  const byWords = await rankByWords(db, scope, query, depth);
  // A query of stop words has a vector that is near everything, so it is not ranked by meaning.
  const unindexed = new Set(scope.unindexedIds);
  const documents = scope.readableIds.map((id) => ({ id, isIndexed: !unindexed.has(id) }));
  const near = scope.hasContent ? await meaning.rank(documents, query.words.join(' '), depth) : [];
  const byMeaning = query.excluded === '' ? near : await withoutExcluded(db, near, query.excluded);
  const keys = new Map([...byWords, ...byMeaning].map((key) => [nameOf(key), key]));
  const fused = fuseRanks([byWords.map(nameOf), byMeaning.map(nameOf)]);
  return fused.slice(0, limit).map((name) => keys.get(name) as PassageKey);
}

/** Passages with every word come first, then passages with some of the words. */
async function rankByWords(db: Executor, scope: SearchScope, query: SearchQuery, limit: number): Promise<PassageKey[]> {
  const whole = await rankByWholeQuery(db, scope, query, limit);
  if (whole.length === limit || query.words.length === 1) return whole;
  const known = new Set(whole.map(nameOf));
  const some = await rankBySomeWords(db, scope, query, limit);
  return [...whole, ...some.filter((key) => !known.has(nameOf(key)))].slice(0, limit);
}

const nameOf = ({ document_id, position }: PassageKey) => `${document_id} ${position}`;

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
type SearchScope = {
  notebookIds: string[];
  languages: string[];
  /** Documents in a language that the encoder reads. */
  readableIds: string[];
  /** Those of `readableIds` without complete vectors. */
  unindexedIds: string[];
  /** Documents of these notebooks outside the revision that is read. They are few: only fixed revisions keep them. */
  otherIds: string[];
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

const passageKey = { document_id: text(), position: integer() };

/**
 * Ranks by how close the words are together. That costs thirty times as much as counting them, so it is done only for
 * the passages with the highest counts.
 */
const rankByWholeQuery = (db: Executor, scope: SearchScope, query: SearchQuery, limit: number): Promise<PassageKey[]> =>
  rowsOf(
    db,
    passageKey,
    sql`WITH ${queriesIn(scope, query, [sql`${asQuery(query.whole)} AS whole`])}, candidates AS MATERIALIZED (
          SELECT passages.document_id, passages.position, passages.search, queries.whole
          FROM queries JOIN ${documentPassages} passages ON ${isIn(scope)} AND passages.search @@ queries.whole
          ORDER BY ts_rank(passages.search, queries.any_word) DESC, passages.document_id DESC, passages.position
          LIMIT ${limit + 100}
        )
        SELECT document_id, position FROM candidates
        ORDER BY ts_rank_cd(search, whole, 1) DESC, document_id DESC, position
        LIMIT ${limit}`,
  );

/**
 * Weighs each word by its frequency in the passage and its rarity among the passages found in the language: `ts_rank`
 * alone gives common words the same weight. One column per word, because unpacking an array for thousands of passages
 * is slow.
 */
function rankBySomeWords(db: Executor, scope: SearchScope, query: SearchQuery, limit: number): Promise<PassageKey[]> {
  const columns = padded(query.words).map((word, at) => ({
    word,
    wanted: sql.identifier(`wanted_${at}`),
    rank: sql.identifier(`rank_${at}`),
    weight: sql.identifier(`weight_${at}`),
  }));
  const excluded = sql`${asQuery(query.excluded)} AS excluded`;
  const wanted = columns.map((each) => sql`${asQuery(each.word)} AS ${each.wanted}`);
  const ranks = columns.map((each) => sql`ts_rank(passages.search, queries.${each.wanted}) AS ${each.rank}`);
  const weights = columns.map((each) => {
    const having = sql`count(*) FILTER (WHERE ${each.rank} > 0)`;
    return sql`ln(1 + (count(*) - ${having} + 0.5) / (${having} + 0.5))::float8 AS ${each.weight}`;
  });
  const score = columns.map((each) => sql`${each.rank} * ${each.weight}`);
  return rowsOf(
    db,
    passageKey,
    sql`WITH ${queriesIn(scope, query, [excluded, ...wanted])}, candidates AS MATERIALIZED (
          SELECT passages.document_id, passages.position, passages.language, ${sql.join(ranks)}
          FROM queries JOIN ${documentPassages} passages ON ${isIn(scope)}
            AND passages.search @@ (queries.any_word && queries.excluded)
        ), weights AS (
          SELECT language, ${sql.join(weights)} FROM candidates GROUP BY language
        )
        SELECT document_id, position FROM candidates JOIN weights USING (language)
        ORDER BY ${sql.join(score, ' + ')} DESC, document_id DESC, position
        LIMIT ${limit}`,
  );
}

/** Pads to 2, 4, 8, 16 or 32 words, to keep the number of prepared statements small. An empty word matches noResult. */
function padded(words: readonly string[]): string[] {
  const length = 2 ** Math.ceil(Math.log2(words.length));
  return Array.from({ length }, (_, at) => words[at] ?? '');
}

/**
 * The query in each language of the scope. It is materialized, because otherwise it is parsed for each passage. A
 * language in which it has only stop words is left out: the rest, such as `-word`, would match almost everything.
 */
function queriesIn(scope: SearchScope, query: SearchQuery, columns: Sql[]): Sql {
  const anyWord = asQuery(query.words.join(' or '));
  return sql`queries AS MATERIALIZED (
    SELECT language, ${anyWord} AS any_word, ${sql.join(columns)}
    FROM unnest(${scope.languages}::text[]) AS languages (language)
    WHERE numnode(${anyWord}) > 0
  )`;
}

const asQuery = (words: string) => sql`websearch_to_tsquery(language::regconfig, ${words})`;

const isIn = ({ notebookIds, otherIds }: SearchScope) => sql`
  ARRAY[passages.notebook_id] && ${notebookIds}::text[] AND passages.language = queries.language
  AND passages.document_id <> ALL (${otherIds}::text[])`;

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
