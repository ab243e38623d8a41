import { and, desc, eq, inArray, isNull, lt, ne, or, type SQL, sql } from 'drizzle-orm';
import type { Tenant } from '../../caller.ts';
import type { Executor, Transaction } from '../../db/pool.ts';
import { runPrepared } from '../../db/prepared.ts';
import { indexedText } from '../notebooks/api.ts';
import { fingerprintOf, type NewFact, type Owner } from './fact.ts';
import { mostOfKind } from './profile.ts';
import { type FactRow, memories, type ProfileRow, profiles } from './tables.ts';

type Owned = typeof memories | typeof profiles;

const owned = (table: Owned, { orgId, mode, userId }: Owner): SQL | undefined =>
  and(
    eq(table.org_id, orgId),
    eq(table.mode, mode),
    userId === null ? isNull(table.user_id) : eq(table.user_id, userId),
  );

const shown = {
  id: memories.id,
  text: memories.text,
  kind: memories.kind,
  source: memories.source,
  observed_at: memories.observed_at,
};

/** Held until the commit, so that the profile is made of every fact and the limit counts them all. */
export async function lockMemory(tx: Transaction, { orgId, mode, userId }: Owner): Promise<void> {
  const name = JSON.stringify(['memory', orgId, mode, userId]);
  await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`);
}

export function listFacts(
  db: Executor,
  owner: Owner,
  page: { limit: number; after: readonly string[] | null },
): Promise<FactRow[]> {
  const [observedAt, id] = page.after ?? [];
  const after =
    observedAt !== undefined && id !== undefined
      ? or(
          lt(memories.observed_at, new Date(observedAt)),
          and(eq(memories.observed_at, new Date(observedAt)), lt(memories.id, id)),
        )
      : undefined;
  return db
    .select(shown)
    .from(memories)
    .where(and(owned(memories, owner), after))
    .orderBy(desc(memories.observed_at), desc(memories.id))
    .limit(page.limit + 1);
}

export type StoredVector = Pick<typeof memories.$inferInsert, 'vector' | 'vector_model'>;

/** A fact that is known already is seen again: it takes the newest words, and what a person said stays said by them. */
export async function upsertFact(
  tx: Transaction,
  { orgId, mode, userId }: Owner,
  id: string,
  { text, kind, source }: NewFact,
  vector: StoredVector,
): Promise<FactRow> {
  const search = sql`to_tsvector('english', ${indexedText(text)})`;
  // A millisecond is as fine as a cursor can tell moments apart.
  const observedAt = new Date();
  const [row] = await tx
    .insert(memories)
    .values({
      org_id: orgId,
      mode,
      id,
      user_id: userId,
      text,
      kind,
      source,
      fingerprint: fingerprintOf(text),
      search,
      ...vector,
      observed_at: observedAt,
    })
    .onConflictDoUpdate({
      target: [memories.org_id, memories.mode, memories.user_id, memories.fingerprint],
      set: {
        text,
        // Whoever says it again without saying what it is takes nothing back.
        kind: kind === 'other' ? sql`${memories.kind}` : kind,
        source: sql`CASE WHEN ${memories.source} = 'user_direct' THEN 'user_direct' ELSE ${source} END`,
        search,
        ...vector,
        observed_at: observedAt,
      },
    })
    .returning(shown);
  return row as FactRow;
}

export async function isKnown(tx: Executor, owner: Owner, text: string): Promise<boolean> {
  const [row] = await tx
    .select({ id: memories.id })
    .from(memories)
    .where(and(owned(memories, owner), eq(memories.fingerprint, fingerprintOf(text))));
  return row !== undefined;
}

const count = {
  name: 'count_facts',
  text: `SELECT count(*) AS count FROM memories WHERE org_id = $1 AND mode = $2 AND user_id IS NOT DISTINCT FROM $3`,
};

/** Asked before every reply. */
export async function countFacts(db: Executor, { orgId, mode, userId }: Owner): Promise<number> {
  const [row] = await runPrepared<{ count: string }>(db, count, [orgId, mode, userId]);
  return Number(row?.count ?? 0);
}

/** The oldest of those that nobody said themselves. */
export async function deleteOldestInferred(tx: Transaction, owner: Owner, count: number): Promise<number> {
  const oldest = tx
    .select({ id: memories.id })
    .from(memories)
    .where(and(owned(memories, owner), ne(memories.source, 'user_direct')))
    .orderBy(memories.observed_at, memories.id)
    .limit(count);
  return (await deleteFacts(tx, owner, inArray(memories.id, oldest))).length;
}

export async function deleteFactsOf(tx: Transaction, owner: Owner, ids?: readonly string[]): Promise<string[]> {
  return deleteFacts(tx, owner, ids && inArray(memories.id, [...ids]));
}

async function deleteFacts(tx: Transaction, owner: Owner, which: SQL | undefined): Promise<string[]> {
  const gone = await tx
    .delete(memories)
    .where(and(owned(memories, owner), which))
    .returning({ id: memories.id });
  return gone.map(({ id }) => id);
}

/** The newest facts of each kind, the newest first. */
export async function newestOfEachKind(db: Executor, owner: Owner): Promise<FactRow[]> {
  const ranked = db
    .select({
      ...shown,
      place: sql<number>`row_number() OVER (PARTITION BY ${memories.kind}
        ORDER BY ${memories.observed_at} DESC, ${memories.id} DESC)`.as('place'),
    })
    .from(memories)
    .where(owned(memories, owner))
    .as('ranked');
  return db
    .select({
      id: ranked.id,
      text: ranked.text,
      kind: ranked.kind,
      source: ranked.source,
      observed_at: ranked.observed_at,
    })
    .from(ranked)
    .where(sql`${ranked.place} <= ${mostOfKind}`)
    .orderBy(desc(ranked.observed_at), desc(ranked.id));
}

export async function findProfile(db: Executor, owner: Owner): Promise<ProfileRow | undefined> {
  const [row] = await db
    .select({ markdown: profiles.markdown, updated_at: profiles.updated_at })
    .from(profiles)
    .where(owned(profiles, owner));
  return row;
}

export async function replaceProfile(tx: Transaction, owner: Owner, markdown: string | null): Promise<void> {
  if (markdown === null) {
    await tx.delete(profiles).where(owned(profiles, owner));
    return;
  }
  const { orgId, mode, userId } = owner;
  const updatedAt = new Date();
  await tx
    .insert(profiles)
    .values({ org_id: orgId, mode, user_id: userId, markdown, updated_at: updatedAt })
    .onConflictDoUpdate({
      target: [profiles.org_id, profiles.mode, profiles.user_id],
      set: { markdown, updated_at: updatedAt },
      setWhere: ne(profiles.markdown, markdown),
    });
}

export type Candidate = {
  id: string;
  /** The stems of the fact's words, with spaces between. */
  words: string;
  vector: Buffer | null;
  vector_model: string | null;
};

/** Every fact of the owner with what a search needs to rank it, the newest first. */
export function candidatesOf(db: Executor, owner: Owner): Promise<Candidate[]> {
  return db
    .select({
      id: memories.id,
      // Put together in SQL to one text: taking two thousand arrays apart would take most of the time of a search.
      words: sql<string>`array_to_string(tsvector_to_array(${memories.search}), ' ')`,
      vector: memories.vector,
      vector_model: memories.vector_model,
    })
    .from(memories)
    .where(owned(memories, owner))
    .orderBy(desc(memories.observed_at), desc(memories.id));
}

/** The words of a query as the facts have theirs. */
export async function stemsOf(db: Executor, query: string): Promise<string[]> {
  const { rows } = await db.execute<{ stems: string[] }>(
    sql`SELECT tsvector_to_array(to_tsvector('english', ${indexedText(query)})) AS stems`,
  );
  return rows[0]?.stems ?? [];
}

/** In the order of the ids; those that are gone meanwhile are left out. */
export async function loadFacts(db: Executor, owner: Owner, ids: readonly string[]): Promise<FactRow[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .select(shown)
    .from(memories)
    .where(and(owned(memories, owner), inArray(memories.id, [...ids])));
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** Only where the text is still the one that the vector was made of. */
export async function storeVector(
  db: Executor,
  owner: Owner,
  fact: { id: string; text: string },
  vector: StoredVector,
): Promise<void> {
  await db
    .update(memories)
    .set(vector)
    .where(and(owned(memories, owner), eq(memories.id, fact.id), eq(memories.text, fact.text)));
}

/** Answers the ids of the facts that were kept here. */
export async function eraseMemoriesOf(tx: Executor, tenant: Tenant, userId: string): Promise<string[]> {
  const facts = await tx
    .delete(memories)
    .where(owned(memories, { ...tenant, userId }))
    .returning({ id: memories.id });
  await tx.delete(profiles).where(owned(profiles, { ...tenant, userId }));
  return facts.map(({ id }) => id);
}
