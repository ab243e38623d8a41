import { indexedText } from '../../agents/notebooks/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { insertMany, maybeOne, one, rowsOf, run, update } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { bytes, count, type RowOf, text, textArray } from '../../platform/db/table.ts';
import { deletions, type FactRow, memories, type ProfileRow, profiles } from '../tables.ts';
import { asLine, fingerprintOf, type NewFact, type Owner } from './fact.ts';

const owned = ({ orgId, mode, userId }: Owner): Sql =>
  sql`org_id = ${orgId} AND mode = ${mode} AND ${userId === null ? sql`user_id IS NULL` : sql`user_id = ${userId}`}`;

const shown = (({ id, text, kind, source, observed_at }) => ({ id, text, kind, source, observed_at }))(
  memories.columns,
);
const shownColumns = sql`id, text, kind, source, observed_at`;

/** Locks a memory until the commit, so that the profile and the limit include every fact. */
export async function lockMemory(tx: Transaction, { orgId, mode, userId }: Owner): Promise<void> {
  const name = JSON.stringify(['memory', orgId, mode, userId]);
  await run(tx, sql`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`);
}

/** The time of the owner's last deletion, to the millisecond. Null: never. */
export async function findDeletion(db: Executor, owner: Owner): Promise<Date | null> {
  const { deleted_at } = deletions.columns;
  const row = await maybeOne(db, { deleted_at }, sql`SELECT deleted_at FROM ${deletions} WHERE ${owned(owner)}`);
  return row?.deleted_at ?? null;
}

/** The caller must hold the lock of the memory. Each deletion gets a distinct time, so that a writer can detect it. */
export async function noteDeletion(tx: Transaction, { orgId, mode, userId }: Owner): Promise<void> {
  await run(
    tx,
    sql`INSERT INTO ${deletions} AS known (org_id, mode, user_id, deleted_at)
        VALUES (${orgId}, ${mode}, ${userId}, date_trunc('milliseconds', clock_timestamp()))
        ON CONFLICT (org_id, mode, user_id) DO UPDATE
          SET deleted_at = GREATEST(excluded.deleted_at, known.deleted_at + interval '1 millisecond')`,
  );
}

export function listFacts(
  db: Executor,
  owner: Owner,
  page: { limit: number; after: readonly string[] | null },
): Promise<FactRow[]> {
  const [observedAt, id] = page.after ?? [];
  const after =
    observedAt !== undefined && id !== undefined && sql`(observed_at, id) < (${new Date(observedAt)}, ${id})`;
  return rowsOf(
    db,
    shown,
    sql`SELECT ${shownColumns} FROM ${memories} WHERE ${sql.and(owned(owner), after)}
        ORDER BY observed_at DESC, id DESC LIMIT ${page.limit + 1}`,
  );
}

export type StoredVector = Pick<RowOf<typeof memories>, 'vector' | 'vector_model'>;

/** Inserts a fact or updates a known one. It takes the new words, but `user_direct` stays the source. */
export function upsertFact(
  tx: Transaction,
  { orgId, mode, userId }: Owner,
  id: string,
  fact: NewFact,
  { vector, vector_model }: StoredVector,
): Promise<FactRow> {
  // Use whole milliseconds: cursors have no finer resolution.
  const observedAt = new Date();
  // The kind `other` carries no information, so it does not replace a known kind.
  return one(
    tx,
    shown,
    sql`
      INSERT INTO ${memories} AS known
        (org_id, mode, id, user_id, text, kind, source, fingerprint, search, vector, vector_model, observed_at)
      VALUES (
        ${orgId}, ${mode}, ${id}, ${userId}, ${fact.text}, ${fact.kind}, ${fact.source}, ${fingerprintOf(fact.text)},
        to_tsvector('english', ${indexedText(fact.text)}), ${vector}, ${vector_model}, ${observedAt})
      ON CONFLICT (org_id, mode, user_id, fingerprint) DO UPDATE SET
        text = excluded.text,
        kind = CASE WHEN excluded.kind = 'other' THEN known.kind ELSE excluded.kind END,
        source = CASE WHEN known.source = 'user_direct' THEN 'user_direct' ELSE excluded.source END,
        search = excluded.search,
        vector = excluded.vector,
        vector_model = excluded.vector_model,
        observed_at = excluded.observed_at
      RETURNING ${shownColumns}`,
  );
}

export async function isKnown(tx: Executor, owner: Owner, fact: string): Promise<boolean> {
  const known = await run(
    tx,
    sql`SELECT FROM ${memories} WHERE ${owned(owner)} AND fingerprint = ${fingerprintOf(fact)}`,
  );
  return known > 0;
}

export async function countFacts(db: Executor, owner: Owner): Promise<number> {
  const { total } = await one(
    db,
    { total: count() },
    sql`SELECT count(*) AS total FROM ${memories} WHERE ${owned(owner)}`,
  );
  return total;
}

