import type { Tenant } from '../../caller.ts';
import type { Transaction } from '../../db/pool.ts';
import { changesOf, nextRunsAfter } from './routine.ts';
import { lockFollowing, updateRoutines } from './store.ts';

/** A user has another time zone now: their routines that name none of their own run in it. */
export async function moveRoutinesToTimezone(
  tx: Transaction,
  tenant: Tenant,
  userId: string,
  timezone: string | null,
): Promise<void> {
  const zone = timezone ?? 'UTC';
  const nextRunOf = nextRunsAfter(new Date());
  for (const routine of await lockFollowing(tx, tenant, userId)) {
    if (routine.timezone === zone) continue;
    await updateRoutines(tx, [routine.id], changesOf(routine, { timezone: zone }, nextRunOf));
  }
}
