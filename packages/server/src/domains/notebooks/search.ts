import { sql } from 'drizzle-orm';
import type { Executor } from '../../db/pool.ts';
import { readSearchQuery, type SearchQuery } from './search-query.ts';
import { snippetOf } from './snippet.ts';

/** Whose agent looks, and into which notebooks of its version. */
export type Reader = {
  orgId: string;
  notebookIds: readonly string[];
  /** Null for the org's own agent: it reads what every user may. */
  userId: string | null;
};

export type Hit = {
  notebookId: string;
  documentId: string;
  title: string;
  /** Which passage of the document it is, from 0. */
  position: number;
  text: string;
  snippet: string;
};

type PassageKey = { document_id: string; position: number };

/** The passages that answer a query best, best first. */
export async function searchNotebooks(
  db: Executor,
  { query, limit, ...reader }: Reader & { query: string; limit: number },
): Promise<Hit[]> {
  const wanted = readSearchQuery(query);
  if (wanted.words.length === 0) return [];
  const scope = await findScope(db, reader);
  if (scope.languages.length === 0) return [];
  const ranked = await rankByWords(db, scope, wanted, limit);
  return loadHits(db, ranked, wanted.words);
}

/** What the reader may read, and the languages it is written in. */
type Scope = { notebookIds: string[]; languages: string[] };

async function findScope(db: Executor, { orgId, notebookIds, userId }: Reader): Promise<Scope> {
  const found = await db.execute<{ notebook_ids: string[] | null; languages: string[] | null }>(sql`
    SELECT array_agg(DISTINCT notebooks.id) AS notebook_ids, array_agg(DISTINCT documents.language) AS languages
    FROM notebooks JOIN documents ON documents.notebook_id = notebooks.id
    WHERE notebooks.org_id = ${orgId} AND notebooks.id = ANY(${sql.param([...notebookIds])}::text[])
      AND (notebooks.reader_ids IS NULL OR ${userId}::text = ANY(notebooks.reader_ids))`);
  const [row] = found.rows;
  return { notebookIds: row?.notebook_ids ?? [], languages: row?.languages ?? [] };
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

async function rankByWholeQuery(db: Executor, scope: Scope, query: SearchQuery, limit: number): Promise<PassageKey[]> {
  const found = await db.execute<PassageKey>(sql`
    SELECT passages.document_id, passages.position
    FROM unnest(${sql.param(scope.languages)}::text[]) AS languages (language)
    CROSS JOIN LATERAL websearch_to_tsquery(languages.language::regconfig, ${query.whole}) AS wanted
    JOIN document_passages passages ON ARRAY[passages.notebook_id] && ${sql.param(scope.notebookIds)}::text[]
      AND passages.search @@ wanted AND passages.language = languages.language
    ORDER BY ts_rank_cd(passages.search, wanted, 1) DESC, passages.document_id DESC, passages.position
    LIMIT ${limit}`);
  return found.rows;
}

/**
 * Each word counts by how often it occurs in the passage and how rare it is among the passages that were found: a
 * question in plain words holds many that say nothing, and `ts_rank` alone would give them the same weight.
 */
async function rankBySomeWords(db: Executor, scope: Scope, query: SearchQuery, limit: number): Promise<PassageKey[]> {
  const found = await db.execute<PassageKey>(sql`
    WITH candidates AS MATERIALIZED (
      SELECT passages.document_id, passages.position, ARRAY(
        SELECT ts_rank(passages.search, words.wanted) FROM unnest(queries.words) WITH ORDINALITY AS words (wanted, number)
        ORDER BY words.number) AS ranks
      FROM unnest(${sql.param(scope.languages)}::text[]) AS languages (language)
      CROSS JOIN LATERAL (
        SELECT websearch_to_tsquery(languages.language::regconfig, ${query.words.join(' or ')})
            && websearch_to_tsquery(languages.language::regconfig, ${query.excluded}) AS some,
          ARRAY(
            SELECT websearch_to_tsquery(languages.language::regconfig, given.word)
            FROM unnest(${sql.param(query.words)}::text[]) WITH ORDINALITY AS given (word, number)
            ORDER BY given.number) AS words
      ) AS queries
      JOIN document_passages passages ON ARRAY[passages.notebook_id] && ${sql.param(scope.notebookIds)}::text[]
        AND passages.search @@ queries.some AND passages.language = languages.language
    ), weights AS (
      SELECT number, ln(1 + (total.passages - count(*) + 0.5) / (count(*) + 0.5)) AS weight
      FROM (SELECT count(*) AS passages FROM candidates) AS total, candidates,
        unnest(candidates.ranks) WITH ORDINALITY AS ranks (rank, number)
      WHERE ranks.rank > 0
      GROUP BY number, total.passages
    )
    SELECT candidates.document_id, candidates.position
    FROM candidates, unnest(candidates.ranks) WITH ORDINALITY AS ranks (rank, number) JOIN weights USING (number)
    GROUP BY candidates.document_id, candidates.position
    ORDER BY sum(ranks.rank * weights.weight) DESC, candidates.document_id DESC, candidates.position
    LIMIT ${limit}`);
  return found.rows;
}

async function loadHits(db: Executor, ranked: readonly PassageKey[], words: readonly string[]): Promise<Hit[]> {
  const found = await db.execute<{ notebook_id: string; title: string; text: string } & PassageKey>(sql`
    SELECT documents.notebook_id, documents.id AS document_id, documents.title, passages.position, passages.text
    FROM unnest(${sql.param(ranked.map((key) => key.document_id))}::text[],
      ${sql.param(ranked.map((key) => key.position))}::int[]) WITH ORDINALITY AS ranked (document_id, position, rank)
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