/** Deletes the oldest facts that the user did not state directly. Returns their number. */
export function deleteOldestInferred(tx: Transaction, owner: Owner, most: number): Promise<number> {
  return run(
    tx,
    sql`
      DELETE FROM ${memories} WHERE ${owned(owner)} AND id IN (
        SELECT id FROM ${memories} WHERE ${owned(owner)} AND source <> 'user_direct' ORDER BY observed_at, id LIMIT ${most})`,
  );
}

/** Deletes these facts, or all facts if there are no ids. Returns the deleted ids. */
export async function deleteFactsOf(tx: Executor, owner: Owner, ids?: readonly string[]): Promise<string[]> {
  const gone = await rowsOf(
    tx,
    { id: text() },
    sql`DELETE FROM ${memories} WHERE ${sql.and(owned(owner), ids && sql`id = ANY(${ids})`)} RETURNING id`,
  );
  return gone.map(({ id }) => id);
}

/** The newest facts of each kind, newest first. */
export function newestOfEachKind(db: Executor, owner: Owner): Promise<FactRow[]> {
  return rowsOf(
    db,
    shown,
    sql`
      SELECT ${shownColumns} FROM (
        SELECT ${shownColumns}, row_number() OVER (PARTITION BY kind ORDER BY observed_at DESC, id DESC) AS place
        FROM ${memories} WHERE ${owned(owner)}) ranked
      WHERE place <= ${maxFactsPerKind} ORDER BY observed_at DESC, id DESC`,
  );
}

export function findProfile(db: Executor, owner: Owner): Promise<ProfileRow | undefined> {
  const { markdown, updated_at } = profiles.columns;
  return maybeOne(
    db,
    { markdown, updated_at },
    sql`SELECT markdown, updated_at FROM ${profiles} WHERE ${owned(owner)}`,
  );
}

export async function replaceProfile(tx: Transaction, owner: Owner, markdown: string | null): Promise<void> {
  if (markdown === null) return deleteProfile(tx, owner);
  const { orgId, mode, userId } = owner;
  await insertMany(tx, profiles, [{ org_id: orgId, mode, user_id: userId, markdown, updated_at: new Date() }], {
    onConflict: sql`(org_id, mode, user_id) DO UPDATE SET markdown = excluded.markdown, updated_at = excluded.updated_at
        WHERE ${profiles}.markdown <> excluded.markdown`,
  });
}

async function deleteProfile(tx: Executor, owner: Owner): Promise<void> {
  await run(tx, sql`DELETE FROM ${profiles} WHERE ${owned(owner)}`);
}

/** The facts of an owner with their vectors of one model. */
export type FactVectors = {
  /** Changes with every fact that is added, changed or deleted. */
  stamp: string;
  /** The ids of all facts, newest first. */
  ids: string[];
  /** The vectors, in the order of `ids`. */
  vectors: Buffer;
  /** The bytes of each fact in `vectors`. 0 if the model cannot read the fact, or has not embedded it yet. */
  sizes: number[];
  /** The newest facts that the model has not embedded yet. */
  bareIds: string[];
};

/**
 * Reads the vectors of all facts of the owner, or null if they still have the stamp `known`. Vectors of another model are
 * left out, because they are not comparable. One row with joined texts: two thousand rows would take three times as long.
 */
export async function loadVectorsOfFacts(
  db: Executor,
  owner: Owner,
  { model, maxBare, known }: { model: string; maxBare: number; known: string },
): Promise<FactVectors | null> {
  const { stamp, ids, vectors, sizes, bare } = await one(
    db,
    {
      ...{ stamp: text(), ids: text().nullable(), vectors: bytes().nullable() },
      ...{ sizes: text().nullable(), bare: text().nullable() },
    },
    sql`
      SELECT stamp, CASE WHEN stamp <> ${known} THEN ids END AS ids,
        CASE WHEN stamp <> ${known} THEN vectors END AS vectors, CASE WHEN stamp <> ${known} THEN sizes END AS sizes, bare
      FROM (
        SELECT coalesce(md5(string_agg(id || ' ' || version, ' ')), 'none') AS stamp,
          string_agg(id, ' ') AS ids, string_agg(vector, '') AS vectors,
          string_agg(coalesce(length(vector), 0)::text, ' ') AS sizes,
          array_to_string((array_agg(id) FILTER (WHERE is_bare))[1:${maxBare}], ' ') AS bare
        FROM (
          SELECT id, xmin::text AS version, CASE WHEN vector_model = ${model} THEN vector END AS vector,
            vector_model IS DISTINCT FROM ${model} AS is_bare
          FROM ${memories} WHERE ${owned(owner)} ORDER BY observed_at DESC, id DESC) newest) joined`,
  );
  if (stamp === known) return null;
  return {
    stamp,
    ids: ids?.split(' ') ?? [],
    vectors: vectors ?? Buffer.alloc(0),
    sizes: sizes?.split(' ').map(Number) ?? [],
    bareIds: bare ? bare.split(' ') : [],
  };
}

