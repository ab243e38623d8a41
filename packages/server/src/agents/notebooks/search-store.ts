import type { Executor } from '../../platform/db/pool.ts';
import { one, rowsOf } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { boolean, columnsOf, integer, text, textArray } from '../../platform/db/table.ts';
import type { PassageMeaning } from './passage-meaning.ts';
import { isRead, mayRead, type Reader } from './reader-store.ts';
import type { SearchQuery } from './search-query.ts';
import { isIndexed } from './store.ts';
import { documentPassages, documents, notebooks, type PassageKey } from './tables.ts';

/** What the reader may read, and the languages it is written in. */
export type Scope = {
  notebookIds: string[];
  languages: string[];
  /** Documents that can be searched by meaning: all that the encoder reads the language of. */
  readableIds: string[];
  /** Of these, the ones whose vectors are not all made yet. */
  unindexedIds: string[];
  /** Documents of these notebooks that belong to other revisions of them: few, since only versions keep any. */
  otherIds: string[];
  /** Whether the query has words that are no stop words of English. */
  hasContent: boolean;
};

export async function findScope(
  db: Executor,
  reader: Reader,
  { words }: SearchQuery,
  meaning: Pick<PassageMeaning, 'model' | 'languages'> | null,
): Promise<Scope> {
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
 * By how close the words stand together. Measuring that costs thirty times what counting them does, so it is done for
 * the passages that have them most often.
 */
export const rankByWholeQuery = (
  db: Executor,
  scope: Scope,
  query: SearchQuery,
  limit: number,
): Promise<PassageKey[]> =>
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
 * Each word counts by how often it occurs in the passage and how rare it is among the passages found in its language:
 * a question in plain words holds many that say nothing, and `ts_rank` alone would give them the same weight. One
 * column per word, since an array would have to be taken apart for each of some thousand passages.
 */
export function rankBySomeWords(db: Executor, scope: Scope, query: SearchQuery, limit: number): Promise<PassageKey[]> {
  const columns = filledUp(query.words).map((word, at) => ({
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

/** To 2, 4, 8, 16 or 32 words, so that the statements are few. One that is empty is found nowhere and counts nothing. */
function filledUp(words: readonly string[]): string[] {
  const length = 2 ** Math.ceil(Math.log2(words.length));
  return Array.from({ length }, (_, at) => words[at] ?? '');
}

/**
 * The query in each language of the scope. Materialized, or it would be parsed again for each passage. A language in
 * which it has nothing but stop words is left out: what remains, such as `-word`, would find almost everything.
 */
function queriesIn(scope: Scope, query: SearchQuery, columns: Sql[]): Sql {
  const anyWord = asQuery(query.words.join(' or '));
  return sql`queries AS MATERIALIZED (
    SELECT language, ${anyWord} AS any_word, ${sql.join(columns)}
    FROM unnest(${scope.languages}::text[]) AS languages (language)
    WHERE numnode(${anyWord}) > 0
  )`;
}

const asQuery = (words: string) => sql`websearch_to_tsquery(language::regconfig, ${words})`;

const isIn = ({ notebookIds, otherIds }: Scope) => sql`
  ARRAY[passages.notebook_id] && ${notebookIds}::text[] AND passages.language = queries.language
  AND passages.document_id <> ALL (${otherIds}::text[])`;

/** Those that have nothing of what is shut out, in the order in which they are given. */
export const withoutExcluded = (db: Executor, keys: readonly PassageKey[], excluded: string): Promise<PassageKey[]> =>
  rowsOf(
    db,
    passageKey,
    sql`SELECT document_id, position FROM ${ranked(keys)}
        JOIN ${documentPassages} passages USING (document_id, position)
        WHERE passages.search @@ websearch_to_tsquery(passages.language::regconfig, ${excluded})
        ORDER BY ranked.rank`,
  );

/** The passages with their documents' titles, in the order in which they are given. */
export const loadRanked = (db: Executor, keys: readonly PassageKey[]) =>
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
