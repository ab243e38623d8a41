import { fail } from '@vestra/contract/errors';
import { announce } from '../../engine/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { passesFilters } from './filters.ts';
import { presentRun } from './present.ts';
import { type RoutineRunner, runRoutine } from './run-routine.ts';
import { lockRoutine } from './store.ts';

/** Somebody wants it to run now, paused or not; its schedule stays as it is. */
export async function runNow(runner: RoutineRunner, tenant: Tenant, routineId: string) {
  const run = await transaction(runner.engine.db, async (tx) => {
    const routine = await lockRoutine(tx, tenant, routineId);
    if (!routine) throw fail('routine_not_found');
    return runRoutine(runner, tx, routine);
  });
  announce(runner.engine.announcer, run.committed);
  return presentRun(routineId, run.turn);
}

/** Another system has something to say. A paused routine skips it, and says so. */
export async function triggerRoutine(
  runner: RoutineRunner,
  tenant: Tenant,
  routineId: string,
  payload: Record<string, unknown>,
) {
  const run = await transaction(runner.engine.db, async (tx) => {
    const routine = await lockRoutine(tx, tenant, routineId);
    if (!routine) throw fail('routine_not_found');
    if (routine.kind !== 'trigger') throw fail('not_a_trigger_routine');
    if (!routine.enabled || routine.status !== 'active') return 'skipped';
    if (!passesFilters(routine.filters, payload)) return 'filtered';
    return runRoutine(runner, tx, routine, { payload });
  });
  if (typeof run === 'string') return presentRun(routineId, run);
  announce(runner.engine.announcer, run.committed);
  return presentRun(routineId, run.turn);
}
