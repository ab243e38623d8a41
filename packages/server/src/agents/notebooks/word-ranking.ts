import type { Executor } from '../../platform/db/pool.ts';
import { pipelined, rowsOf, rowsStatement } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { float, integer, text, textArray } from '../../platform/db/table.ts';
import type { SearchQuery } from './search-words.ts';
import { documentPassages, type PassageKey } from './tables.ts';

/** The passages that are ranked. */
export type WordScope = {
  notebookIds: string[];
  languages: string[];
  /** Documents of these notebooks outside the revision that is read. They are few: only fixed revisions keep them. */
  otherIds: string[];
};

export const nameOf = ({ document_id, position }: PassageKey) => `${document_id} ${position}`;

/** Passages with every word come first, then passages with some of the words. */
export async function rankByWords(
  db: Executor,
  scope: WordScope,
  query: SearchQuery,
  limit: number,
): Promise<PassageKey[]> {
  const whole = await rankByWholeQuery(db, scope, query, limit);
  if (whole.length === limit || query.words.length === 1) return whole;
  const known = new Set(whole.map(nameOf));
  const some = await rankBySomeWords(db, scope, query, limit);
  return [...whole, ...some.filter((key) => !known.has(nameOf(key)))].slice(0, limit);
}

export const passageKey = { document_id: text(), position: integer() };

/**
 * Ranks by how close the words are together. That costs thirty times as much as counting them, so it is done only for
 * the passages with the highest counts.
 */
const rankByWholeQuery = (db: Executor, scope: WordScope, query: SearchQuery, limit: number): Promise<PassageKey[]> =>
  rowsOf(
    db,
    passageKey,
    sql`WITH ${queriesIn(scope, query)}, candidates AS MATERIALIZED (
          SELECT passages.document_id, passages.position, passages.search, queries.whole
          FROM queries JOIN ${documentPassages} passages ON ${isIn(scope)}
            AND passages.language = queries.language AND passages.search @@ queries.whole
          ORDER BY ts_rank(passages.search, queries.any_word) DESC, passages.document_id DESC, passages.position
          LIMIT ${limit + 100}
        )
        SELECT document_id, position FROM candidates
        ORDER BY ts_rank_cd(search, whole, 1) DESC, document_id DESC, position
        LIMIT ${limit}`,
  );

/**
 * The query in each language of the scope. It is materialized, because otherwise it is parsed for each passage. A
 * language in which it has only stop words is left out: the rest, such as `-word`, would match almost everything.
 */
function queriesIn({ languages }: WordScope, { whole, words }: SearchQuery): Sql {
  const anyWord = asQuery(sql`language`, words.join(' or '));
  return sql`queries AS MATERIALIZED (
    SELECT language, ${anyWord} AS any_word, ${asQuery(sql`language`, whole)} AS whole
    FROM unnest(${languages}::text[]) AS languages (language)
    WHERE numnode(${anyWord}) > 0
  )`;
}

const asQuery = (language: Sql, words: string) => sql`websearch_to_tsquery(${language}::regconfig, ${words})`;

const isIn = ({ notebookIds, otherIds }: WordScope) => sql`
  ARRAY[passages.notebook_id] && ${notebookIds}::text[] AND passages.document_id <> ALL (${otherIds}::text[])`;

/** Ranks the passages of each language on their own, because a word is rare or common within a language. */
async function rankBySomeWords(
  db: Executor,
  scope: WordScope,
  query: SearchQuery,
  limit: number,
): Promise<PassageKey[]> {
  const languages = await contentWords(db, scope, query);
  const ranked = await pipelined(
    db,
    languages.map(({ language, words }) =>
      rowsStatement(scoredKey, someWordsStatement(scope, { language, words, excluded: query.excluded }, limit)),
    ),
  );
  return ranked
    .flat()
    .sort((a, b) => b.score - a.score || newerFirst(a, b) || a.position - b.position)
    .slice(0, limit);
}

const scoredKey = { ...passageKey, score: float() };

const newerFirst = (a: PassageKey, b: PassageKey): number =>
  Number(a.document_id < b.document_id) - Number(a.document_id > b.document_id);

/** The words of the query that are not stop words of a language. Languages without such a word are left out. */
const contentWords = (db: Executor, { languages }: WordScope, { words }: SearchQuery) =>
  rowsOf(
    db,
    { language: text(), words: textArray() },
    sql`SELECT language, array_agg(word ORDER BY at) AS words
        FROM unnest(${languages}::text[]) AS languages (language),
          unnest(${words}::text[]) WITH ORDINALITY AS given (word, at)
        WHERE numnode(websearch_to_tsquery(language::regconfig, word)) > 0
        GROUP BY language`,
  );

/**
 * Weighs each word by its frequency in the passage and its rarity among the passages found: `ts_rank` alone gives common
 * words the same weight. One column per word, because unpacking an array for thousands of passages is slow.
 *
 * Queries and weights are scalar subqueries of materialized rows. PostgreSQL computes these once. Joined, it may compute
 * them for each passage, as soon as it keeps one plan for all values.
 */
export function someWordsStatement(
  scope: WordScope,
  { language, words, excluded }: { language: string; words: readonly string[]; excluded: string },
  limit: number,
): Sql {
  const inLanguage = (some: string) => asQuery(sql`${language}`, some);
  const columns = padded(words).map((word, at) => ({
    word,
    wanted: sql.identifier(`wanted_${at}`),
    rank: sql.identifier(`rank_${at}`),
    weight: sql.identifier(`weight_${at}`),
  }));
  const wanted = columns.map((each) => sql`${inLanguage(each.word)} AS ${each.wanted}`);
  const ranks = columns.map(
    (each) => sql`ts_rank(passages.search, (SELECT ${each.wanted} FROM queries)) AS ${each.rank}`,
  );
  const weights = columns.map((each) => {
    const having = sql`count(nullif(${each.rank}, 0))`;
    return sql`ln(1 + (count(*) - ${having} + 0.5::float8) / (${having} + 0.5::float8)) AS ${each.weight}`;
  });
  const score = columns.map((each) => sql`${each.rank} * (SELECT ${each.weight} FROM weights)`);
  return sql`WITH queries AS MATERIALIZED (
      SELECT ${inLanguage(words.join(' or '))} && ${inLanguage(excluded)} AS any_word, ${sql.join(wanted)}
    ), candidates AS MATERIALIZED (
      SELECT passages.document_id, passages.position, ${sql.join(ranks)} FROM ${documentPassages} passages
      WHERE ${isIn(scope)} AND passages.language = ${language}
        AND passages.search @@ (SELECT any_word FROM queries)
    ), weights AS MATERIALIZED (
      SELECT ${sql.join(weights)} FROM candidates
    )
    SELECT document_id, position, ${sql.join(score, ' + ')} AS score FROM candidates
    ORDER BY score DESC, document_id DESC, position LIMIT ${limit}`;
}

/** Pads to 1, 2, 4, 8, 16 or 32 words, to keep the number of prepared statements small. An empty word matches nothing. */
function padded(words: readonly string[]): string[] {
  const length = 2 ** Math.ceil(Math.log2(words.length));
  return Array.from({ length }, (_, at) => words[at] ?? '');
}
