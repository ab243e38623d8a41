import { z } from 'zod';
import { costFields } from './cost.ts';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { truncated } from './message.ts';
import { deleted, page, pageQuery } from './page.ts';
import { queryTime } from './query-time.ts';
import { route } from './route.ts';
import { shown } from './session-access.ts';
import { shownFailure } from './shown-failure.ts';
import { tag } from './tag.ts';
import { text } from './text.ts';
import { createdAt, updatedAt } from './time.ts';
import { traceFields } from './trace.ts';
import { userId } from './user-id.ts';

export const taskStatuses = ['queued', 'working', 'waiting', 'done', 'failed'] as const;

/** Whether the success criteria of a message were met. */
export const outcome = z.object({
  met: z.boolean().describe('Whether everything that was asked for was reached.'),
  reason: z.string().describe('Why the judge thinks so, in a sentence or two.'),
});

export const task = z
  .object({
    object: tag('task'),
    id: id('task'),
    user_id: userId().nullable().describe('Whom it is done for; null: the org’s own agent.'),
    conversation_id: id('conv').nullable().describe('The conversation that asked for it.'),
    deployment_id: id('dep').nullable().describe('The deployment that does it.'),
    deployment_version: z.int().nullable().describe('The version of the deployment that it runs on.'),
    status: z
      .enum(taskStatuses)
      .describe(
        '`queued` until a place is free, `working`, `waiting` on an approval, question or call; at its end `done` or `failed`.',
      ),
    title: z.string().nullable().describe('What it is about in a few words; null until it is named.'),
    progress: z
      .array(
        z.object({
          content: z.string().describe('One step of the plan.'),
          status: z.enum(['pending', 'in_progress', 'completed']).describe('How far this step is.'),
        }),
      )
      .describe('Its plan, step by step; empty where it made none.'),
    result: z
      .object({
        text: z.string().nullable().describe('The final reply; cut to 280 characters in lists.'),
        data: z.unknown().describe('The structured value that `output_schema` asked for; null where none was.'),
        truncated,
      })
      .describe('What came of it; empty until it has ended.'),
    outcome: outcome
      .nullable()
      .describe('Whether the message’s `success_criteria` were met; null where there were none, or it goes on.'),
    error: shownFailure.nullable().describe('Why it failed or was stopped; null unless it was.'),
    ...costFields,
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .describe('One longer piece of work.');

/** Omits costs and `outcome`, which reveals the company's criteria. */
export const taskSeen = {
  ...shown('object', 'id', 'user_id', 'conversation_id', 'deployment_id', 'deployment_version', 'status', 'title'),
  ...shown('created_at', 'updated_at'),
  progress: shown('content', 'status'),
  result: shown('text', 'data', 'truncated'),
  error: 'plain',
} as const;

const taskTrace = z
  .object({
    object: tag('task_trace'),
    task_id: id('task'),
    ...traceFields,
  })
  .describe('Each step and each model call of a piece of work.');

const taskParams = z.strictObject({ task_id: failsWith('invalid_task_id', id('task')) });

export const tasks = {
  list: route({
    method: 'GET',
    path: '/v1/tasks',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'List pieces of work, newest first.',
    description:
      'Needs scope `runtime`. Filters narrow the list together. The text of a result is cut to 280 characters here; read the task for all of it.',
    query: z.strictObject({
      status: z.enum(taskStatuses).optional().describe('Only tasks that are in this state.'),
      user_id: userId().optional().describe('Only this user’s; absent: everybody’s.'),
      deployment_id: failsWith('invalid_deployment_id', text(1, 120))
        .optional()
        .describe('Only of this deployment: its id, slug or name.'),
      conversation_id: failsWith('invalid_conversation_id', id('conv'))
        .optional()
        .describe('Only what this conversation asked for.'),
      created_after: queryTime.optional().describe('Only those made at this moment or later.'),
      created_before: queryTime.optional().describe('Only those made before this moment.'),
      ...pageQuery,
    }),
    status: 200,
    response: page(task),
    errors: ['invalid_deployment_id', 'invalid_conversation_id'],
    command: 'tasks list',
  }),
  get: route({
    method: 'GET',
    path: '/v1/tasks/{task_id}',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Show a task with the full text of its result.',
    description:
      'Poll it, or better follow the conversation’s events: `task.completed`, `task.failed` and `task.stopped` tell the end.',
    params: taskParams,
    status: 200,
    response: task,
    errors: ['task_not_found'],
    command: 'tasks get',
  }),
  delete: route({
    method: 'DELETE',
    path: '/v1/tasks/{task_id}',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Delete a task and its outputs; a running one is stopped first.',
    description:
      'What it has spent stays in the usage report. Its files that were outputs go with it, and nothing brings them back.',
    params: taskParams,
    status: 200,
    response: deleted('task'),
    errors: ['task_not_found'],
    command: 'tasks delete',
  }),
  trace: route({
    method: 'GET',
    path: '/v1/tasks/{task_id}/trace',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Show each step and each model call of a task.',
    description:
      'Inputs and outputs are shown as one line each, never raw. Steps are kept for as long as the operator’s setting says, 90 days unless changed; the totals stay.',
    params: taskParams,
    status: 200,
    response: taskTrace,
    errors: ['task_not_found'],
    command: 'tasks trace',
  }),
  data: route({
    method: 'GET',
    path: '/v1/tasks/{task_id}/data',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Answer the structured result of a task alone; null until there is one.',
    description:
      'Answers the bare value, so that it can be fed to a program. Refused with `no_output_schema` where the message asked for none.',
    params: taskParams,
    status: 200,
    response: z.unknown().describe('The value that `output_schema` asked for.'),
    errors: ['task_not_found', 'no_output_schema'],
    command: 'tasks data',
  }),
};
