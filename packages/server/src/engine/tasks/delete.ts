import { eraseEvents, type Followers, recordAudit } from '../../account/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { EraseFiles, EraseTask } from '../../platform/registration.ts';
import { removeContents } from '../files/content.ts';
import { deleteOutputsOf } from '../files/store.ts';
import { type Change, changeConversation } from '../records/change.ts';
import { emptyFile, emptyTask, forgetSummaries, replaceResult } from '../records/redaction.ts';
import type { TaskRow, TurnRow } from '../records/tables.ts';
import { deleteTask, findTask } from '../records/tasks.ts';
import { findTurn } from '../records/turns.ts';
import type { Engine } from '../runs/ports.ts';
import { stopTask } from '../turns/stop.ts';

export type TaskDeletion = {
  engine: Engine;
  followers: Followers;
  erasure: readonly EraseTask[];
  fileErasure: readonly EraseFiles[];
};

/**
 * Deletes a task with its files, and empties its events, its result and the summaries that may repeat it. A running task
 * is stopped too: its content is emptied first, so that followers and webhooks receive a stop without content.
 */
export async function removeTask(
  { engine, followers, erasure, fileErasure }: TaskDeletion,
  origin: Origin,
  found: TaskRow,
): Promise<void> {
  const tenant = { orgId: found.org_id, mode: found.mode };
  const outputs = await changeConversation(engine, found.conversation_id, null, async (change) => {
    const { tx } = change;
    const task = await findTask(tx, tenant, found.id);
    if (!task) return [];
    const turn = (await findTurn(tx, task.turn_id)) as TurnRow;
    await emptyTask(tx, task);
    const written = await replaceResult(tx, task);
    await eraseEvents(tx, tenant, { taskId: task.id, createdAt: task.created_at, messageIds: written });
    if (task.status !== 'done' && task.status !== 'failed') {
      await stopTask(engine, change, (await findTask(tx, tenant, task.id)) as TaskRow);
    }
    forgetError(change, (await findTurn(tx, turn.id)) as TurnRow);
    await forgetSummaries(change, turn.message_id);
    const messageIds = await replaceResult(tx, task);
    for (const erase of erasure) {
      await erase(tx, tenant, { taskId: task.id, conversationId: task.conversation_id, messageIds });
    }
    await deleteTask(tx, task);
    await recordAudit(tx, origin, { action: 'task.deleted', target: { type: 'task', id: task.id } });
    change.log({ type: 'task.deleted', taskId: task.id, turnId: task.turn_id, data: {} });
    // A follower may hold events that it read before.
    change.afterwards(() => followers.wake(task.conversation_id));
    const files = await deleteOutputsOf(tx, tenant, task.id);
    // Later replies may have read them.
    for (const file of files) await emptyFile(change, file);
    for (const erase of fileErasure) await erase(tx, tenant, files);
    return files;
  });
  await removeContents(engine.db, engine.files, outputs);
}

/** The conversation shows the error of its last turn, which may be that of the task. */
function forgetError({ conversation }: Change, turn: TurnRow): void {
  const { last_error_code: code, last_error_message: message } = conversation;
  if (turn.error_code !== code || turn.error_message !== message) return;
  Object.assign(conversation, { last_error_code: null, last_error_message: null });
}
