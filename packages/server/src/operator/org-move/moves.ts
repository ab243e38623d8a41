import type { Executor } from '../../platform/db/pool.ts';
import { maybeOne, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { bytes, type RowOf, text } from '../../platform/db/table.ts';

export type MoveState = 'leaving' | 'left' | 'arriving' | 'arrived';

const shape = {
  org_id: text(),
  move_id: text(),
  state: text<MoveState>(),
  sealed_signing_key: bytes().nullable(),
  snapshot: text().nullable(),
  verify_key: bytes().nullable(),
  receipt: text().nullable(),
};
export type OrgMove = RowOf<typeof shape>;

const columns = sql.raw(Object.keys(shape).join(', '));

/** Locks the row, so that two commands for one org run one after the other. */
export const lockMove = (tx: Executor, orgId: string): Promise<OrgMove | undefined> =>
  maybeOne(tx, shape, sql`SELECT ${columns} FROM org_moves WHERE org_id = ${orgId} FOR UPDATE`);

export async function putMove(tx: Executor, move: OrgMove): Promise<void> {
  const { org_id, move_id, state, sealed_signing_key, snapshot, verify_key, receipt } = move;
  await run(
    tx,
    sql`INSERT INTO org_moves (${columns})
      VALUES (${org_id}, ${move_id}, ${state}, ${sealed_signing_key}, ${snapshot}, ${verify_key}, ${receipt})
      ON CONFLICT (org_id) DO UPDATE SET move_id = excluded.move_id, state = excluded.state,
        sealed_signing_key = excluded.sealed_signing_key, snapshot = excluded.snapshot,
        verify_key = excluded.verify_key, receipt = excluded.receipt, changed_at = now()`,
  );
}

export async function deleteMove(tx: Executor, orgId: string): Promise<void> {
  await run(tx, sql`DELETE FROM org_moves WHERE org_id = ${orgId}`);
}

/** The status of an org for its callers. */
export async function setStatus(tx: Executor, orgId: string, status: 'active' | 'moving' | 'moved'): Promise<void> {
  await run(tx, sql`UPDATE orgs SET status = ${status} WHERE id = ${orgId}`);
}
