import { fail } from '@vestra/contract/errors';
import { recordAudit } from '../../account/index.ts';
import { findDeployment } from '../../agents/deployments/index.ts';
import { type Cost, costOf, costsOf } from '../../billing/index.ts';
import type { Caller, Origin } from '../../platform/caller.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import { removeContents } from '../files/content.ts';
import { deleteOutputsOf } from '../files/store.ts';
import { type Change, changeConversation } from '../records/change.ts';
import { hasEnded, presentTask } from '../records/present.ts';
import type { TaskRow } from '../records/tables.ts';
import { deleteTask, findTask, listTasks } from '../records/tasks.ts';
import { type LinkTo, showTaskTrace } from '../records/trace.ts';
import { findTurn } from '../records/turns.ts';
import type { Engine } from '../runs/ports.ts';
import { stopTask } from '../turns/stop.ts';

export function taskRoutes({ engine, linkTo }: { engine: Engine; linkTo: LinkTo }): Handlers<'tasks'> {
  const { db } = engine;
  return {
    list: async ({ caller, query, page }) => {
      const { limit: _limit, cursor: _cursor, deployment_id, ...filter } = query;
      const deployment = deployment_id && (await findDeployment(db, caller.orgId, deployment_id))?.deployment;
      if (deployment_id && !deployment) return { data: [], next_cursor: null };
      const named = deployment ? { deployment_id: deployment.id } : {};
      const rows = await listTasks(db, caller, { ...filter, ...named }, page);
      const costs = await costsOf(db, { taskIds: rows.map(({ id }) => id) });
      const show = (row: TaskRow) => presentTask(row, costs.get(row.id) as Cost, { isListed: true });
      return page.of(rows, show, (row) => [row.id]);
    },
    get: async ({ caller, params }) => {
      const row = await ownTask(engine, caller, params.task_id);
      return presentTask(row, await costOf(db, { taskId: row.id }), { isListed: false });
    },
    delete: async ({ caller, origin, params }) => {
      const row = await ownTask(engine, caller, params.task_id);
      await removeTask(engine, origin, row);
      return { object: 'task', id: row.id, deleted: true };
    },
    trace: async ({ caller, params }) => showTaskTrace(db, await ownTask(engine, caller, params.task_id), linkTo),
    data: async ({ caller, params }) => {
      const row = await ownTask(engine, caller, params.task_id);
      const turn = await findTurn(db, row.turn_id);
      if (turn?.request.output_schema === undefined) throw fail('no_output_schema');
      return hasEnded(row) ? (row.result_data ?? null) : null;
    },
  };
}

async function ownTask({ db }: Engine, caller: Caller, id: string): Promise<TaskRow> {
  const row = await findTask(db, caller, id);
  if (!row) throw fail('task_not_found');
  return row;
}

/** The conversation shows the error of its last turn, which may be that of the task. */
async function forgetError({ tx, conversation }: Change, task: TaskRow): Promise<void> {
  const turn = await findTurn(tx, task.turn_id);
  const { last_error_code: code, last_error_message: message } = conversation;
  if (turn?.error_code !== code || turn?.error_message !== message) return;
  Object.assign(conversation, { last_error_code: null, last_error_message: null });
}

/** Deletes a task and its files. A running task is stopped first, and its followers receive the events of the stop. */
async function removeTask(engine: Engine, origin: Origin, found: TaskRow): Promise<void> {
  const tenant = { orgId: found.org_id, mode: found.mode };
  const outputs = await changeConversation(engine, found.conversation_id, null, async (change) => {
    const task = await findTask(change.tx, tenant, found.id);
    if (!task) return [];
    if (task.status !== 'done' && task.status !== 'failed') await stopTask(engine, change, task);
    await forgetError(change, task);
    await deleteTask(change.tx, task);
    await recordAudit(change.tx, origin, { action: 'task.deleted', target: { type: 'task', id: task.id } });
    return deleteOutputsOf(change.tx, tenant, task.id);
  });
  await removeContents(engine.db, engine.files, outputs);
}
