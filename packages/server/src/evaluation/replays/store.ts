import type { Tenant } from '../../platform/caller.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { insert, insertMany, maybeOne, rowsOf, run, update } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { columnsOf } from '../../platform/db/table.ts';
import { cancelPlay, isOpen } from '../player/plays.ts';
import { type ReplayRow, replays, replayTalks, type TalkRow } from '../tables.ts';

/** A replay with its talks, in the order of the replay. */
export type ReplayWithTalks = { row: ReplayRow; talks: TalkRow[] };

/** Messages of live users must not be visible in test mode. */
const ofTenant = ({ orgId, mode }: Tenant) => sql`org_id = ${orgId} AND mode = ${mode}`;

export async function findReplay(db: Executor, tenant: Tenant, id: string): Promise<ReplayWithTalks | undefined> {
  const row = await maybeOne(
    db,
    replays,
    sql`SELECT ${columnsOf(replays)} FROM ${replays} WHERE ${ofTenant(tenant)} AND id = ${id}`,
  );
  return row && { row, talks: await talksOf(db, [id]) };
}

/** Locks the row until the transaction ends. */
export const lockReplay = (tx: Transaction, tenant: Tenant, id: string): Promise<ReplayRow | undefined> =>
  maybeOne(
    tx,
    replays,
    sql`SELECT ${columnsOf(replays)} FROM ${replays} WHERE ${ofTenant(tenant)} AND id = ${id} FOR UPDATE`,
  );

/** Deletes the replay. Its talks go with it. */
export async function removeReplay(tx: Transaction, tenant: Tenant, id: string): Promise<void> {
  await run(tx, sql`DELETE FROM ${replays} WHERE ${ofTenant(tenant)} AND id = ${id}`);
}

/** Without the messages, which may be megabytes for each replay. */
export async function listReplays(
  db: Executor,
  tenant: Tenant,
  deploymentId: string,
  { limit, below }: { limit: number; below: string | null },
): Promise<ReplayWithTalks[]> {
  const rows = await rowsOf(
    db,
    replays,
    sql`SELECT ${columnsOf(replays)} FROM ${replays}
        WHERE ${sql.and(sql`deployment_id = ${deploymentId} AND improvement_id IS NULL`, ofTenant(tenant), below && sql`id < ${below}`)}
        ORDER BY id DESC LIMIT ${limit + 1}`,
  );
  const talks = await talksOf(
    db,
    rows.map(({ id }) => id),
    sql`'[]'::json`,
  );
  return rows.map((row) => ({ row, talks: talks.filter(({ replay_id }) => replay_id === row.id) }));
}

const { exchanges: _said, ...factColumns } = replayTalks.columns;
const facts = columnsOf({ ...replayTalks, columns: factColumns });

/** In the order of the replay. */
export const talksOf = (
  db: Executor,
  replayIds: readonly string[],
  exchanges: Sql = sql`exchanges`,
): Promise<TalkRow[]> =>
  rowsOf(
    db,
    replayTalks,
    sql`SELECT ${facts}, ${exchanges} AS exchanges FROM ${replayTalks}
        WHERE replay_id = ANY(${replayIds}) ORDER BY replay_id, position`,
  );

export async function insertReplay(
  tx: Transaction,
  row: Pick<ReplayRow, 'id' | 'org_id' | 'mode' | 'deployment_id' | 'version'> &
    Partial<Pick<ReplayRow, 'improvement_id'>>,
  talks: readonly { source_id: string; user_id: string | null }[],
): Promise<void> {
  await insert(tx, replays, row);
  const { id: replay_id, org_id, mode } = row;
  await insertMany(
    tx,
    replayTalks,
    talks.map((talk, position) => ({ replay_id, position, org_id, mode, ...talk })),
  );
}

/** Returns false if the row is gone because its user was erased. */
export async function updateTalk(
  tx: Transaction,
  { replay_id, position }: Pick<TalkRow, 'replay_id' | 'position'>,
  changes: Partial<TalkRow>,
): Promise<boolean> {
  const rows = await update(tx, replayTalks, changes, sql`replay_id = ${replay_id} AND position = ${position}`);
  return rows.length === 1;
}

/** Ends all items that have no result. */
export async function endOpenTalks(
  tx: Transaction,
  id: string,
  { status, code, message }: { status: 'failed' | 'cancelled'; code: string | null; message: string | null },
): Promise<void> {
  await run(
    tx,
    sql`UPDATE ${replayTalks} SET status = ${status}, error_code = ${code}, error_message = ${message}
        WHERE replay_id = ${id} AND ${isOpen}`,
  );
}

/** Ends a replay that has not ended, and its open talks. Returns whether there was anything to end. */
export async function cancelOpen(tx: Transaction, tenant: Tenant, id: string): Promise<boolean> {
  if (!(await cancelPlay(tx, replays, ofTenant(tenant), id))) return false;
  await endOpenTalks(tx, id, { status: 'cancelled', code: null, message: null });
  return true;
}

/** Deletes the items of a user and returns them, since their conversations still have to be erased. */
export const removeTalksFrom = (
  tx: Transaction,
  tenant: Tenant,
  conversationIds: readonly string[],
): Promise<TalkRow[]> =>
  rowsOf(
    tx,
    replayTalks,
    sql`DELETE FROM ${replayTalks} WHERE ${ofTenant(tenant)} AND source_id = ANY(${conversationIds})
      RETURNING ${columnsOf(replayTalks)}`,
  );

export const removeTalksOf = (tx: Transaction, tenant: Tenant, userId: string): Promise<TalkRow[]> =>
  rowsOf(
    tx,
    replayTalks,
    sql`DELETE FROM ${replayTalks} WHERE ${ofTenant(tenant)} AND user_id = ${userId} RETURNING ${columnsOf(replayTalks)}`,
  );
