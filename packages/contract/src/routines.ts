import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { jsonBytes } from './json-bytes.ts';
import { namedDeployment } from './named-deployment.ts';
import { deleted, page, pageQuery } from './page.ts';
import { route } from './route.ts';
import { text } from './text.ts';
import { time } from './time.ts';
import { timeZone } from './time-zone.ts';
import { userId } from './user-id.ts';

const routineKinds = ['schedule', 'trigger', 'app_event'] as const;
const routineStatuses = ['active', 'completed', 'failed'] as const;

export const routine = z.object({
  object: z.literal('routine'),
  id: id('rtn'),
  user_id: userId().nullable(),
  conversation_id: id('conv').nullable(),
  name: z.string(),
  ask: z.string(),
  kind: z.enum(routineKinds),
  schedule: z.object({ every: z.string().nullable(), cron: z.string(), timezone: z.string() }).nullable(),
  trigger: z.object({ filters: z.record(z.string(), z.unknown()).nullable() }).nullable(),
  trigger_url: z.string().nullable(),
  enabled: z.boolean(),
  status: z.enum(routineStatuses),
  last_run_at: time.nullable(),
  next_run_at: time.nullable(),
  run_count: z.int(),
  last_error: z
    .object({ code: z.string(), message: z.string(), at: time })
    .nullable()
    .meta({ description: 'Why the last run that was due did not happen; null once one has.' }),
  created_at: time,
  updated_at: time,
});

const routineRun = z.object({
  object: z.literal('routine_run'),
  routine_id: id('rtn'),
  status: z.enum(['started', 'filtered', 'skipped']),
  conversation_id: id('conv').nullable(),
  turn_id: id('turn').nullable(),
});

const cron = text(1, 120).refine((fields) => fields.trim().split(/\s+/).length === 5, {
  error: 'A cron schedule has five fields: minute, hour, day of month, month, day of week.',
});

const when = {
  every: failsWith('invalid_schedule', text(1, 100)).optional(),
  schedule: failsWith('invalid_schedule', z.strictObject({ cron, timezone: timeZone().optional() })).optional(),
  on: failsWith('invalid_schedule', z.literal('call')).optional(),
};

const routineFields = {
  name: text(1, 200).optional(),
  ...when,
  timezone: timeZone().optional(),
  user_id: userId().optional(),
  conversation_id: failsWith('invalid_conversation_id', id('conv')).optional(),
  deployment: namedDeployment.optional(),
};

const filters = z
  .record(z.string(), z.unknown())
  .meta({ description: 'With `on: call`: fields and values that a payload must carry.' });

type When = { every?: unknown; schedule?: unknown; on?: unknown };

const countWhen = (body: When): number =>
  [body.every, body.schedule, body.on].filter((given) => given !== undefined).length;

const exactlyOne = {
  error: 'Give exactly one of `every`, `schedule` or `on: call`.',
  params: { code: 'invalid_schedule' },
};

const filtersNeedCall = {
  error: '`filters` go with `on: call`.',
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
    query: z.strictObject({ user_id: userId().optional(), ...pageQuery }),
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
    summary: 'Ask something on a schedule, or whenever your own system calls.',
    idempotent: true,
    body: z
      .strictObject({
        ask: text(1, 8000),
        ...routineFields,
        filters: filters.optional(),
        enabled: z.boolean().default(true),
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
    params: routineParams,
    body: z
      .strictObject({
        ask: text(1, 8000).optional(),
        ...routineFields,
        filters: filters.nullable().optional(),
        // No default here: a change of the name alone must not resume a paused routine.
        enabled: z.boolean().optional(),
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
    params: routineParams,
    body: z.record(z.string(), z.unknown()).refine((payload) => jsonBytes(payload) <= 4096, {
      error: 'A trigger payload may hold at most 4 KB.',
      params: { code: 'payload_too_large' },
    }),
    bodyOptional: true,
    status: 202,
    response: routineRun,
    errors: [...runErrors, 'payload_too_large', 'not_a_trigger_routine'],
    command: 'routines trigger',
  }),
};
