import { eq, type SQL, sql } from 'drizzle-orm';
import type { Executor } from '../../db/pool.ts';
import { fuseRanks } from './fuse-ranks.ts';
import type { PassageKey, PassageMeaning } from './passage-meaning.ts';
import { isRead, mayRead, type Reader } from './read.ts';
import { readSearchQuery, type SearchQuery } from './search-query.ts';
import { snippetOf } from './snippet.ts';
import { documents, notebooks } from './tables.ts';

type Hit = {
  notebookId: string;
  documentId: string;
  title: string;
  /** Which passage of the document it is, from 0. */
  position: number;
  text: string;
  snippet: string;
};

/** The passages that answer a query best, best first: by words, and with `meaning` also by what they mean. */
export async function searchNotebooks(
  db: Executor,
  { query, limit, ...reader }: Reader & { query: string; limit: number },
  meaning: PassageMeaning | null = null,
): Promise<Hit[]> {
  const wanted = readSearchQuery(query);
  if (wanted.words.length === 0) return [];
  const scope = await findScope(db, reader, wanted);
  if (scope.languages.length === 0) return [];
  const ranked = meaning
    ? await rankByBoth(db, meaning, scope, wanted, limit)
    : await rankByWords(db, scope, wanted, limit);
  return loadHits(db, ranked, wanted.words);
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
  const near = scope.hasContent ? await meaning.rank(scope.readableIds, query.words.join(' '), depth) : [];
  const byMeaning = query.excluded === '' ? near : await withoutExcluded(db, near, query.excluded);
  const keys = new Map([...byWords, ...byMeaning].map((key) => [nameOf(key), key]));
  const fused = fuseRanks([byWords.map(nameOf), byMeaning.map(nameOf)]);
  return fused.slice(0, limit).map((name) => keys.get(name) as PassageKey);
}

async function withoutExcluded(db: Executor, keys: readonly PassageKey[], excluded: string): Promise<PassageKey[]> {
  const { rows } = await db.execute<PassageKey>(sql`
    SELECT document_id, position FROM ${ranks(keys)}
    JOIN document_passages passages USING (document_id, position)
    WHERE passages.search @@ websearch_to_tsquery(passages.language::regconfig, ${excluded})
    ORDER BY ranked.rank`);
  return rows;
}

/** What the reader may read, and the languages it is written in. */
type Scope = {
  notebookIds: string[];
  languages: string[];
  /** Documents that vectors may be made of: the model reads English, and short English texts are of no language. */
  readableIds: string[];
  /** Documents of these notebooks that belong to other revisions of them: few, since only versions keep any. */
  otherIds: string[];
  /** Whether the query has words that are no stop words of English. */
  hasContent: boolean;
};

