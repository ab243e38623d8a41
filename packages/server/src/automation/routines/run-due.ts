import { Failure } from '@vestra/contract/errors';
import { emit, recordAudit } from '../../account/index.ts';
import { announce } from '../../engine/index.ts';
import { mapLimited } from '../../platform/async/map-limited.ts';
import { serverOrigin } from '../../platform/caller.ts';
import { isDatabaseAway } from '../../platform/db/away.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { presentRoutine } from './present.ts';
import { type NextRunOf, nextRunsAfter } from './routine.ts';
import { type RoutineRunner, runRoutine } from './run-routine.ts';
import { dueRoutines, lockDue, stepOver } from './store.ts';

const pageSize = 500;
const atOnce = 8;

/**
 * Runs what is due, longest due first. A routine is held, said and given its next run in one transaction: of two
 * processes that find it one runs it, and one that dies has either run it or not. However many of its times have passed
 * meanwhile, it runs once.
 */
export async function runDueRoutines(
  runner: RoutineRunner,
  { now = sharedDate(), signal }: { now?: Date; signal?: AbortSignal } = {},
): Promise<number> {
  const nextRunOf = nextRunsAfter(now);
  const broken: string[] = [];
  let count = 0;
  for (;;) {
    const due = await dueRoutines(runner.engine.db, { now, limit: pageSize, except: broken });
    await mapLimited(atOnce, due, async (id) => {
      if (signal?.aborted) return;
      const outcome = await runSlot(runner, id, { now, nextRunOf });
      if (outcome === 'ran') count += 1;
      if (outcome === 'broken') broken.push(id);
    });
    if (due.length < pageSize || signal?.aborted) return count;
  }
}

type Clock = { now: Date; nextRunOf: NextRunOf };

/** `left`: somebody else has it, or has had it. */
async function runSlot(
  runner: RoutineRunner,
  routineId: string,
  { now, nextRunOf }: Clock,
): Promise<'ran' | 'left' | 'refused' | 'broken'> {
  const { db, announcer, log } = runner.engine;
  try {
    const run = await transaction(db, async (tx) => {
      const routine = await lockDue(tx, routineId, now);
      return routine && (await runRoutine(runner, tx, routine, { next: nextRunOf(routine) }));
    });
    if (!run) return 'left';
    announce(announcer, run.committed);
    return 'ran';
  } catch (error) {
    if (isDatabaseAway(error)) throw error;
    if (error instanceof Failure) {
      log.info({ routine_id: routineId, code: error.code }, 'a routine could not run');
      await transaction(db, (tx) => passOver(runner, tx, routineId, error, { now, nextRunOf }));
      return 'refused';
    }
    // One that cannot be run must not keep those behind it from running; it is tried again with the next look.
    log.error({ err: error, routine_id: routineId }, 'a routine broke');
    return 'broken';
  }
}

/** What no later run can mend by itself: somebody must name another deployment, or bring this one back. */
const stopping = new Set(['deployment_archived', 'deployment_not_live', 'deployment_required']);

/**
 * This time has passed. A person who is barred or a wallet that is empty may be otherwise by the next. Nobody waits for an
 * answer here, so the routine keeps the reason and an event tells it.
 */
async function passOver(
  { publicUrl }: RoutineRunner,
  tx: Transaction,
  routineId: string,
  failure: Failure,
  { now, nextRunOf }: Clock,
): Promise<void> {
  const routine = await lockDue(tx, routineId, now);
  if (!routine) return;
  const { code, message } = failure;
  const passed = await stepOver(tx, routineId, {
    ...(stopping.has(code) ? { status: 'failed', next: null } : { status: 'active', next: nextRunOf(routine) }),
    error: { code, message, at: sharedDate().toISOString() },
  });
  const { org_id: orgId, mode, deployment_id: deploymentId } = passed;
  await recordAudit(tx, serverOrigin({ orgId, mode }), {
    action: 'routine.failed',
    target: { type: 'routine', id: routineId },
    details: { code, message },
  });
  const data = { ...presentRoutine(passed, { publicUrl: publicUrl() }), reason: code, message };
  await emit(tx, { orgId, mode, type: 'routine.failed', deploymentId, data });
}
