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

/** From this moment on nobody acts for the user; the job does the rest. */
export async function askForErasure(tx: Transaction, jobs: JobSender, origin: Origin, userId: string): Promise<void> {
  const row = await lockUser(tx, origin, userId);
  if (!row) throw fail('user_not_found');
  if (row.erasing_since) return;
  await updateUser(tx, origin, userId, { erasing_since: sharedDate() });
  await recordAudit(tx, origin, { action: 'user.deleted', target: { type: 'user', id: userId } });
  await jobs.send(tx, 'user.erase', { org_id: origin.orgId, mode: origin.mode, user_id: userId });
}

/** Has others forget the user. Where it throws it is called again later. */
type EraseElsewhere = (tenant: Tenant, userId: string) => Promise<void>;

/** So long others are asked again to forget a user. Beyond it the user is erased all the same. */
const longestForOthersMs = 24 * 3600 * 1000;

/** Leaves no row of the user behind but what they spent, under `unknown`. */
export async function eraseUser(
  { db, log }: { db: Database; log: Pick<Logger, 'error'> },
  { steps, elsewhere }: { steps: readonly EraseStep[]; elsewhere: EraseElsewhere },
  tenant: Tenant,
  userId: string,
): Promise<void> {
  for (const step of steps) await transaction(db, (tx) => step(tx, tenant, userId));
  // Before the user's row goes: a new user of the same id must not lose what others keep of them.
  const row = await findUser(db, tenant, userId);
  const since = row?.erasing_since;
  if (!since) return;
  await elsewhere(tenant, userId).catch((error: unknown) => {
    if (sharedNow() - since.getTime() < longestForOthersMs) throw error;
    log.error(
      { err: error, org_id: tenant.orgId, mode: tenant.mode },
      'a user is erased here and may not be elsewhere',
    );
  });
  await transaction(db, async (tx) => {
    if (!(await removeUser(tx, tenant, userId))) return;
    await emit(tx, { ...tenant, type: 'user.deleted', data: { object: 'user', id: userId, deleted: true } });
  });
}

/** Erasures that were asked for and have no job, as after a restore from a backup of the rows alone. */
export const unfinishedErasures: SweepSource = {
  name: 'user erasures',
  async find({ tx, jobs, limit }) {
    const erasing = await listErasing(tx, limit);
    const keyOf = ({ tenant, userId }: (typeof erasing)[number]) => `${tenant.orgId} ${tenant.mode} ${userId}`;
    const withJob = await jobs.keysWithJob(tx, 'user.erase', erasing.map(keyOf));
    const missing = erasing.filter((each) => !withJob.has(keyOf(each)));
    await jobs.sendMany(
      tx,
      'user.erase',
      missing.map(({ tenant, userId }) => ({ org_id: tenant.orgId, mode: tenant.mode, user_id: userId })),
    );
    return missing.length;
  },
};