async function findScope(db: Executor, reader: Reader, { words }: SearchQuery): Promise<Scope> {
  const [found] = await db
    .select({
      notebookIds: sql<string[] | null>`array_agg(DISTINCT ${notebooks.id})`,
      languages: sql<string[] | null>`array_agg(DISTINCT ${documents.language}) FILTER (WHERE ${isRead(reader)})`,
      readableIds: sql<string[] | null>`array_agg(${documents.id} ORDER BY ${documents.id})
        FILTER (WHERE ${isRead(reader)} AND ${documents.language} IN ('english', 'simple'))`,
      otherIds: sql<string[] | null>`array_agg(${documents.id}) FILTER (WHERE NOT ${isRead(reader)})`,
      hasContent: sql<boolean>`numnode(websearch_to_tsquery('english', ${words.join(' ')})) > 0`,
    })
    .from(notebooks)
    .innerJoin(documents, eq(documents.notebook_id, notebooks.id))
    .where(mayRead(reader));
  return {
    notebookIds: found?.notebookIds ?? [],
    languages: found?.languages ?? [],
    readableIds: found?.readableIds ?? [],
    otherIds: found?.otherIds ?? [],
    hasContent: found?.hasContent ?? false,
  };
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

/**
 * By how close the words stand together. Measuring that costs thirty times what counting them does, so it is done for
 * the passages that have them most often.
 */
async function rankByWholeQuery(db: Executor, scope: Scope, query: SearchQuery, limit: number): Promise<PassageKey[]> {
  const found = await db.execute<PassageKey>(sql`
    WITH ${queriesIn(scope, query, [sql`${asQuery(query.whole)} AS whole`])}, candidates AS MATERIALIZED (
      SELECT passages.document_id, passages.position, passages.search, queries.whole
      FROM queries JOIN document_passages passages ON ${isIn(scope)} AND passages.search @@ queries.whole
      ORDER BY ts_rank(passages.search, queries.any_word) DESC, passages.document_id DESC, passages.position
      LIMIT ${limit + 100}
    )
    SELECT document_id, position FROM candidates
    ORDER BY ts_rank_cd(search, whole, 1) DESC, document_id DESC, position
    LIMIT ${limit}`);
  return found.rows;
}

/**
 * Each word counts by how often it occurs in the passage and how rare it is among the passages found in its language:
 * a question in plain words holds many that say nothing, and `ts_rank` alone would give them the same weight. One
 * column per word, since an array would have to be taken apart for each of some thousand passages.
 */
async function rankBySomeWords(db: Executor, scope: Scope, query: SearchQuery, limit: number): Promise<PassageKey[]> {
  const columns = query.words.map((word, at) => ({
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
  const found = await db.execute<PassageKey>(sql`
    WITH ${queriesIn(scope, query, [excluded, ...wanted])}, candidates AS MATERIALIZED (
      SELECT passages.document_id, passages.position, passages.language, ${sql.join(ranks, sql`, `)}
      FROM queries JOIN document_passages passages ON ${isIn(scope)}
        AND passages.search @@ (queries.any_word && queries.excluded)
    ), weights AS (
      SELECT language, ${sql.join(weights, sql`, `)} FROM candidates GROUP BY language
    )
    SELECT document_id, position FROM candidates JOIN weights USING (language)
    ORDER BY ${sql.join(score, sql` + `)} DESC, document_id DESC, position
    LIMIT ${limit}`);
  return found.rows;
}

/**
 * The query in each language of the scope. Materialized, or it would be parsed again for each passage. A language in
 * which it has nothing but stop words is left out: what remains, such as `-word`, would find almost everything.
 */
function queriesIn(scope: Scope, query: SearchQuery, columns: SQL[]): SQL {
  const anyWord = asQuery(query.words.join(' or '));
  return sql`queries AS MATERIALIZED (
    SELECT language, ${anyWord} AS any_word, ${sql.join(columns, sql`, `)}
    FROM unnest(${sql.param(scope.languages)}::text[]) AS languages (language)
    WHERE numnode(${anyWord}) > 0
  )`;
}

const asQuery = (text: string) => sql`websearch_to_tsquery(language::regconfig, ${text})`;

const isIn = (scope: Scope) => sql`
  ARRAY[passages.notebook_id] && ${sql.param(scope.notebookIds)}::text[] AND passages.language = queries.language
  ${scope.otherIds.length === 0 ? sql`` : sql`AND passages.document_id <> ALL (${sql.param(scope.otherIds)}::text[])`}`;

async function loadHits(db: Executor, ranked: readonly PassageKey[], words: readonly string[]): Promise<Hit[]> {
  const found = await db.execute<{ notebook_id: string; title: string; text: string } & PassageKey>(sql`
    SELECT documents.notebook_id, documents.id AS document_id, documents.title, passages.position, passages.text
    FROM ${ranks(ranked)}
    JOIN document_passages passages USING (document_id, position)
    JOIN documents ON documents.id = document_id
    ORDER BY ranked.rank`);
  return found.rows.map(({ notebook_id, document_id, title, position, text }) => ({
    notebookId: notebook_id,
    documentId: document_id,
    title,
    position,
    text,
    snippet: snippetOf(text, words),
  }));
}

const ranks = (keys: readonly PassageKey[]) => sql`unnest(${sql.param(keys.map((key) => key.document_id))}::text[],
  ${sql.param(keys.map((key) => key.position))}::int[]) WITH ORDINALITY AS ranked (document_id, position, rank)`;