/** Returns the stems of each fact that has at least one of the given stems. One row, because many facts may have one. */
export async function factsWithStems(
  db: Executor,
  owner: Owner,
  stems: readonly string[],
): Promise<{ id: string; words: string[] }[]> {
  if (stems.length === 0) return [];
  const { found } = await one(
    db,
    { found: text().nullable() },
    sql`SELECT string_agg(id || ' ' || array_to_string(tsvector_to_array(search), ' '), E'\n') AS found FROM ${memories}
        WHERE ${owned(owner)} AND search @@ ${stems.map(quotedStem).join(' | ')}::tsquery`,
  );
  const lines = found?.split('\n') ?? [];
  return lines.map((line) => {
    const [id = '', ...words] = line.split(' ');
    return { id, words };
  });
}

const quotedStem = (stem: string) => `'${stem.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;

/** The stems of a query's words, like those of the facts. */
export async function stemsOf(db: Executor, query: string): Promise<string[]> {
  const { stems } = await one(
    db,
    { stems: textArray() },
    sql`SELECT tsvector_to_array(to_tsvector('english', ${indexedText(query)})) AS stems`,
  );
  return stems;
}

/** In the order of the ids, without facts that were deleted meanwhile. */
export async function loadFacts(db: Executor, owner: Owner, ids: readonly string[]): Promise<FactRow[]> {
  if (ids.length === 0) return [];
  const rows = await rowsOf(
    db,
    shown,
    sql`SELECT ${shownColumns} FROM ${memories} WHERE ${owned(owner)} AND id = ANY(${ids})`,
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** Stores a vector only if the text has not changed since it was embedded. */
export async function storeVector(
  db: Executor,
  owner: Owner,
  fact: { id: string; text: string },
  vector: StoredVector,
): Promise<void> {
  await update(db, memories, vector, sql`${owned(owner)} AND id = ${fact.id} AND text = ${fact.text}`);
}

type FactOfOwner = { owner: Owner; id: string; text: string };

/**
 * Lists facts of all orgs without a vector of this model, always in the same order. Three ordered ranges, because no index
 * finds what is different, and without an order PostgreSQL would read the whole table each time.
 */
export async function factsOfOtherModels(
  db: Executor,
  model: string,
  { skip, limit }: { skip: number; limit: number },
): Promise<FactOfOwner[]> {
  const { org_id, mode, user_id, id, text } = memories.columns;
  const others = (condition: Sql) => sql`(
    SELECT org_id, mode, user_id, id, text FROM ${memories} WHERE ${condition}
    ORDER BY vector_model LIMIT ${skip + limit})`;
  const rows = await rowsOf(
    db,
    { org_id, mode, user_id, id, text },
    sql`${others(sql`vector_model < ${model}`)} UNION ALL ${others(sql`vector_model > ${model}`)}
        UNION ALL ${others(sql`vector_model IS NULL`)} OFFSET ${skip} LIMIT ${limit}`,
  );
  return rows.map((row) => ({
    owner: { orgId: row.org_id, mode: row.mode, userId: row.user_id },
    id: row.id,
    text: row.text,
  }));
}

/**
 * Returns the ids of the deleted facts. Waits for a fact that is being sent to the org's endpoint. So the `delete_all`
 * that follows is the last request about the user.
 */
export async function eraseMemoriesOf(tx: Transaction, tenant: Tenant, userId: string): Promise<string[]> {
  await lockMemory(tx, { ...tenant, userId });
  const facts = await deleteFactsOf(tx, { ...tenant, userId });
  await deleteProfile(tx, { ...tenant, userId });
  return facts;
}

const headings: Record<FactRow['kind'], string> = {
  identity: 'Who they are',
  relationship: 'People around them',
  preference: 'What they prefer',
  commitment: 'What was promised',
  project_state: 'What they are working on',
  other: 'Also known',
};

/** The kinds, the most important for an agent first. */
export const kindsInOrder = Object.keys(headings) as FactRow['kind'][];

/** The number of facts per kind in a profile. */
const maxFactsPerKind = 6;

/**
 * The profile as Markdown, from the newest facts of each kind. It uses only stored facts, so deleted facts disappear
 * from it.
 */
export function profileOf(facts: readonly Pick<FactRow, 'text' | 'kind'>[]): string | null {
  const sections = kindsInOrder.flatMap((kind) => {
    const lines = facts.filter((fact) => fact.kind === kind).slice(0, maxFactsPerKind);
    return lines.length > 0
      ? [`## ${headings[kind]}\n\n${lines.map(({ text }) => `- ${asLine(text)}`).join('\n')}`]
      : [];
  });
  return sections.length > 0 ? sections.join('\n\n') : null;
}
