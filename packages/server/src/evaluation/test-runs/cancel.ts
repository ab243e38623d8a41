import { fail } from '@vestra/contract/errors';
import { emit, recordAudit } from '../../account/index.ts';
import { costsOf } from '../../billing/index.ts';
import { changeConversation, type Engine, ignoreErased, stopAll } from '../../engine/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { presentTestRun } from './present.ts';
import { cancelRun, findRun, resultsOf, setCost } from './store.ts';
import type { TestRun } from './tables.ts';

/**
 * Ends a run and what it has not finished playing. One that has ended stays as it is, so that a cancel may be sent twice
 * and one that comes too late shows the verdict. Whoever waits for the end of a run hears of this one too.
 */
export async function cancelTestRun(tx: Transaction, origin: Origin, runId: string): Promise<TestRun> {
  const before = await findRun(tx, origin.orgId, runId);
  if (!before) throw fail('test_run_not_found');
  // It spends live money, and may be what a live version waits for.
  if (before.mode === 'live' && origin.mode === 'test') throw fail('live_key_required');
  const wasOpen = await cancelRun(tx, origin.orgId, runId);
  if (wasOpen) await writeCosts(tx, runId);
  const row = (await findRun(tx, origin.orgId, runId)) ?? before;
  const run = presentTestRun(row);
  if (!wasOpen) return run;
  await recordAudit(tx, origin, {
    action: 'test_run.cancelled',
    target: { type: 'test_run', id: runId },
    details: { deployment_id: run.deployment_id, version: run.version },
  });
  await emit(tx, {
    orgId: origin.orgId,
    mode: run.mode,
    type: 'test_run.completed',
    deploymentId: run.deployment_id,
    data: run,
  });
  return run;
}

/** What was played until then is paid for. */
async function writeCosts(tx: Transaction, runId: string): Promise<void> {
  const cut = (await resultsOf(tx, runId)).filter(({ status }) => status === 'cancelled');
  const costs = await costsOf(tx, { conversationIds: cut.flatMap(({ conversation_id }) => conversation_id ?? []) });
  for (const result of cut) {
    const cost = costs.get(result.conversation_id ?? '');
    if (cost) await setCost(tx, result, cost.totalMicros);
  }
}

/** Whoever plays a cancelled run hears of it, and what the agent is at in its conversations ends. */
export async function stopPlaying(engine: Engine, { id, status, results }: TestRun): Promise<void> {
  if (status !== 'cancelled') return;
  engine.announcer.notify('run', id);
  engine.announcer.notify('test_run', id);
  for (const { status: of, conversation_id: conversationId } of results) {
    if (of !== 'cancelled' || conversationId === null) continue;
    await changeConversation(engine, conversationId, null, (change) => stopAll(engine, change)).catch(ignoreErased);
  }
}
