import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Failure, fail } from '@vestra/contract/errors';
import { emit, findOrg, recordAudit } from '../../account/index.ts';
import { type DeploymentRow, findDeployment } from '../../agents/deployments/index.ts';
import {
  type ConversationRow,
  defaultDeployment,
  lockOwnConversation,
  openConversation,
  type TurnRow,
} from '../../engine/conversations/index.ts';
import {
  acceptMessage,
  admit,
  announce,
  type Change,
  type CommittedChange,
  changeInTransaction,
  type Engine,
} from '../../engine/index.ts';
import { mapLimited } from '../../platform/async/limiter.ts';
import { serverOrigin, type Tenant } from '../../platform/caller.ts';
import { sharedDate, sharedNow } from '../../platform/db/clock.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { isDatabaseUnreachable } from '../../platform/db/unreachable.ts';
import { enterUser } from '../../users/index.ts';
import { type NextRunOf, nextRunsAfter, presentRoutine, presentRun } from './routine.ts';
import { dueRoutines, lockDue, lockRoutine, nextDueAfter, recordRun, recordSkippedRun } from './store.ts';
import type { RoutineRow } from './tables.ts';

export type RoutineRunner = { engine: Engine; publicUrl: () => string };

type RoutineRun = { turn: TurnRow; committed: CommittedChange };

/**
 * Sends the message of the routine to its conversation, which the first run creates. The row of the routine must be
 * locked, and the caller announces the commit.
 */
async function runRoutine(
  { engine, publicUrl }: RoutineRunner,
  tx: Transaction,
  routine: RoutineRow,
  { payload = null, next }: { payload?: Record<string, unknown> | null; next?: Date | null } = {},
): Promise<RoutineRun> {
  const tenant: Tenant = { orgId: routine.org_id, mode: routine.mode };
  if ((await findOrg(tx, tenant.orgId)).status !== 'active') throw fail('org_disabled');
  const place = await placeOf(tx, tenant, routine);
  const say = async (change: Change) =>
    acceptMessage(engine, change, await admit(engine, tx, change.conversation, place.deployment), {
      text: routine.ask,
      context: payload,
      attachments: [],
      request: {
        hand_off: 'auto',
        plan: false,
        ...(routine.success_criteria !== null && { success_criteria: routine.success_criteria }),
      },
      origin: 'routine',
    });
  const { result: turn, committed } = place.conversation
    ? await changeInTransaction(tx, place.conversation, say, engine.jobs)
    : await openConversation(
        tx,
        {
          tenant,
          userId: routine.user_id,
          deployment: place.deployment,
          pinned: routine.deployment_version,
          metadata: {},
        },
        say,
        engine.jobs,
      );
  const ran = await recordRun(tx, routine.id, {
    conversation_id: turn.conversation_id,
    ...(next !== undefined && { next }),
  });
  await emit(tx, {
    ...tenant,
    type: 'routine.ran',
    deploymentId: place.deployment.id,
    data: {
      ...presentRoutine(ran, { publicUrl: publicUrl() }),
      run: { conversation_id: turn.conversation_id, turn_id: turn.id },
    },
  });
  return { turn, committed };
}

type Place = { deployment: DeploymentRow; conversation: ConversationRow | null };

/**
 * The deployment and conversation of the next run. A conversation that was named for the routine keeps its deployment.
 * One that a run created is continued while the routine still means that deployment.
 */
async function placeOf(tx: Transaction, tenant: Tenant, routine: RoutineRow): Promise<Place> {
  const user = routine.user_id === null ? null : await enterUser(tx, tenant, routine.user_id);
  const conversation =
    routine.conversation_id === null ? null : await lockOwnConversation(tx, tenant, routine.conversation_id);
  const named = routine.own_conversation && conversation ? conversation.deployment_id : routine.deployment_id;
  const deployment =
    named === null
      ? await defaultDeployment(tx, tenant, user)
      : ((await findDeployment(tx, tenant.orgId, named))?.deployment ?? null);
  if (!deployment) throw fail(named === null ? 'deployment_required' : 'deployment_deleted');
  const isStillMeant =
    conversation?.deployment_id === deployment.id && conversation.pinned_version === routine.deployment_version;
  return { deployment, conversation: routine.own_conversation || isStillMeant ? conversation : null };
}

