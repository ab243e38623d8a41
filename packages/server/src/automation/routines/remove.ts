import { fail } from '@vestra/contract/errors';
import { recordAudit } from '../../account/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { assertNotFileManaged } from './routine.ts';
import { deleteRoutines, lockRoutine } from './store.ts';

/** Its conversation stays. */
export async function removeRoutine(tx: Transaction, origin: Origin, routineId: string): Promise<void> {
  const routine = await lockRoutine(tx, origin, routineId);
  if (!routine) throw fail('routine_not_found');
  assertNotFileManaged(routine);
  await deleteRoutines(tx, [routineId]);
  await recordAudit(tx, origin, {
    action: 'routine.deleted',
    target: { type: 'routine', id: routineId },
    details: { kind: routine.kind },
  });
}
