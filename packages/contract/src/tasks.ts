import { z } from 'zod';
import { costFields } from './cost.ts';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { truncated } from './message.ts';
import { deleted, page, pageQuery } from './page.ts';
import { queryTime } from './query-time.ts';
import { route } from './route.ts';
import { shown } from './session-access.ts';
import { text } from './text.ts';
import { time } from './time.ts';
import { traceFields } from './trace.ts';
import { userId } from './user-id.ts';

export const taskStatuses = ['queued', 'working', 'waiting', 'done', 'failed'] as const;

/** Whether the success criteria of a message were met. */
export const outcome = z.object({ met: z.boolean(), reason: z.string() });

export const task = z.object({
  object: z.literal('task'),
  id: id('task'),
  user_id: userId().nullable(),
  conversation_id: id('conv').nullable(),
  deployment_id: id('dep').nullable(),
  deployment_version: z.int().nullable(),
  status: z.enum(taskStatuses),
  title: z.string().nullable(),
  progress: z.array(z.object({ content: z.string(), status: z.enum(['pending', 'in_progress', 'completed']) })),
  result: z.object({
    text: z.string().nullable().meta({ description: 'The final reply; cut to 280 characters in lists.' }),
    data: z.unknown(),
    truncated,
  }),
  outcome: outcome.nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  ...costFields,
  created_at: time,
  updated_at: time,
});

/** Without costs, and without `outcome`, which tells what the company wanted of the work. */
export const taskSeen = {
  ...shown('object', 'id', 'user_id', 'conversation_id', 'deployment_id', 'deployment_version', 'status', 'title'),
  ...shown('created_at', 'updated_at'),
  progress: shown('content', 'status'),
  result: shown('text', 'data', 'truncated'),
  error: 'plain',
} as const;

const taskTrace = z.object({
  object: z.literal('task_trace'),
  task_id: id('task'),
  ...traceFields,
});

const taskParams = z.strictObject({ task_id: failsWith('invalid_task_id', id('task')) });

export const tasks = {
  list: route({
    method: 'GET',
    path: '/v1/tasks',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'List pieces of work, newest first.',
    query: z.strictObject({
      status: z.enum(taskStatuses).optional(),
      user_id: userId().optional(),
      deployment_id: failsWith('invalid_deployment_id', text(1, 120)).optional(),
      conversation_id: failsWith('invalid_conversation_id', id('conv')).optional(),
      created_after: queryTime.optional(),
      created_before: queryTime.optional(),
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
    params: taskParams,
    status: 200,
    response: z.unknown().meta({ description: 'The value that `output_schema` asked for.' }),
    errors: ['task_not_found', 'no_output_schema'],
    command: 'tasks data',
  }),
};