const pageSize = 500;
const atOnce = 8;

/**
 * Runs due routines, oldest first. One transaction locks a routine, sends its message and sets its next run: of two
 * processes one runs it, and a crash leaves it either run or not. A routine that missed several times runs once.
 */
export async function runDueRoutines(
  runner: RoutineRunner,
  { now = sharedDate(), signal, broken = [] }: { now?: Date; signal?: AbortSignal; broken?: string[] } = {},
): Promise<number> {
  const nextRunOf = nextRunsAfter(now);
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

/** The job of due routines runs again after five seconds. It must not end with a routine due before that. */
const lookAheadMs = 6_000;
/** Those that fall due close together share a query. */
const leastWaitMs = 100;
const retryBrokenMs = 5_000;
/** Below the time after which the job would count as hung. */
const longestJobMs = 1_800_000;

/** Runs routines as they fall due, until none falls due within `lookAheadMs`. */
export async function runRoutinesOnTime(runner: RoutineRunner, signal: AbortSignal): Promise<void> {
  const startedAt = sharedNow();
  let broken: string[] = [];
  for (let retriedAt = startedAt; !signal.aborted && sharedNow() < startedAt + longestJobMs; ) {
    await runDueRoutines(runner, { signal, broken });
    const now = sharedNow();
    const next = await nextDueAfter(runner.engine.db, new Date(now));
    const waitMs = (next?.getTime() ?? Number.POSITIVE_INFINITY) - now;
    if (waitMs > lookAheadMs) return;
    if (now - retriedAt > retryBrokenMs) [broken, retriedAt] = [[], now];
    await setTimeout(Math.max(leastWaitMs, waitMs), undefined, { signal }).catch(() => {});
  }
}

type Clock = { now: Date; nextRunOf: NextRunOf };

/** `left`: another process has it or ran it already. */
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
    if (isDatabaseUnreachable(error)) throw error;
    if (error instanceof Failure) {
      log.info({ routine_id: routineId, code: error.code }, 'a routine could not run');
      await transaction(db, (tx) => skipRun(runner, tx, routineId, error, { now, nextRunOf }));
      return 'refused';
    }
    // A broken routine must not block those behind it. The next pass tries it again.
    log.error({ err: error, routine_id: routineId }, 'a routine failed unexpectedly');
    return 'broken';
  }
}

/** Errors that stop a routine, since a later run would fail too until the org changes the deployment. */
const stoppingErrors = new Set([
  'deployment_archived',
  'deployment_deleted',
  'deployment_not_live',
  'deployment_required',
]);

/**
 * Skips this run. A disabled user or an empty wallet may be fine by the next one. No caller waits for this error, so it
 * is stored in the routine and emitted as an event.
 */
async function skipRun(
  { publicUrl }: RoutineRunner,
  tx: Transaction,
  routineId: string,
  failure: Failure,
  { now, nextRunOf }: Clock,
): Promise<void> {
  const routine = await lockDue(tx, routineId, now);
  if (!routine) return;
  const { code, message } = failure;
  const passed = await recordSkippedRun(tx, routineId, {
    ...(stoppingErrors.has(code) ? { status: 'failed', next: null } : { status: 'active', next: nextRunOf(routine) }),
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

/** Runs a routine now, also if it is paused. Its schedule stays. */
export async function runNow(runner: RoutineRunner, tenant: Tenant, routineId: string) {
  const run = await transaction(runner.engine.db, async (tx) => {
    const routine = await lockRoutine(tx, tenant, routineId);
    if (!routine) throw fail('routine_not_found');
    return runRoutine(runner, tx, routine);
  });
  announce(runner.engine.announcer, run.committed);
  return presentRun(routineId, run.turn);
}

/** Runs a routine for a call from another system. The response shows if the routine is paused and skipped it. */
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

/** Whether a payload has each filtered field with exactly that value. Other fields are ignored. */
export function passesFilters(
  filters: Readonly<Record<string, unknown>> | null,
  payload: Readonly<Record<string, unknown>>,
): boolean {
  return Object.entries(filters ?? {}).every(
    ([field, value]) => Object.hasOwn(payload, field) && isDeepStrictEqual(asJson(payload[field]), asJson(value)),
  );
}

/** Compares as JSON, in which `-0` and `0` are the same number. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
