import { fail } from '@vestra/contract/errors';
import { emit, recordAudit } from '../../account/index.ts';
import { costsOf } from '../../billing/index.ts';
import { changeConversation, type Engine, ignoreErased, stopAll } from '../../engine/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { presentReplay } from './present.ts';
import { cancelOpen, findReplay, talksOf, updateTalk, type WholeReplay } from './store.ts';
import type { Replay } from './tables.ts';

/** Ends a replay and what it has not replayed. One that has ended stays as it is, so that a cancel may be sent twice. */
export async function cancelReplay(tx: Transaction, origin: Origin, id: string): Promise<Replay> {
  const before = await findReplay(tx, origin, id);
  if (!before) throw fail('replay_not_found');
  if (!(await cancelOpen(tx, origin, id))) return presentReplay((await findReplay(tx, origin, id)) ?? before);
  await writeCosts(tx, id);
  const shown = presentReplay((await findReplay(tx, origin, id)) as WholeReplay);
  const { deployment_id: deploymentId, version } = shown;
  await recordAudit(tx, origin, {
    action: 'replay.cancelled',
    target: { type: 'replay', id },
    details: { deployment_id: deploymentId, version },
  });
  const { orgId, mode } = origin;
  await emit(tx, { orgId, mode, type: 'replay.completed', deploymentId, data: { ...shown, talks: [] } });
  return shown;
}

/** What was replayed until then is paid for. */
async function writeCosts(tx: Transaction, id: string): Promise<void> {
  const cut = (await talksOf(tx, [id])).filter(({ status }) => status === 'cancelled');
  const costs = await costsOf(tx, { conversationIds: cut.flatMap(({ conversation_id }) => conversation_id ?? []) });
  for (const talk of cut) {
    const cost = costs.get(talk.conversation_id ?? '');
    if (cost) await updateTalk(tx, talk, { cost_micros: cost.totalMicros });
  }
}

/** Whoever plays a cancelled replay hears of it, and what the agent is at in its conversations ends. */
export async function stopReplaying(engine: Engine, { id, status, talks }: Replay): Promise<void> {
  if (status !== 'cancelled') return;
  engine.announcer.notify('run', id);
  engine.announcer.notify('test_run', id);
  for (const { status: of, replayed_conversation_id: conversationId } of talks) {
    if (of !== 'cancelled' || conversationId === null) continue;
    await changeConversation(engine, conversationId, null, (change) => stopAll(engine, change)).catch(ignoreErased);
  }
}
