import { fail } from '@vestra/contract/errors';
import type { Tenant } from '../platform/caller.ts';
import { mayRun } from '../platform/db/frozen-orgs.ts';
import type { Executor, Transaction } from '../platform/db/pool.ts';
import { maybeOne, one, rowsOf, run } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { boolean, count, moment, type RowOf, text } from '../platform/db/table.ts';
import { leaseEnd } from '../platform/jobs/lease.ts';
import { computerHosts, computerPreparations, computers } from './tables.ts';

/** `userId` is null for the org's own agent. */
export type Owner = Tenant & { userId: string | null };

/** `address`: where other processes reach the holder; null: not yet known. */
type Lease = { holder: string; address: string | null; leaseMs: number };

export const ownedBy = ({ orgId, mode, userId }: Owner) =>
  sql`org_id = ${orgId} AND mode = ${mode} AND user_key = ${userId ?? ''}`;

const { number, keep_until, epoch, held_at, held_until, saved_name, saved_sha256, saved_at } = computers.columns;

/**
 * Takes the hold on a computer, and creates the computer if there is none. Null: another process has it, or its user is
 * being erased. The user is checked in the same statement: with an earlier check, a new computer could outlive its
 * user.
 */
export async function holdComputer(
  db: Executor,
  { orgId, mode, userId }: Owner,
  { holder, address, leaseMs }: Lease,
): Promise<{ number: number; epoch: number } | null> {
  const row = await maybeOne(
    db,
    { number, epoch },
    sql`
      INSERT INTO ${computers} AS c (org_id, mode, user_key, held_by, held_until, held_at, epoch)
      SELECT ${orgId}, ${mode}, ${userId ?? ''}, ${holder}, ${leaseEnd(leaseMs)}, ${address}, 1
      WHERE NOT EXISTS (
        SELECT FROM users WHERE org_id = ${orgId} AND mode = ${mode} AND id = ${userId ?? ''} AND erasing_since IS NOT NULL)
      ON CONFLICT (org_id, mode, user_key) DO UPDATE SET held_by = excluded.held_by, held_until = excluded.held_until,
        held_at = excluded.held_at, epoch = c.epoch + 1
      WHERE c.held_by IS NULL OR c.held_by = excluded.held_by OR c.held_until < clock_timestamp()
      RETURNING number, epoch`,
  );
  return row ?? null;
}

/** The process where the computer is awake; null if it sleeps. */
export async function findHolder(
  db: Executor,
  owner: Owner,
): Promise<{ id: string; address: string | null; heldUntil: Date } | null> {
  const row = await maybeOne(
    db,
    { held_by: text(), held_at, held_until },
    sql`
      SELECT held_by, held_at, held_until FROM ${computers}
      WHERE ${ownedBy(owner)} AND held_by IS NOT NULL AND held_until > clock_timestamp()`,
  );
  return row ? { id: row.held_by, address: row.held_at, heldUntil: row.held_until as Date } : null;
}

/** Returns the computers that are still held, until when each must stay awake, and whether its org moves away. */
export async function renewHolds(
  db: Executor,
  numbers: readonly number[],
  lease: Lease,
): Promise<Map<number, { keepUntil: Date | null; isFrozen: boolean }>> {
  const rows = await rowsOf(
    db,
    { number, keep_until, may_run: boolean() },
    sql`
      UPDATE ${computers} AS c SET held_until = ${leaseEnd(lease.leaseMs)}, held_at = ${lease.address}
      WHERE number = ANY(${numbers}) AND held_by = ${lease.holder}
      RETURNING number, keep_until, ${mayRun(sql`c.org_id`)} AS may_run`,
  );
  return new Map(
    rows.map(({ number, keep_until, may_run }) => [number, { keepUntil: keep_until, isFrozen: !may_run }]),
  );
}

export async function releaseHold(db: Executor, number: number, holder: string): Promise<void> {
  await run(
    db,
    sql`
      UPDATE ${computers} SET held_by = NULL, held_until = NULL, held_at = NULL
      WHERE number = ${number} AND held_by = ${holder}`,
  );
}

/** Takes a computer that no process holds, so that none wakes it during its erasure. */
export async function seizeComputer(
  db: Executor,
  owner: Owner,
  { holder, leaseMs }: Omit<Lease, 'address'>,
): Promise<'seized' | 'held' | 'none'> {
  const row = await maybeOne(
    db,
    { is_seized: boolean() },
    sql`
      WITH seized AS (
        UPDATE ${computers} SET held_by = ${holder}, held_until = ${leaseEnd(leaseMs)}, held_at = NULL, epoch = epoch + 1
        WHERE ${ownedBy(owner)} AND (held_by IS NULL OR held_by = ${holder} OR held_until < clock_timestamp())
        RETURNING number)
      SELECT EXISTS (SELECT FROM seized) AS is_seized FROM ${computers} WHERE ${ownedBy(owner)}`,
  );
  if (!row) return 'none';
  return row.is_seized ? 'seized' : 'held';
}

