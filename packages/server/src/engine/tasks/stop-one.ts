import { fail } from '@vestra/contract/errors';
import type { Tenant } from '../../platform/caller.ts';
import { changeConversation } from '../records/change.ts';
import { findTask } from '../records/tasks.ts';
import type { Engine } from '../runs/ports.ts';
import { stopTask } from '../turns/stop.ts';

/** Stops one piece of work and leaves the rest of its conversation alone. One that has ended stays as it is. */
export async function stopOneTask(engine: Engine, { orgId, mode }: Tenant, taskId: string): Promise<void> {
  const tenant = { orgId, mode };
  const found = await findTask(engine.db, tenant, taskId);
  if (!found) throw fail('task_not_found');
  await changeConversation(engine, found.conversation_id, null, async (change) => {
    const task = await findTask(change.tx, tenant, taskId);
    if (task && task.status !== 'done' && task.status !== 'failed') await stopTask(engine, change, task);
  });
}
