import { fail } from '@vestra/contract/errors';
import type { Origin, Tenant } from '../../caller.ts';
import type { Database, Transaction } from '../../db/pool.ts';
import { transaction } from '../../db/transaction.ts';
import type { JobSender } from '../../jobs/catalog.ts';
import { recordAudit } from '../audit/api.ts';
import { emit } from '../events/api.ts';
import { lockUser, removeUser, updateUser } from './store.ts';

/** One domain's part of an erasure. It may be called again after a crash, and then finds less or nothing to do. */
export type EraseStep = (tx: Transaction, tenant: Tenant, userId: string) => Promise<void>;

/** From this moment on nobody acts for the user; the job does the rest. */
export async function askForErasure(tx: Transaction, jobs: JobSender, origin: Origin, userId: string): Promise<void> {
  const row = await lockUser(tx, origin, userId);
  if (!row) throw fail('user_not_found');
  if (row.erasing_since) return;
  await updateUser(tx, origin, userId, { erasing_since: new Date() });
  await recordAudit(tx, origin, { action: 'user.deleted', target: { type: 'user', id: userId } });
  await jobs.send(tx, 'user.erase', { org_id: origin.orgId, mode: origin.mode, user_id: userId });
}

/** Leaves no row of the user behind but what they spent, under `unknown`. */
export async function eraseUser(
  db: Database,
  steps: readonly EraseStep[],
  tenant: Tenant,
  userId: string,
): Promise<void> {
  for (const step of steps) await transaction(db, (tx) => step(tx, tenant, userId));
  await transaction(db, async (tx) => {
    if (!(await removeUser(tx, tenant, userId))) return;
    await emit(tx, { ...tenant, type: 'user.deleted', data: { object: 'user', id: userId, deleted: true } });
  });
}
