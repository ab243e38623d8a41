import { z } from 'zod';
import { deploymentParams } from './deployment-params.ts';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { messageRoles } from './message.ts';
import { usd } from './money.ts';
import { page, pageQuery } from './page.ts';
import { modes, route } from './route.ts';
import { tag } from './tag.ts';
import { createdAt, time } from './time.ts';

export const testRunStatuses = ['queued', 'running', 'passed', 'failed', 'error', 'cancelled'] as const;

const count = z.int().min(0);

const decided = z.boolean().describe('Whether the judge could tell. What it could not tell is neither met nor broken.');

const result = z.object({
  scenario_id: id('scn'),
  name: z.string().describe('What the scenario was called when it was played.'),
  status: z
    .enum(testRunStatuses)
    .describe('`passed` only where every criterion was met and nothing forbidden happened.'),
  criteria: z
    .array(
      z.object({
        text: z.string().describe('The criterion itself.'),
        met: z.boolean().describe('Whether the judge found it met.'),
        decided,
        reason: z.string().describe('Why the judge thinks so.'),
      }),
    )
    .describe('The verdict on each success criterion.'),
  must_never: z
    .array(
      z.object({
        text: z.string().describe('What must never happen.'),
        broken: z.boolean().describe('Whether the judge found that it did happen.'),
        decided,
        reason: z.string().describe('Why the judge thinks so.'),
      }),
    )
    .describe('The verdict on each thing that must never happen.'),
  judged_by: z
    .string()
    .nullable()
    .describe('The model that judged; `offline` is the stand-in, which only matches words. Null before that.'),
  conversation_id: id('conv').nullable().describe('The conversation that was played; null before it began.'),
  transcript: z
    .array(
      z.object({
        role: z.enum(messageRoles).describe('Who said it: the pretend `user`, the `agent`, or `work`.'),
        text: z.string().describe('What was said.'),
      }),
    )
    .describe('What was said; empty in lists.'),
  duration_ms: count.describe('How long it took in milliseconds.'),
  cost_usd: usd.describe('What playing and judging it was billed, in US dollars.'),
  error_code: z.string().nullable().describe('Why it could not be decided; null where it was.'),
  error_message: z
    .string()
    .nullable()
    .describe('What the code means here, such as which tool server was away; null where there is none.'),
});

export const testRun = z
  .object({
    object: tag('test_run'),
    id: id('trun'),
    deployment_id: id('dep'),
    version: z.int().min(1).describe('The version that is tested.'),
    mode: z.enum(modes).describe('The mode whose wallet pays for it.'),
    status: z
      .enum(testRunStatuses)
      .describe('`passed` where every scenario did; `error` where it could not be decided, as `error_code` says.'),
    promote_on_pass: z.boolean().describe('Whether the version is promoted when the run passes.'),
    counts: z
      .object({
        total: count.describe('All scenarios of the run.'),
        queued: count.describe('Scenarios that have not begun.'),
        running: count.describe('Scenarios that are being played or judged.'),
        passed: count.describe('Scenarios that passed.'),
        failed: count.describe('Scenarios that failed.'),
        error: count.describe('Scenarios that could not be decided.'),
      })
      .describe('How many scenarios are in each state.'),
    results: z.array(result).describe('The verdict on each scenario.'),
    resumes: count.describe('How often the run went on after a restart had cut it off.'),
    error_code: z
      .string()
      .nullable()
      .describe('Why the run ended in error, such as `no_judge_model`; null where it did not.'),
    note: z
      .string()
      .nullable()
      .describe('What a reader should know besides the results, such as that the run waits for an index.'),
    cost_usd: usd.describe('What the run was billed so far, in US dollars.'),
    created_at: createdAt,
    started_at: time.nullable().describe('When the first scenario began; null before.'),
    finished_at: time.nullable().describe('When the last verdict fell; null before.'),
  })
  .describe('One play of all scenarios against a version.');

const progress = z
  .object({
    object: tag('test_run_event'),
    type: z
      .enum(['test_run.progress', 'test_run.completed'])
      .describe('`test_run.progress` with each change, `test_run.completed` once at the end.'),
    seq: z.int().describe('Counts up from 1 on this stream.'),
    run_id: id('trun'),
    data: z
      .union([
        z.object({
          status: z.enum(testRunStatuses).describe('How the run stands.'),
          counts: testRun.shape.counts,
          note: testRun.shape.note,
          cost_usd: usd.describe('What the run was billed so far, in US dollars.'),
          results: z.array(result).describe('The results that have changed since the event before.'),
        }),
        z.object({ test_run: testRun.describe('The whole run with every result.') }),
      ])
      .describe('How far the run is; with `test_run.completed` the whole run.'),
  })
  .describe('How far a test run is.');

export type TestRunProgress = z.input<typeof progress>;

const testRunParams = z.strictObject({ run_id: failsWith('test_run_not_found', id('trun')) });

export const testRuns = {
  create: route({
    method: 'POST',
    path: '/v1/deployments/{deployment_id}/test-runs',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Play every scenario of a deployment against its latest version.',
    description:
      'Answers at once: follow it by its events, or `test_run.completed`. A run costs what its model calls cost. It plays at most 12 exchanges a scenario and changes nothing outside.',
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
    description: 'Transcripts are left out here: read one run for them.',
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
    description: 'A run that a restart cut off goes on by itself.',
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
    description:
      'An event stream whose first event is where the run stands now, so that reconnecting needs no bookmark.',
    params: testRunParams,
    status: 200,
    response: progress,
    produces: ['text/event-stream'],
    isJson: false,
    streams: true,
    streamed: progress,
    errors: [],
    command: 'test-runs events',
  }),
  cancel: route({
    method: 'POST',
    path: '/v1/test-runs/{run_id}/cancel',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Cancel a test run; one that has ended stays as it is.',
    description:
      'Scenarios that are being played end as `cancelled`, and nothing is promoted. A run begun with a live key is cancelled with one.',
    params: testRunParams,
    status: 200,
    response: testRun,
    errors: ['live_key_required'],
    command: 'test-runs cancel',
  }),
};