export async function deleteComputer(db: Executor, owner: Owner): Promise<void> {
  await run(db, sql`DELETE FROM ${computers} WHERE ${ownedBy(owner)}`);
}

export async function findComputer(
  db: Executor,
  owner: Owner,
): Promise<{ number: number; isAwake: boolean; isWaking: boolean } | null> {
  const row = await maybeOne(
    db,
    { number, is_awake: boolean(), is_waking: boolean() },
    sql`
      SELECT number, coalesce(held_until > clock_timestamp(), false) AS is_awake, coalesce(${isWaking}, false) AS is_waking
      FROM ${computers} WHERE ${ownedBy(owner)}`,
  );
  return row ? { number: row.number, isAwake: row.is_awake, isWaking: row.is_waking } : null;
}

/** The job has a minute to start. After that, waking counts only while a live process holds the computer. */
const isWaking = sql`waking_since > clock_timestamp() - interval '1 minute'
  OR (waking_since IS NOT NULL AND held_until > clock_timestamp())`;

/** Locks until the commit, so that two concurrent requests see each other's count. */
export async function countWaking(tx: Transaction, { orgId, mode }: Tenant): Promise<number> {
  await run(tx, sql`SELECT pg_advisory_xact_lock(hashtextextended(${`waking computers of ${orgId} ${mode}`}, 0))`);
  const { waking } = await one(
    tx,
    { waking: count() },
    sql`
      SELECT count(*) AS waking FROM ${computers}
      WHERE org_id = ${orgId} AND mode = ${mode} AND waking_since IS NOT NULL AND (${isWaking})`,
  );
  return waking;
}

export async function beginWaking(tx: Transaction, { orgId, mode, userId }: Owner): Promise<void> {
  await run(
    tx,
    sql`
      INSERT INTO ${computers} (org_id, mode, user_key, waking_since)
      VALUES (${orgId}, ${mode}, ${userId ?? ''}, clock_timestamp())
      ON CONFLICT (org_id, mode, user_key) DO UPDATE SET waking_since = excluded.waking_since`,
  );
}

export async function endWaking(db: Executor, owner: Owner): Promise<void> {
  await run(db, sql`UPDATE ${computers} SET waking_since = NULL WHERE ${ownedBy(owner)}`);
}

/** Never shortens the time. */
export async function keepAwake(tx: Transaction, owner: Owner, ms: number): Promise<void> {
  await run(
    tx,
    sql`UPDATE ${computers} SET keep_until = greatest(keep_until, ${leaseEnd(ms)}) WHERE ${ownedBy(owner)}`,
  );
}

const prepared = (({ kind, key, fingerprint }) => ({ kind, key, fingerprint }))(computerPreparations.columns);

export type PreparedItem = RowOf<typeof prepared>;

/** A file also names its row and the conversation that it was placed for. */
type NewPreparedItem = PreparedItem & { file_id?: string; conversation_id?: string };

export function listPrepared(db: Executor, owner: Owner): Promise<PreparedItem[]> {
  return rowsOf(db, prepared, sql`SELECT kind, key, fingerprint FROM ${computerPreparations} WHERE ${ownedBy(owner)}`);
}

/** A hold with an older epoch writes nothing. */
type ComputerHold = { owner: Owner; epoch: number };

export async function recordPrepared(
  db: Executor,
  { owner, epoch }: ComputerHold,
  items: readonly NewPreparedItem[],
): Promise<void> {
  if (items.length === 0) return;
  const { orgId, mode, userId } = owner;
  const written = await run(
    db,
    sql`
      INSERT INTO ${computerPreparations} (org_id, mode, user_key, kind, key, fingerprint, file_id, conversation_id)
      SELECT ${orgId}, ${mode}, ${userId ?? ''}, item.kind, item.key, item.fingerprint, item.file_id, item.conversation_id
      FROM json_to_recordset(${sql.json(items)})
        AS item (kind text, key text, fingerprint text, file_id text, conversation_id text)
      WHERE EXISTS (SELECT FROM ${computers} WHERE ${ownedBy(owner)} AND epoch = ${epoch})
      ON CONFLICT (org_id, mode, user_key, kind, key)
        DO UPDATE SET fingerprint = excluded.fingerprint, file_id = excluded.file_id,
          conversation_id = excluded.conversation_id, is_deleted = false, prepared_at = now()`,
  );
  if (written === 0) throw fail('computer_unavailable', { message: 'Another process of the server has it by now.' });
}

