import { and, eq, sql } from 'drizzle-orm';
import type { Tenant } from '../../caller.ts';
import type { Executor, Transaction } from '../../db/pool.ts';
import { computerPreparations, computers } from './tables.ts';

/** Whose computer it is; null: the org's own agent's. */
export type Owner = Tenant & { userId: string | null };

type Lease = { holder: string; leaseMs: number };

const keyed = ({ orgId, mode, userId }: Owner) =>
  sql`org_id = ${orgId} AND mode = ${mode} AND user_key = ${userId ?? ''}`;

const ownedBy = ({ orgId, mode, userId }: Owner) =>
  and(eq(computers.org_id, orgId), eq(computers.mode, mode), eq(computers.user_key, userId ?? ''));

/**
 * Makes this process the one on which the computer is awake, and the computer itself where there is none yet. Null:
 * another process holds it, or its user is being erased.
 */
export async function holdComputer(
  db: Executor,
  { orgId, mode, userId }: Owner,
  { holder, leaseMs }: Lease,
): Promise<{ number: number; keepUntil: Date | null } | null> {
  const { rows } = await db.execute<{ number: string; keep_until: Date | string | null }>(sql`
    INSERT INTO computers AS c (org_id, mode, user_key, held_by, held_until)
    SELECT ${orgId}, ${mode}, ${userId ?? ''}, ${holder}, ${leaseEnd(leaseMs)}
    WHERE NOT EXISTS (
      SELECT FROM users WHERE org_id = ${orgId} AND mode = ${mode} AND id = ${userId ?? ''} AND erasing_since IS NOT NULL)
    ON CONFLICT (org_id, mode, user_key) DO UPDATE SET held_by = excluded.held_by, held_until = excluded.held_until
    WHERE c.held_by IS NULL OR c.held_by = excluded.held_by OR c.held_until < clock_timestamp()
    RETURNING number, keep_until`);
  const [row] = rows;
  return row ? { number: Number(row.number), keepUntil: dateOf(row.keep_until) } : null;
}

export async function isBeingErased(db: Executor, { orgId, mode, userId }: Owner): Promise<boolean> {
  const { rows } = await db.execute(sql`
    SELECT FROM users WHERE org_id = ${orgId} AND mode = ${mode} AND id = ${userId ?? ''} AND erasing_since IS NOT NULL`);
  return rows.length > 0;
}

/** Those of them that are still held, with how long each is to stay awake. */
export async function renewHolds(
  db: Executor,
  numbers: readonly number[],
  lease: Lease,
): Promise<Map<number, { keepUntil: Date | null }>> {
  const { rows } = await db.execute<{ number: string; keep_until: Date | string | null }>(sql`
    UPDATE computers SET held_until = ${leaseEnd(lease.leaseMs)}
    WHERE number = ANY(${sql.param([...numbers])}::bigint[]) AND held_by = ${lease.holder}
    RETURNING number, keep_until`);
  return new Map(rows.map(({ number, keep_until }) => [Number(number), { keepUntil: dateOf(keep_until) }]));
}

export async function releaseHold(db: Executor, number: number, holder: string): Promise<void> {
  await db.execute(sql`
    UPDATE computers SET held_by = NULL, held_until = NULL WHERE number = ${number} AND held_by = ${holder}`);
}

/** Takes a computer that nobody holds for good; nobody wakes it while it is taken apart. */
export async function seizeComputer(
  db: Executor,
  owner: Owner,
  { holder, leaseMs }: Lease,
): Promise<'seized' | 'held' | 'none'> {
  const { rows } = await db.execute<{ is_seized: boolean }>(sql`
    WITH seized AS (
      UPDATE computers SET held_by = ${holder}, held_until = ${leaseEnd(leaseMs)}
      WHERE ${keyed(owner)} AND (held_by IS NULL OR held_by = ${holder} OR held_until < clock_timestamp())
      RETURNING number)
    SELECT EXISTS (SELECT FROM seized) AS is_seized FROM computers WHERE ${keyed(owner)}`);
  const [row] = rows;
  if (!row) return 'none';
  return row.is_seized ? 'seized' : 'held';
}

export async function deleteComputer(db: Executor, owner: Owner): Promise<void> {
  await db.delete(computers).where(ownedBy(owner));
}

