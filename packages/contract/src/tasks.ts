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
import { traceFields, traceQuery } from './trace.ts';
import { userId } from './user-id.ts';

export const taskStatuses = ['queued', 'working', 'waiting', 'done', 'failed'] as const;

/** Whether the success criteria of a message were met. */
export const outcome = z.object({
  met: z.boolean().describe('Whether all criteria were met.'),
  reason: z.string().describe('The judge’s reason, in a sentence or two.'),
  rounds: z.int().describe('How many results were judged, 1 to 3: each that did not meet the criteria was sent back.'),
});

export const task = z
  .object({
    object: tag('task'),
    id: id('task'),
    user_id: userId().nullable().describe('The user of the task; null: the org’s own agent.'),
    conversation_id: id('conv').nullable().describe('The conversation that started it.'),
    deployment_id: id('dep').nullable().describe('The deployment that runs it.'),
    deployment_version: z.int().nullable().describe('The version of the deployment that runs it.'),
    status: z
      .enum(taskStatuses)
      .describe(
        '`queued` until a slot is free, `working`, `waiting` for an approval, question or call; at its end `done` or `failed`.',
      ),
    title: z.string().describe('A short title: from its plan or its hand-off, or else the first words of the message.'),
    ask: z.string().describe('The message that started it; cut to 280 characters in lists.'),
    progress: z
      .array(
        z.object({
          content: z.string().describe('One step of the plan.'),
          status: z.enum(['pending', 'in_progress', 'completed']).describe('The state of this step.'),
        }),
      )
      .describe('Its plan, step by step; empty if it has none. No step of a done task is in progress.'),
    result: z
      .object({
        text: z.string().nullable().describe('The final reply; cut to 280 characters in lists.'),
        data: z.unknown().describe('The structured value that `output_schema` requested; null if there is none.'),
        truncated,
      })
      .describe('The result; empty until it has ended.'),
    outcome: outcome
      .nullable()
      .describe('Whether the message’s `success_criteria` were met; null if there were none, or while it runs.'),
    error: shownFailure.nullable().describe('Why it failed or was stopped; null unless it was.'),
    ...costFields,
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .describe('A longer piece of work, separate from the reply.');

/** Omits costs and `outcome`, which reveals the company's criteria. */
export const taskSeen = {
  ...shown(
    'object',
    'id',
    'user_id',
    'conversation_id',
    'deployment_id',
    'deployment_version',
    'status',
    'title',
    'ask',
  ),
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
  .describe('Each step and each model call of a task.');

const taskParams = z.strictObject({ task_id: failsWith('invalid_task_id', id('task')) });

export const tasks = {
  list: route({
    method: 'GET',
    path: '/v1/tasks',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'List tasks, newest first.',
    description:
      'Needs scope `runtime`. Filters are combined. The text of a result is cut to 280 characters here; read the task for all of it.',
    query: z.strictObject({
      status: z.enum(taskStatuses).optional().describe('Only tasks that are in this state.'),
      user_id: userId().optional().describe('Only this user’s; absent: everybody’s.'),
      deployment_id: failsWith('invalid_deployment_id', text(1, 120))
        .optional()
        .describe('Only of this deployment: its id, slug or name.'),
      conversation_id: failsWith('invalid_conversation_id', id('conv'))
        .optional()
        .describe('Only tasks of this conversation.'),
      q: text(1, 200)
        .optional()
        .describe(
          'Only tasks that have each of these words in the first 1,000 characters of title and request. Reads the newest 10,000 tasks.',
        ),
      created_after: queryTime.optional().describe('Only those created at this time or later.'),
      created_before: queryTime.optional().describe('Only those created before this time.'),
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
      'Poll it, or preferably follow the conversation’s events: `task.completed`, `task.failed` and `task.stopped` report the end.',
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
    description: 'Its costs stay in the usage report. Its output files are deleted permanently.',
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
      'Inputs and outputs are shown as one line each; `include=content` adds them. Steps are stored as configured by the operator, 90 days by default; the totals stay.',
    params: taskParams,
    query: traceQuery,
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
    summary: 'Return only the structured result of a task; null until there is one.',
    description:
      'Returns the plain value, for use in a program. Rejected with `no_output_schema` if the message requested none.',
    params: taskParams,
    status: 200,
    response: z.unknown().describe('The value that `output_schema` requested.'),
    errors: ['task_not_found', 'no_output_schema'],
    command: 'tasks data',
  }),
};
