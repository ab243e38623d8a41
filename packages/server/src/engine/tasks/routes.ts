import { fail } from '@vestra/contract/errors';
import { findDeployment } from '../../agents/deployments/index.ts';
import { type Cost, costOf, costsOf } from '../../billing/index.ts';
import type { Caller } from '../../platform/caller.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import { hasEnded, presentTask } from '../records/present.ts';
import type { TaskRow } from '../records/tables.ts';
import { findTask, listTasks } from '../records/tasks.ts';
import { type LinkTo, showTaskTrace } from '../records/trace.ts';
import { findTurn } from '../records/turns.ts';
import type { Engine } from '../runs/ports.ts';
import { removeTask, type TaskDeletion } from './delete.ts';

export function taskRoutes({ linkTo, ...deletion }: TaskDeletion & { linkTo: LinkTo }): Handlers<'tasks'> {
  const { engine } = deletion;
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
      await removeTask(deletion, origin, row);
      return { object: 'task', id: row.id, deleted: true };
    },
    trace: async ({ caller, params, query }) => {
      const task = await ownTask(engine, caller, params.task_id);
      return showTaskTrace(db, task, { linkTo, withContent: query.include === 'content' });
    },
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
