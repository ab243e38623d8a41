import type { Tenant } from '../../platform/caller.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Transaction } from '../../platform/db/pool.ts';
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
  const now = sharedDate();
  const nextRunOf = nextRunsAfter(now);
  for (const routine of await lockFollowing(tx, tenant, userId)) {
    if (routine.timezone === zone) continue;
    const changes = changesOf(routine, { timezone: zone }, nextRunOf);
    // The one time of a routine may have passed in the new zone: it is late then, and not lost.
    const isLate = routine.next_run_at !== null && changes.next_run_at === null;
    await updateRoutines(tx, [routine.id], { ...changes, ...(isLate && { next_run_at: now }) });
  }
}
