import { sharedDate } from '../../platform/db/clock.ts';
import type { Change } from '../records/change.ts';
import { updateInteraction } from '../records/interactions.ts';
import type { InteractionRow, TaskRow } from '../records/tables.ts';
import { findTask, updateTask } from '../records/tasks.ts';
import { tellResolved } from '../records/tell.ts';
import { findTurn, updateTurn } from '../records/turns.ts';
import { beginReply } from './begin-reply.ts';
import { sendTaskJob } from './begin-task.ts';
import type { Turns } from './ports.ts';

/** What came of an interaction. */
export type Resolution = Pick<InteractionRow, 'status' | 'decision'> &
  Partial<Pick<InteractionRow, 'answers' | 'reason' | 'message' | 'output' | 'is_error'>>;

/** Writes the outcome and lets whatever waited for it go on. The row is pending, and the conversation is held. */
export async function resolveInteraction(
  engine: Turns,
  change: Change,
  row: InteractionRow,
  resolution: Resolution,
): Promise<InteractionRow> {
  const resolved = await updateInteraction(change.tx, row, { ...resolution, resolved_at: sharedDate() });
  change.conversation.open_interactions -= 1;
  tellResolved(change, resolved);
  await goOn(engine, change, resolved);
  return resolved;
}

/** A run that is under way needs no push: before it waits again it looks at what was resolved. */
async function goOn(engine: Turns, change: Change, row: InteractionRow): Promise<void> {
  const { tx, conversation } = change;
  const turn = await findTurn(tx, row.turn_id);
  if (turn?.state !== 'waiting') return;
  if (row.task_id !== null) {
    const task = await findTask(tx, { orgId: row.org_id, mode: row.mode }, row.task_id);
    if (task?.status !== 'waiting') return;
    if (turn.origin === 'batch' && !(await engine.batchItems.mayGoOn(change, turn))) return;
    await goOnWithTask(change, task);
    return;
  }
  const queued = await updateTurn(tx, turn.id, { state: 'queued' });
  conversation.queued_turns += 1;
  if (conversation.replying_turn_id === null) await beginReply(engine, change, queued);
}

/** Work that waited is done again, by whichever process takes its job. */
export async function goOnWithTask(change: Change, waiting: TaskRow): Promise<void> {
  const task = await updateTask(change.tx, waiting, { status: 'working' });
  sendTaskJob(change, task);
  await updateTurn(change.tx, task.turn_id, { state: 'working' });
}