export async function forgetPrepared(
  db: Executor,
  { owner, epoch }: ComputerHold,
  { kind, key }: Pick<PreparedItem, 'kind' | 'key'>,
): Promise<void> {
  await run(
    db,
    sql`
      DELETE FROM ${computerPreparations} WHERE ${ownedBy(owner)} AND kind = ${kind} AND key = ${key}
        AND EXISTS (SELECT FROM ${computers} WHERE ${ownedBy(owner)} AND epoch = ${epoch})`,
  );
}

/** Forgets items that are not in a home saved at that time. */
export async function forgetPreparedSince(db: Executor, { owner, epoch }: ComputerHold, since: Date): Promise<void> {
  await run(
    db,
    sql`DELETE FROM ${computerPreparations} WHERE ${ownedBy(owner)} AND prepared_at > ${since}
      AND EXISTS (SELECT FROM ${computers} WHERE ${ownedBy(owner)} AND epoch = ${epoch})`,
  );
}

export type SavedHome = { name: string; sha256: string; savedAt: Date };

/** The last saved home; null: never saved. `lost`: another process has held the computer since. */
export async function findSavedHome(
  db: Executor,
  held: { owner: Owner; epoch?: number },
): Promise<SavedHome | null | 'lost'> {
  const row = await maybeOne(
    db,
    { epoch, saved_name, saved_sha256, saved_at },
    sql`SELECT epoch, saved_name, saved_sha256, saved_at FROM ${computers} WHERE ${ownedBy(held.owner)}`,
  );
  if (!row) return held.epoch === undefined ? null : 'lost';
  if (held.epoch !== undefined && held.epoch !== row.epoch) return 'lost';
  const { saved_name: name, saved_sha256: sha256, saved_at: savedAt } = row;
  return name === null || sha256 === null || savedAt === null ? null : { name, sha256, savedAt };
}

/** False if another process has held the computer since: its save is newer. */
export async function recordSavedHome(
  tx: Transaction,
  { owner, epoch }: ComputerHold,
  { name, sha256, bytes, savedAt }: SavedHome & { bytes: number },
): Promise<boolean> {
  const written = await run(
    tx,
    sql`
      UPDATE ${computers}
      SET saved_name = ${name}, saved_sha256 = ${sha256}, saved_bytes = ${bytes}, saved_at = ${savedAt}
      WHERE ${ownedBy(owner)} AND epoch = ${epoch}`,
  );
  return written > 0;
}

export const listSavedHomes = (db: Executor): Promise<{ org_id: string; saved_name: string }[]> =>
  rowsOf(
    db,
    { org_id: text(), saved_name: text() },
    sql`SELECT org_id, saved_name FROM ${computers} WHERE saved_name IS NOT NULL`,
  );

export async function forgetSavedHome(db: Executor, orgId: string, name: string): Promise<void> {
  await run(
    db,
    sql`
      UPDATE ${computers} SET saved_name = NULL, saved_sha256 = NULL, saved_bytes = NULL, saved_at = NULL
      WHERE org_id = ${orgId} AND saved_name = ${name}`,
  );
}

/** Returns the numbers that belong to no computer. */
export async function unknownNumbers(db: Executor, numbers: readonly number[]): Promise<number[]> {
  const known = await rowsOf(db, { number }, sql`SELECT number FROM ${computers} WHERE number = ANY(${numbers})`);
  const found = new Set(known.map((row) => row.number));
  return numbers.filter((each) => !found.has(each));
}

export async function databaseTime(db: Executor): Promise<Date> {
  return (await one(db, { now: moment() }, sql`SELECT clock_timestamp() AS now`)).now;
}

/** By the database clock: the clocks of machines may differ. */

/** Announces that computers can run in this process, for this long. */
export async function renewHost(
  db: Executor,
  { id, address, hasBrowser }: { id: string; address: string; hasBrowser: boolean },
  goodForMs: number,
): Promise<void> {
  await run(
    db,
    sql`
      WITH gone AS (DELETE FROM ${computerHosts} WHERE seen_until < clock_timestamp() - interval '1 hour')
      INSERT INTO ${computerHosts} (id, address, has_browser, seen_until)
      VALUES (${id}, ${address}, ${hasBrowser}, ${leaseEnd(goodForMs)})
      ON CONFLICT (id) DO UPDATE SET address = excluded.address, has_browser = excluded.has_browser,
        seen_until = excluded.seen_until`,
  );
}

export async function removeHost(db: Executor, id: string): Promise<void> {
  await run(db, sql`DELETE FROM ${computerHosts} WHERE id = ${id}`);
}

export type HostRow = RowOf<typeof computerHosts>;

export function listHosts(db: Executor): Promise<HostRow[]> {
  return rowsOf(db, computerHosts, sql`SELECT * FROM ${computerHosts} WHERE seen_until > clock_timestamp()`);
}
