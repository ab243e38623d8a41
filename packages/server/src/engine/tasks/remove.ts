import { recordAudit } from '../../account/index.ts';
import type { Origin } from '../../platform/caller.ts';
import { dropContent } from '../files/drop.ts';
import { deleteOutputsOf } from '../files/store.ts';
import { changeConversation } from '../records/change.ts';
import type { TaskRow } from '../records/tables.ts';
import { deleteTask, findTask } from '../records/tasks.ts';
import type { Engine } from '../runs/ports.ts';
import { stopTask } from '../turns/stop.ts';

/** Deletes a task and what it made; one that is under way is stopped first, as anybody following it is told. */
export async function removeTask(engine: Engine, origin: Origin, found: TaskRow): Promise<void> {
  const tenant = { orgId: found.org_id, mode: found.mode };
  const outputs = await changeConversation(engine, found.conversation_id, null, async (change) => {
    const task = await findTask(change.tx, tenant, found.id);
    if (!task) return [];
    if (task.status !== 'done' && task.status !== 'failed') await stopTask(engine, change, task);
    await deleteTask(change.tx, task);
    await recordAudit(change.tx, origin, { action: 'task.deleted', target: { type: 'task', id: task.id } });
    return deleteOutputsOf(change.tx, tenant, task.id);
  });
  await dropContent(engine.db, engine.files, outputs);
}
