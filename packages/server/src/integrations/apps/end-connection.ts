import { emit, recordAudit } from '../../account/index.ts';
import type { Origin, Tenant } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { userOf } from './connection.ts';
import { presentConnection } from './present.ts';
import { markFailed } from './store.ts';
import type { ConnectionRow } from './tables.ts';

export const recordChange = (tx: Transaction, origin: Origin, row: ConnectionRow, action: string) =>
  recordAudit(tx, origin, {
    action,
    target: { type: 'connection', id: row.id },
    details: { app: row.app, user_id: userOf(row) },
  });

/** Writes down that the sign-in is over and why, and tells other systems, unless it has gone on meanwhile. */
export async function failConnection(
  tx: Transaction,
  origin: Origin,
  row: ConnectionRow,
  problem: string,
): Promise<void> {
  const failed = await markFailed(tx, row, { epoch: row.token_epoch, problem });
  if (!failed) return;
  await recordChange(tx, origin, failed, 'connection.failed');
  await emit(tx, { ...tenantOf(row), type: 'connection.failed', data: presentConnection(failed, null) });
}

export const tenantOf = ({ org_id, mode }: Pick<ConnectionRow, 'org_id' | 'mode'>): Tenant => ({ orgId: org_id, mode });
