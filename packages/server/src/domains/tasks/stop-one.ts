import { fail } from '@vestra/contract/errors';
import type { Tenant } from '../../caller.ts';
import type { Engine } from '../engine/api.ts';
import { changeConversation } from '../engine/records/change.ts';
import { findTask } from '../engine/records/tasks.ts';
import { stopTask } from '../engine/turns/stop.ts';

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
