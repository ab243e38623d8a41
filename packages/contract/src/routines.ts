import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { jsonBytes } from './json-bytes.ts';
import { namedDeployment } from './named-deployment.ts';
import { deleted, page, pageQuery } from './page.ts';
import { route } from './route.ts';
import { shownFailure } from './shown-failure.ts';
import { tag } from './tag.ts';
import { text } from './text.ts';
import { createdAt, time, updatedAt } from './time.ts';
import { timeZone } from './time-zone.ts';
import { userId } from './user-id.ts';

const routineKinds = ['schedule', 'trigger', 'app_event'] as const;
const routineStatuses = ['active', 'completed', 'failed'] as const;

export const routine = z
  .object({
    object: tag('routine'),
    id: id('rtn'),
    user_id: userId().nullable().describe('The user it runs for; null: the org’s own agent.'),
    conversation_id: id('conv').nullable().describe('The conversation of its runs; null until there is one.'),
    name: z.string().describe('Its name; if none was given, the start of `ask`.'),
    ask: z.string().describe('The message to the agent at every run.'),
    success_criteria: z
      .string()
      .nullable()
      .describe('What the result of every run must meet; null: the runs are not judged.'),
    kind: z
      .enum(routineKinds)
      .describe('What starts it: a schedule, a call of your system, or an event in a connected app.'),
    schedule: z
      .object({
        every: z.string().nullable().describe('The plain words of the schedule; null if it was given as cron.'),
        cron: z.string().describe('The same as five cron fields.'),
        timezone: z.string().describe('The IANA time zone of the schedule.'),
      })
      .nullable()
      .describe('When it runs; null for one that runs on a call.'),
    trigger: z
      .object({
        filters: z
          .record(z.string(), z.unknown())
          .nullable()
          .describe('Fields and values that a payload must contain; null: any payload runs it.'),
      })
      .nullable()
      .describe('The conditions of a call; null for a scheduled one.'),
    trigger_url: z
      .string()
      .nullable()
      .describe('The address for your system’s calls with an API key; null for a scheduled one.'),
    enabled: z.boolean().describe('False while it is paused.'),
    status: z
      .enum(routineStatuses)
      .describe('`active`; `completed`: it will not run again; `failed`: an error stopped it permanently.'),
    last_run_at: time.nullable().describe('When it last ran; null before its first run.'),
    next_run_at: time.nullable().describe('When it runs next; null while it is paused, finished or run on a call.'),
    run_count: z.int().describe('The number of its runs.'),
    last_error: z
      .object({ ...shownFailure.shape, at: time.describe('When it failed, as ISO 8601 in UTC.') })
      .nullable()
      .describe('Why the last due run did not happen; null once one has.'),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .describe('A message that the agent gets repeatedly.');

const routineRun = z
  .object({
    object: tag('routine_run'),
    routine_id: id('rtn'),
    status: z
      .enum(['started', 'filtered', 'skipped'])
      .describe('`started`; `filtered`: the payload did not match; `skipped`: the routine is paused or has ended.'),
    conversation_id: id('conv').nullable().describe('The conversation of the run; null if none started.'),
    turn_id: id('turn').nullable().describe('The turn of the run; null if none started.'),
  })
  .describe('The result of running a routine now.');

const cron = text(1, 120).refine((fields) => fields.trim().split(/\s+/).length === 5, {
  error: 'A cron schedule has five fields: minute, hour, day of month, month, day of week.',
});

const when = {
  every: failsWith('invalid_schedule', text(1, 100))
    .optional()
    .describe(
      'Plain words such as `weekday at 08:00`, `mon, wed, fri at 18:30`, `30 minutes` or `month on the 1st at 09:00`.',
    ),
  schedule: failsWith(
    'invalid_schedule',
    z.strictObject({
      cron: cron.describe('Five fields: minute, hour, day of month, month, day of week.'),
      timezone: timeZone().optional().describe('The IANA time zone of these fields; absent: the user’s, then UTC.'),
    }),
  )
    .optional()
    .describe('A cron schedule instead of plain words.'),
  on: failsWith('invalid_schedule', z.literal('call'))
    .optional()
    .describe('`call`: it runs whenever your system posts to its `trigger_url`.'),
};

const routineFields = {
  name: text(1, 200).optional().describe('Its name; absent: the start of `ask`.'),
  ...when,
  timezone: timeZone().optional().describe('The IANA time zone of the schedule; absent: the user’s, then UTC.'),
  user_id: userId()
    .optional()
    .describe('The user it runs for; absent: the org’s own agent, unless the org requires a user.'),
  conversation_id: failsWith('invalid_conversation_id', id('conv'))
    .optional()
    .describe('An existing conversation of the same user to run in; absent: a separate one.'),
  deployment: namedDeployment
    .optional()
    .describe('The agent that runs it: a dep_ id, a slug or a name; absent: the user’s default, then the org’s.'),
};

const filters = z
  .record(z.string(), z.unknown())
  .describe('With `on: call`: fields and values that a payload must contain.');

type When = { every?: unknown; schedule?: unknown; on?: unknown };

const countWhen = (body: When): number =>
  [body.every, body.schedule, body.on].filter((given) => given !== undefined).length;

const exactlyOne = {
  error: 'Give exactly one of `every`, `schedule` or `on: call`.',
  params: { code: 'invalid_schedule' },
};

const filtersNeedCall = {
  error: '`filters` need `on: call`.',
  path: ['filters'],
  params: { code: 'invalid_trigger' },
};

const routineParams = z.strictObject({ routine_id: failsWith('routine_not_found', id('rtn')) });

const fieldErrors = [
  'invalid_schedule',
  'schedule_unreadable',
  'schedule_too_frequent',
  'invalid_user_timezone',
  'invalid_trigger',
  'invalid_conversation_id',
  'conversation_not_found',
  'conversation_user_mismatch',
  'invalid_deployment',
  'deployment_required',
  'user_required',
  'user_disabled',
  'deployment_not_live',
  'deployment_archived',
] as const;

const runErrors = [
  'user_disabled',
  'deployment_not_live',
  'deployment_archived',
  'deployment_deleted',
  'wallet_empty',
  'org_cap_reached',
  'user_cap_reached',
  'model_unavailable',
] as const;

export const routines = {
  list: route({
    method: 'GET',
    path: '/v1/routines',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'List the routines of one user, or of the org’s own agent.',
    description: 'Needs scope `runtime`. Newest first.',
    query: z.strictObject({
      user_id: userId().optional().describe('The user of the routines; absent: the org’s own agent.'),
      ...pageQuery,
    }),
    status: 200,
    response: page(routine),
    errors: ['user_required'],
    command: 'routines list',
  }),
  create: route({
    method: 'POST',
    path: '/v1/routines',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Send a message on a schedule, or whenever your system calls.',
    description:
      'Set exactly one of `every`, `schedule` and `on: call`. It runs at most once every 15 minutes; runs missed while the server was down run once.',
    idempotent: true,
    body: z
      .strictObject({
        ask: text(1, 8000).describe('The message to the agent at every run, 1 to 8,000 characters.'),
        success_criteria: text(1, 4000)
          .optional()
          .describe(
            'What the result of every run must meet, as in a message; each run is then a task with an `outcome`.',
          ),
        ...routineFields,
        filters: filters.optional(),
        enabled: z.boolean().default(true).describe('False: it is saved but does not run yet.'),
      })
      .refine((body) => countWhen(body) === 1, exactlyOne)
      .refine((body) => body.filters === undefined || body.on !== undefined, filtersNeedCall),
    status: 201,
    response: routine,
    errors: fieldErrors,
    command: 'routines add',
  }),
  get: route({
    method: 'GET',
    path: '/v1/routines/{routine_id}',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Show a routine with its last and next run.',
    description: '`last_error` shows why a due run did not happen.',
    params: routineParams,
    status: 200,
    response: routine,
    errors: [],
    command: 'routines get',
  }),
  update: route({
    method: 'PATCH',
    path: '/v1/routines/{routine_id}',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Change a routine; `enabled: false` pauses it.',
    description: 'Omitted fields stay. A routine of a deployment file is changed there (409 `managed_by_file`).',
    params: routineParams,
    body: z
      .strictObject({
        ask: text(1, 8000).optional().describe('The new message to the agent.'),
        success_criteria: text(1, 4000)
          .nullable()
          .optional()
          .describe('What the result of every run must meet; null: the runs are no longer judged.'),
        ...routineFields,
        filters: filters
          .nullable()
          .optional()
          .describe('With `on: call`: fields and values that a payload must contain; null: any payload runs it.'),
        // No default here: renaming must not resume a paused routine.
        enabled: z.boolean().optional().describe('False pauses it and keeps its schedule; true resumes it.'),
      })
      .refine((body) => countWhen(body) <= 1, exactlyOne)
      .refine(
        (body) => body.filters === undefined || (body.every === undefined && body.schedule === undefined),
        filtersNeedCall,
      ),
    status: 200,
    response: routine,
    errors: [...fieldErrors, 'not_a_schedule_routine', 'managed_by_file'],
    command: 'routines update',
  }),
  delete: route({
    method: 'DELETE',
    path: '/v1/routines/{routine_id}',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Delete a routine; its conversation stays.',
    description: 'A run that has started continues.',
    params: routineParams,
    status: 200,
    response: deleted('routine'),
    errors: ['managed_by_file'],
    command: 'routines delete',
  }),
  run: route({
    method: 'POST',
    path: '/v1/routines/{routine_id}/run',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Run a routine once, now.',
    description: 'Also for a paused one. The response names the turn to follow.',
    params: routineParams,
    status: 202,
    response: routineRun,
    errors: runErrors,
    command: 'routines run',
  }),
  trigger: route({
    method: 'POST',
    path: '/v1/routines/{routine_id}/trigger',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Run a routine that waits for a call, with a payload of at most 4 KB.',
    description:
      'The agent reads the payload as data, never as instructions. A payload that does not match the filters returns `filtered` and runs nothing.',
    params: routineParams,
    body: z
      .record(z.string(), z.unknown())
      .refine((payload) => jsonBytes(payload) <= 4096, {
        error: 'A trigger payload can have at most 4 KB.',
        params: { code: 'payload_too_large' },
      })
      .describe('Any JSON of at most 4 KB from your system; the agent reads it as data.'),
    bodyOptional: true,
    status: 202,
    response: routineRun,
    errors: [...runErrors, 'payload_too_large', 'not_a_trigger_routine'],
    command: 'routines trigger',
  }),
};
