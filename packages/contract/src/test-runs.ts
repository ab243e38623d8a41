import { z } from 'zod';
import { deploymentParams } from './deployment-params.ts';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { messageRoles } from './message.ts';
import { usd } from './money.ts';
import { page, pageQuery } from './page.ts';
import { modes, route } from './route.ts';
import { time } from './time.ts';

export const testRunStatuses = ['queued', 'running', 'passed', 'failed', 'error', 'cancelled'] as const;

const count = z.int().min(0);

const decided = z
  .boolean()
  .meta({ description: 'Whether the judge could tell. What it could not tell is neither met nor broken.' });

const result = z.object({
  scenario_id: id('scn'),
  name: z.string(),
  status: z.enum(testRunStatuses),
  criteria: z.array(z.object({ text: z.string(), met: z.boolean(), decided, reason: z.string() })),
  must_never: z.array(z.object({ text: z.string(), broken: z.boolean(), decided, reason: z.string() })),
  judged_by: z.string().nullable().meta({
    description: 'The model that judged; `offline` is the stand-in, which only matches words. Null before that.',
  }),
  conversation_id: id('conv').nullable(),
  transcript: z
    .array(z.object({ role: z.enum(messageRoles), text: z.string() }))
    .meta({ description: 'What was said; empty in lists.' }),
  duration_ms: count,
  cost_usd: usd,
  error_code: z.string().nullable(),
  error_message: z
    .string()
    .nullable()
    .meta({ description: 'What the code means here, such as which tool server was away; null where there is none.' }),
});

export const testRun = z.object({
  object: z.literal('test_run'),
  id: id('trun'),
  deployment_id: id('dep'),
  version: z.int().min(1),
  mode: z.enum(modes),
  status: z.enum(testRunStatuses),
  promote_on_pass: z.boolean(),
  counts: z.object({ total: count, queued: count, running: count, passed: count, failed: count, error: count }),
  results: z.array(result),
  /** How often the run went on after a restart had cut it off. */
  resumes: count,
  error_code: z.string().nullable(),
  note: z
    .string()
    .nullable()
    .meta({ description: 'What a reader should know besides the results, such as that the run waits for an index.' }),
  cost_usd: usd,
  created_at: time,
  started_at: time.nullable(),
  finished_at: time.nullable(),
});

const progress = z.object({
  object: z.literal('test_run_event'),
  type: z.enum(['test_run.progress', 'test_run.completed']),
  seq: z.int().meta({ description: 'Counts up from 1 on this stream.' }),
  run_id: id('trun'),
  data: z
    .union([
      z.object({
        status: z.enum(testRunStatuses),
        counts: testRun.shape.counts,
        note: testRun.shape.note,
        cost_usd: usd,
        results: z.array(result).meta({ description: 'The results that have changed since the event before.' }),
      }),
      z.object({ test_run: testRun }),
    ])
    .meta({ description: 'How far the run is; with `test_run.completed` the whole run.' }),
});

export type TestRunProgress = z.input<typeof progress>;

const testRunParams = z.strictObject({ run_id: failsWith('test_run_not_found', id('trun')) });

export const testRuns = {
  create: route({
    method: 'POST',
    path: '/v1/deployments/{deployment_id}/test-runs',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Play every scenario of a deployment against its latest version.',
    idempotent: true,
    params: deploymentParams,
    status: 202,
    response: testRun,
    errors: [
      'deployment_not_found',
      'deployment_archived',
      'invalid_request',
      'wallet_empty',
      'org_cap_reached',
      'model_unavailable',
    ],
    command: 'test-runs create',
  }),
  list: route({
    method: 'GET',
    path: '/v1/deployments/{deployment_id}/test-runs',
    auth: 'key',
    scopes: ['setup'],
    summary: 'List the test runs of a deployment, newest first.',
    params: deploymentParams,
    query: z.strictObject(pageQuery),
    status: 200,
    response: page(testRun),
    errors: ['deployment_not_found'],
    command: 'test-runs list',
  }),
  get: route({
    method: 'GET',
    path: '/v1/test-runs/{run_id}',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Read a test run with the verdict on each scenario.',
    params: testRunParams,
    status: 200,
    response: testRun,
    errors: [],
    command: 'test-runs get',
  }),
  events: route({
    method: 'GET',
    path: '/v1/test-runs/{run_id}/events',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Follow a test run: first where it stands, then each change, until it has ended.',
    params: testRunParams,
    status: 200,
    response: progress,
    produces: ['text/event-stream'],
    streams: true,
    errors: [],
    command: 'test-runs events',
  }),
  cancel: route({
    method: 'POST',
    path: '/v1/test-runs/{run_id}/cancel',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Cancel a test run; one that has ended stays as it is.',
    params: testRunParams,
    status: 200,
    response: testRun,
    errors: ['live_key_required'],
    command: 'test-runs cancel',
  }),
};
