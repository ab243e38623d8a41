import { fail } from '@vestra/contract/errors';
import type { Logger } from 'pino';
import { emit, recordAudit } from '../account/index.ts';
import type { Origin, Tenant } from '../platform/caller.ts';
import { sharedDate, sharedNow } from '../platform/db/clock.ts';
import type { Database, Transaction } from '../platform/db/pool.ts';
import { transaction } from '../platform/db/transaction.ts';
import type { JobSender } from '../platform/jobs/catalog.ts';
import type { SweepSource } from '../platform/jobs/sweep.ts';
import type { EraseStep } from '../platform/registration.ts';
import { findUser, listErasing, lockUser, removeUser, updateUser } from './store.ts';

/** Marks the user as being erased, so that no request acts for them, and starts the job. */
export async function requestErasure(tx: Transaction, jobs: JobSender, origin: Origin, userId: string): Promise<void> {
  const row = await lockUser(tx, origin, userId);
  if (!row) throw fail('user_not_found');
  if (row.erasing_since) return;
  await updateUser(tx, origin, userId, { erasing_since: sharedDate() });
  await recordAudit(tx, origin, { action: 'user.deleted', target: { type: 'user', id: userId } });
  await jobs.send(tx, 'user.erase', { org_id: origin.orgId, mode: origin.mode, user_id: userId });
}

/** Erases the user in other systems. If it throws, it is called again later. */
type EraseElsewhere = (tenant: Tenant, userId: string) => Promise<void>;

/** Other systems are retried for this long. After that, the user is erased here all the same. */
const maxRetryMs = 24 * 3600 * 1000;

/** Deletes all rows of the user, except their spend, which is moved to `unknown`. */
export async function eraseUser(
  { db, log }: { db: Database; log: Pick<Logger, 'error'> },
  { steps, elsewhere }: { steps: readonly EraseStep[]; elsewhere: EraseElsewhere },
  tenant: Tenant,
  userId: string,
): Promise<void> {
  for (const step of steps) {
    const after = await transaction(db, async (tx) => {
      const works: (() => void)[] = [];
      await step(tx, tenant, userId, (work) => works.push(work));
      return works;
    });
    for (const work of after) work();
  }
  // Do this before deleting the user's row. Otherwise it could erase the data of a new user with the same id.
  const row = await findUser(db, tenant, userId);
  const since = row?.erasing_since;
  if (!since) return;
  await elsewhere(tenant, userId).catch((error: unknown) => {
    if (sharedNow() - since.getTime() < maxRetryMs) throw error;
    log.error(
      { err: error, org_id: tenant.orgId, mode: tenant.mode },
      'erased a user here, but other systems may still have their data',
    );
  });
  await transaction(db, async (tx) => {
    if (!(await removeUser(tx, tenant, userId))) return;
    await emit(tx, { ...tenant, type: 'user.deleted', data: { object: 'user', id: userId, deleted: true } });
  });
}

/** Requested erasures without a job, such as after a restore from a backup without jobs. */
export const unfinishedErasures: SweepSource = {
  name: 'user erasures',
  async find({ tx, jobs, limit }) {
    const missing = await listErasing(tx, limit);
    await jobs.sendMany(
      tx,
      'user.erase',
      missing.map(({ tenant, userId }) => ({ org_id: tenant.orgId, mode: tenant.mode, user_id: userId })),
    );
    return missing.length;
  },
};
