import { z } from 'zod';
import { deploymentParams } from './deployment-params.ts';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { messageRoles } from './message.ts';
import { usd } from './money.ts';
import { deleted, page, pageQuery } from './page.ts';
import { modes, route } from './route.ts';
import { tag } from './tag.ts';
import { createdAt, time } from './time.ts';

export const testRunStatuses = ['queued', 'running', 'passed', 'failed', 'error', 'cancelled'] as const;

const count = z.int().min(0);

const decided = z
  .boolean()
  .describe('Whether the judge could decide. An undecided criterion is neither met nor broken.');

const result = z.object({
  scenario_id: id('scn'),
  name: z.string().describe('The name of the scenario at the time of the run.'),
  status: z.enum(testRunStatuses).describe('`passed` only if every criterion was met and nothing forbidden happened.'),
  runs: z
    .object({
      total: count.describe('How often it is played.'),
      passed: count.describe('Runs that passed.'),
      failed: count.describe('Runs that failed.'),
      error: count.describe('Runs that could not be decided.'),
    })
    .describe('The runs of the scenario. It passes only if all of them do.'),
  flaky: z
    .boolean()
    .describe(
      'Whether some of its runs passed and others failed. The rest of the result is that of the first one that failed.',
    ),
  criteria: z
    .array(
      z.object({
        text: z.string().describe('The criterion itself.'),
        met: z.boolean().describe('Whether the judge found it met.'),
        decided,
        reason: z.string().describe('The judge’s reason.'),
      }),
    )
    .describe('The verdict on each success criterion.'),
  must_never: z
    .array(
      z.object({
        text: z.string().describe('What must never happen.'),
        broken: z.boolean().describe('Whether the judge found that it did happen.'),
        decided,
        reason: z.string().describe('The judge’s reason.'),
      }),
    )
    .describe('The verdict on each prohibition.'),
  judged_by: z
    .string()
    .nullable()
    .describe('The model that judged; `offline` is the stand-in, which only matches words. Null before that.'),
  conversation_id: id('conv').nullable().describe('The conversation of the test; null before it started.'),
  transcript: z
    .array(
      z.object({
        role: z.enum(messageRoles).describe('The author: the simulated `user`, the `agent`, or `work`.'),
        text: z.string().describe('The text of the message.'),
      }),
    )
    .describe('The messages; empty in lists.'),
  duration_ms: count.describe('The duration in milliseconds.'),
  cost_usd: usd.describe('The cost of playing and judging it, in US dollars.'),
  error_code: z.string().nullable().describe('Why it could not be decided; null if it was.'),
  error_message: z
    .string()
    .nullable()
    .describe('Details of the code, such as which tool server was unreachable; null if there are none.'),
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
      .describe('`passed` if every scenario did; `error` if it could not be decided, with `error_code`.'),
    promote_on_pass: z.boolean().describe('Whether the version is promoted when the run passes.'),
    promoted: z
      .boolean()
      .nullable()
      .describe('Whether the run promoted its version. Null before it has ended, and for passed runs before 0.3.0.'),
    counts: z
      .object({
        total: count.describe('All scenarios of the run.'),
        queued: count.describe('Scenarios that have not started.'),
        running: count.describe('Scenarios that are being played or judged.'),
        passed: count.describe('Scenarios that passed.'),
        failed: count.describe('Scenarios that failed.'),
        error: count.describe('Scenarios that could not be decided.'),
      })
      .describe('The number of scenarios in each state.'),
    results: z.array(result).describe('The verdict on each scenario.'),
    resumes: count.describe('How often the run resumed after a restart.'),
    error_code: z
      .string()
      .nullable()
      .describe('Why the run ended in error, such as `no_judge_model`; null if it did not.'),
    note: z
      .string()
      .nullable()
      .describe(
        'A note about the run: it waits for an index, or it passed and promoted nothing because a later apply went before it.',
      ),
    cost_usd: usd.describe('The cost of the run so far, in US dollars.'),
    created_at: createdAt,
    started_at: time.nullable().describe('When the first scenario started; null before.'),
    finished_at: time.nullable().describe('When the last verdict was given; null before.'),
  })
  .describe('One run of all scenarios against a version.');

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
          status: z.enum(testRunStatuses).describe('The state of the run.'),
          counts: testRun.shape.counts,
          note: testRun.shape.note,
          cost_usd: usd.describe('The cost of the run so far, in US dollars.'),
          results: z.array(result).describe('The results that have changed since the previous event.'),
        }),
        z.object({ test_run: testRun.describe('The whole run with every result.') }),
      ])
      .describe('The progress of the run; with `test_run.completed` the whole run.'),
  })
  .describe('The progress of a test run.');

const closed = z
  .object({
    object: tag('test_run_event'),
    type: z.enum(['stream.closed']).describe('The last event of a stream that the server ends: follow the run again.'),
    seq: z.int().describe('The `seq` of the event before it.'),
    run_id: id('trun'),
    data: z
      .object({ reason: z.enum(['server_restarting']).describe('Why the server ended the stream.') })
      .describe('The reason of the end.'),
  })
  .describe('The end of a stream before the end of its run.');

export type TestRunProgress = z.input<typeof progress>;

const testRunParams = z.strictObject({ run_id: failsWith('test_run_not_found', id('trun')) });

export const testRuns = {
  create: route({
    method: 'POST',
    path: '/v1/deployments/{deployment_id}/test-runs',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Run every scenario of a deployment against its latest version.',
    description:
      'Returns at once: follow its events, or wait for `test_run.completed`. A run costs as much as its model calls. It plays at most 12 exchanges per scenario and changes nothing outside.',
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
    description: 'Transcripts are omitted here: read one run for them.',
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
    description: 'A run resumes by itself after a restart. The run of an improvement needs scope `runtime` too.',
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
    summary: 'Follow a test run: first its state, then each change, until it has ended.',
    description: 'An event stream whose first event is the current state, so that reconnecting needs no bookmark.',
    params: testRunParams,
    status: 200,
    response: progress,
    produces: ['text/event-stream'],
    isJson: false,
    streams: true,
    streamed: z.union([progress, closed]),
    errors: [],
    command: 'test-runs events',
  }),
  cancel: route({
    method: 'POST',
    path: '/v1/test-runs/{run_id}/cancel',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Cancel a test run; one that has ended stays unchanged.',
    description:
      'Running scenarios end as `cancelled`, and nothing is promoted. A run started with a live key needs one to be cancelled.',
    params: testRunParams,
    status: 200,
    response: testRun,
    errors: ['live_key_required'],
    command: 'test-runs cancel',
  }),
  delete: route({
    method: 'DELETE',
    path: '/v1/test-runs/{run_id}',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Delete a test run that has ended, with its results and conversations.',
    description:
      'Costs stay in the usage report. A version whose only passed run is deleted counts as untested. A run started with a live key needs one to be deleted.',
    params: testRunParams,
    status: 200,
    response: deleted('test_run'),
    errors: ['still_running', 'live_key_required'],
    command: 'test-runs delete',
  }),
};