/** Also says whether any process holds it awake, and whether it is being woken beforehand. */
export async function findComputer(
  db: Executor,
  owner: Owner,
): Promise<{ number: number; isAwake: boolean; isWaking: boolean } | null> {
  const { rows } = await db.execute<{ number: string; is_awake: boolean; is_waking: boolean }>(sql`
    SELECT number, coalesce(held_until > clock_timestamp(), false) AS is_awake, coalesce(${isWaking}, false) AS is_waking
    FROM computers WHERE ${keyed(owner)}`);
  const [row] = rows;
  return row ? { number: Number(row.number), isAwake: row.is_awake, isWaking: row.is_waking } : null;
}

/** A minute is given to whoever is to wake it; after that it counts for as long as a living process is at it. */
const isWaking = sql`waking_since > clock_timestamp() - interval '1 minute'
  OR (waking_since IS NOT NULL AND held_until > clock_timestamp())`;

/** Of both modes. Held until the commit, so that of two that are counted at once one sees the other. */
export async function countWaking(tx: Transaction, { orgId, mode }: Tenant): Promise<number> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`waking computers of ${orgId} ${mode}`}, 0))`);
  const { rows } = await tx.execute<{ count: string }>(sql`
    SELECT count(*) FROM computers WHERE org_id = ${orgId} AND mode = ${mode} AND waking_since IS NOT NULL AND (${isWaking})`);
  return Number(rows[0]?.count ?? 0);
}

export async function beginWaking(tx: Transaction, { orgId, mode, userId }: Owner): Promise<void> {
  await tx.execute(sql`
    INSERT INTO computers (org_id, mode, user_key, waking_since)
    VALUES (${orgId}, ${mode}, ${userId ?? ''}, clock_timestamp())
    ON CONFLICT (org_id, mode, user_key) DO UPDATE SET waking_since = excluded.waking_since`);
}

export async function endWaking(db: Executor, owner: Owner): Promise<void> {
  await db.update(computers).set({ waking_since: null }).where(ownedBy(owner));
}

/** Never shortens the time. */
export async function keepAwake(tx: Transaction, owner: Owner, ms: number): Promise<void> {
  await tx.execute(sql`
    UPDATE computers SET keep_until = greatest(keep_until, ${leaseEnd(ms)}) WHERE ${keyed(owner)}`);
}

export type Prepared = Pick<typeof computerPreparations.$inferSelect, 'kind' | 'key' | 'fingerprint'>;

const preparationsOf = ({ orgId, mode, userId }: Owner) =>
  and(
    eq(computerPreparations.org_id, orgId),
    eq(computerPreparations.mode, mode),
    eq(computerPreparations.user_key, userId ?? ''),
  );

export function listPrepared(db: Executor, owner: Owner): Promise<Prepared[]> {
  const { kind, key, fingerprint } = computerPreparations;
  return db.select({ kind, key, fingerprint }).from(computerPreparations).where(preparationsOf(owner));
}

export async function recordPrepared(
  db: Executor,
  { orgId, mode, userId }: Owner,
  prepared: readonly Prepared[],
): Promise<void> {
  if (prepared.length === 0) return;
  const owner = { org_id: orgId, mode, user_key: userId ?? '' };
  await db
    .insert(computerPreparations)
    .values(prepared.map((each) => ({ ...owner, ...each })))
    .onConflictDoUpdate({
      target: [
        computerPreparations.org_id,
        computerPreparations.mode,
        computerPreparations.user_key,
        computerPreparations.kind,
        computerPreparations.key,
      ],
      set: { fingerprint: sql`excluded.fingerprint`, prepared_at: sql`now()` },
    });
}

export async function forgetPrepared(db: Executor, owner: Owner, { kind, key }: Prepared): Promise<void> {
  await db
    .delete(computerPreparations)
    .where(and(preparationsOf(owner), eq(computerPreparations.kind, kind), eq(computerPreparations.key, key)));
}

/** By the database's clock: processes may run on machines whose clocks differ. */
const leaseEnd = (leaseMs: number) => sql`clock_timestamp() + ${leaseMs} * interval '1 millisecond'`;

const dateOf = (value: Date | string | null) => (value === null ? null : new Date(value));
