import { area } from '../requirement.ts';

export const tasks = area('tasks', 'done', [
  [
    'TASK-001',
    'docs/api/tasks.md#task',
    'A task shows `id` (`task_`), `object: task`, `user_id`, `conversation_id`, `deployment_id`, `deployment_version`, `status`, `title`, `progress`, `result`, `outcome`, `cost_usd`, `cost_breakdown`, `created_at`, `updated_at`.',
  ],
  ['TASK-002', 'docs/api/tasks.md#get-v1tasks', '`status` is one of `queued`, `working`, `waiting`, `done`, `failed`.'],
  ['TASK-003', 'docs/events.md#conversation', 'A task that waits on an approval or a question is `waiting`.'],
  ['TASK-004', 'docs/api/tasks.md#task', '`title` and `ask` are never null.'],
  [
    'TASK-005',
    'docs/api/tasks.md#task',
    '`progress` is `{content, status}` rows of `pending`, `in_progress`, `completed`, empty without a plan.',
  ],
  ['TASK-006', 'docs/api/tasks.md#task', '`result` is `{text, data}`, each null if there is none.'],
  ['TASK-007', 'docs/api/tasks.md#task', '`result.text` is cut to 280 characters in lists.'],
  [
    'TASK-008',
    'docs/api/tasks.md#task',
    '`result.text` is cut to 280 characters for a task that ended before its answer was recorded.',
  ],
  ['TASK-009', 'docs/api/tasks.md#task', '`result.data` is returned for an `output_schema` and fits it.'],
  [
    'TASK-010',
    'docs/api/tasks.md#task',
    '`outcome` is null, or `{met, reason, rounds}` when the message had success criteria.',
  ],
  ['TASK-011', 'docs/api/tasks.md#tasktrace', 'A trace is `{object: task_trace, task_id, steps, turns, totals}`.'],
  [
    'TASK-012',
    'docs/api/tasks.md#tracestep',
    'A step is `{tool_use_id, name, input_summary, output_summary, is_error, started_at, finished_at, duration_ms}`, null if unknown.',
  ],
  ['TASK-013', 'docs/api/tasks.md#tracestep', '`input_summary` is one line and never the raw input.'],
  ['TASK-014', 'docs/api/tasks.md#tracestep', '`finished_at` of a step is null while it runs.'],
  [
    'TASK-015',
    'docs/api/tasks.md#tasktrace',
    'A turn of a trace is `{turn_id, model, input_tokens, output_tokens, cache_read_tokens, cost_usd, duration_ms, status, started_at}`.',
  ],
  [
    'TASK-016',
    'docs/api/tasks.md#tasktrace',
    '`totals` is `{input_tokens, output_tokens, cost_usd}` and sums the turns.',
  ],
  ['TASK-017', 'docs/api/tasks.md#get-v1tasks', '`GET /v1/tasks` lists tasks by pages.'],
  [
    'TASK-018',
    'docs/api/tasks.md#get-v1tasks',
    '`status`, `user_id`, `deployment_id` and `conversation_id` filter the list.',
  ],
  [
    'TASK-019',
    'docs/api/tasks.md#get-v1tasks',
    '`created_after` and `created_before` filter by ISO 8601 time; another form is refused.',
  ],
  [
    'TASK-020',
    'docs/api/tasks.md#get-v1taskstask_id',
    '`GET /v1/tasks/{task_id}` answers the task with the whole result text.',
  ],
  [
    'TASK-021',
    'docs/api/tasks.md#delete-v1taskstask_id',
    '`DELETE /v1/tasks/{task_id}` answers `{id, object: task, deleted: true}` and removes the task and its outputs.',
  ],
  ['TASK-022', 'docs/conversation-reference.md#tasks', '`DELETE` of a running task stops it first.'],
  ['TASK-023', 'docs/api/tasks.md#get-v1taskstask_idtrace', '`GET /v1/tasks/{task_id}/trace` answers the trace.'],
  [
    'TASK-024',
    'docs/conversation-reference.md#tasks',
    'A task goes from `queued` to `working`, between `working` and `waiting`, and ends `done` or `failed`.',
  ],
  [
    'TASK-025',
    'docs/conversation-reference.md#tasks',
    'A stopped task ends `failed` with `error: {code, message}` and the event `task.stopped`.',
  ],
  [
    'TASK-026',
    'docs/api/tasks.md#get-v1taskstask_iddata',
    '`GET /v1/tasks/{id}/data` answers the structured result alone.',
  ],
  [
    'TASK-027',
    'docs/api/tasks.md#get-v1taskstask_iddata',
    '`GET /v1/tasks/{id}/data` of a task without an output schema answers 400 `no_output_schema`.',
  ],
  [
    'TASK-028',
    'docs/conversation-reference.md#tasks',
    '`task.completed` is emitted when a task finishes and `task.failed` when it fails.',
  ],
  [
    'TASK-029',
    'docs/conversation-reference.md#tasks',
    '`task.stopped` by a limit or policy carries `reason` and `message` (or null).',
  ],
  [
    'TASK-030',
    'docs/conversation-reference.md#tasks',
    '`task.stopped` by the caller or a person carries neither `reason` nor `message`.',
  ],
  [
    'TASK-031',
    'docs/conversation-reference.md#tasks',
    '`reason` is `max_turns`, `max_budget`, `credits_exhausted` or `hook_blocked`.',
  ],
  ['TASK-032', 'docs/conversation-reference.md#tasks', 'Reaching `max_steps` or `max_minutes` stops with `max_turns`.'],
  [
    'TASK-033',
    'docs/conversation-reference.md#tasks',
    'Reaching `per_task_usd`, `per_turn_usd` or a cap stops with `max_budget`.',
  ],
  [
    'TASK-034',
    'docs/conversation-reference.md#tasks',
    'An empty wallet, before or during work, stops with `credits_exhausted`.',
  ],
  [
    'TASK-035',
    'docs/policies.md',
    'The policy hook at `VESTRA_POLICY_HOOK_URL` is asked before each changing tool call, with a signed request.',
  ],
  [
    'TASK-036',
    'docs/policies.md',
    'A policy hook that answers `allow: false` stops with `hook_blocked` and its message.',
  ],
  ['TASK-037', 'docs/policies.md', 'A policy hook that gives no answer in 2 seconds is a no.'],
  ['TASK-038', 'docs/policies.md', 'A read-only tool call does not ask the policy hook.'],
  ['TASK-039', 'docs/conversation-reference.md#tasks', 'An unknown task answers 404 `task_not_found`.'],
  [
    'TASK-141',
    'docs/conversation-reference.md#tasks',
    'The judge of `success_criteria` reads the arguments of tool calls beside their results.',
  ],
  [
    'TASK-161',
    'docs/conversation-reference.md#tasks',
    'The totals of a trace are all that the task was charged, and a stopped or judging call stands in it.',
  ],
  [
    'TASK-241',
    'docs/conversation-reference.md#tasks',
    'A step is one call of the model with the tools it asks for; tools that the last step asks for are not run.',
  ],
  [
    'TASK-242',
    'docs/conversation-reference.md#tasks',
    '`max_minutes` ends a running call of the model or of a tool, and the work with `max_turns`.',
  ],
  [
    'TASK-244',
    'docs/conversation-reference.md#tasks',
    'The `input_summary` of a step describes the call, and `turn_id` of a turn is the id of the turn.',
  ],
  [
    'TASK-243',
    'docs/conversation-reference.md#tasks',
    'Every tool call has a time limit: one that takes too long is an error to the agent, which continues.',
  ],
  [
    'TASK-240',
    'docs/conversation-reference.md#tasks',
    'Work that begins without a word of the model is acknowledged in the user’s `locale`, or else in the language of the agent, or else in that of the message.',
  ],
  [
    'TASK-640',
    'docs/conversation-reference.md#tasks',
    'A task that reaches its time limit in a tool names that limit in `task.stopped`, `task.error` and `turn.error`.',
  ],
]);
