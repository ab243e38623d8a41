import { z } from 'zod';
import { deploymentParams } from './deployment-params.ts';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { usd } from './money.ts';
import { page, pageQuery } from './page.ts';
import { modes, route } from './route.ts';
import { tag } from './tag.ts';
import { createdAt, time } from './time.ts';

const improvementStatuses = [
  'queued',
  'reproducing',
  'proposing',
  'proving',
  'completed',
  'failed',
  'cancelled',
] as const;

const improvementOutcomes = ['improved', 'not_reproduced', 'not_fixed', 'regressed', 'budget_reached'] as const;

const mostConversations = 20;
const count = z.int().min(0);

const source = z
  .discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('insight').describe('The conversations of one insight.'),
      insight_id: failsWith('insight_not_found', id('ins')).describe('The `id` of an insight of this deployment.'),
    }),
    z.strictObject({ type: z.literal('ratings').describe('The newest conversations with a bad rating, at most 20.') }),
    z.strictObject({
      type: z.literal('conversations').describe('Conversations that you name.'),
      conversation_ids: z
        .array(id('conv'))
        .min(1, 'Name at least one conversation.')
        .max(mostConversations, `At most ${mostConversations} conversations.`)
        .describe('Conversations of this deployment in the mode of the key, 1 to 20.'),
    }),
  ])
  .describe('Where the failures come from.');

/** Deleted conversations leave the list, so it may be empty. */
const shownSource = z
  .discriminatedUnion('type', [
    z.object({
      type: z.literal('insight').describe('The conversations of one insight.'),
      insight_id: id('ins').describe('The insight that names the conversations.'),
    }),
    z.object({ type: z.literal('ratings').describe('The newest conversations with a bad rating.') }),
    z.object({
      type: z.literal('conversations').describe('Conversations that were named.'),
      conversation_ids: z.array(id('conv')).describe('The conversations that still exist.'),
    }),
  ])
  .describe('Where the failures come from.');

const played = z.object({
  runs: count.describe('How often it was played.'),
  passed: count.describe('Runs that passed.'),
  failed: count.describe('Runs that failed.'),
  error: count.describe('Runs that could not be decided.'),
  conversation_id: id('conv')
    .nullable()
    .describe('A conversation that shows the result: of a failed run, if there is one. Null if none was played.'),
});

const draftedScenario = z.object({
  scenario_id: id('scn').describe('Its id in the test runs of the improvement.'),
  conversation_id: id('conv').describe('The real conversation.'),
  status: z
    .enum(['drafting', 'queued', 'reproduced', 'not_reproduced', 'undecided', 'left_out'])
    .describe(
      '`reproduced` if a run failed on the current version; `left_out` if no scenario could be drafted from the conversation.',
    ),
  name: z.string().nullable().describe('The name of the scenario; null before it is drafted.'),
  goal: z.string().nullable().describe('The first message, with personal values replaced; null before it is drafted.'),
  success_criteria: z.array(z.string()).describe('What must be true at the end.'),
  must_never: z.array(z.string()).describe('What must never happen.'),
  before: played.nullable().describe('Its runs on the current version; null before they ended.'),
  after: played.nullable().describe('Its runs on the proposed version; null if there are none.'),
});

const change = z
  .object({
    instructions: z
      .object({
        before: z.string().describe('The current instructions.'),
        after: z.string().describe('The proposed instructions.'),
        reason: z.string().describe('Why they change.'),
      })
      .nullable()
      .describe('Null: unchanged.'),
    tools: z
      .array(
        z.object({
          function: z.string().describe('The function whose description changes.'),
          before: z.string().describe('The current description.'),
          after: z.string().describe('The proposed description.'),
          reason: z.string().describe('Why it changes.'),
        }),
      )
      .describe('Changed descriptions of functions.'),
    documents: z
      .array(
        z.object({
          notebook_id: id('nb').describe('The notebook of the document.'),
          notebook: z.string().describe('The name of the notebook.'),
          title: z.string().describe('The title of the document.'),
          before: z.string().nullable().describe('The current text; null: a new document.'),
          after: z.string().describe('The proposed text.'),
          reason: z.string().describe('Why it changes.'),
        }),
      )
      .describe('Changed and new knowledge documents.'),
  })
  .describe('The proposed change. It can touch nothing but instructions, descriptions of functions and documents.');

const measured = z.object({
  version: z.int().min(1).describe('The version that was played.'),
  test_run_ids: z.array(id('trun')).describe('The test runs with every conversation and verdict.'),
  runs: count.describe('The number of runs, over new and existing scenarios.'),
  passed: count.describe('Runs that passed.'),
  pass_rate: z.number().min(0).max(1).nullable().describe('Passed runs divided by all runs; null without runs.'),
  cost_usd: usd.nullable().describe('The agent’s cost per conversation, in US dollars; null without runs.'),
  latency_ms: count.nullable().describe('The agent’s time per reply in milliseconds; null without runs.'),
});

export const improvement = z
  .object({
    object: tag('improvement'),
    id: id('imp'),
    deployment_id: id('dep'),
    mode: z.enum(modes).describe('The mode of the conversations and of the wallet that pays.'),
    status: z
      .enum(improvementStatuses)
      .describe('`reproducing`, `proposing` and `proving` are the phases; `failed` has an `error_code`.'),
    outcome: z
      .enum(improvementOutcomes)
      .nullable()
      .describe(
        'The result, or null before the end. `improved`: the version fixes at least one scenario and breaks nothing. `regressed`: every proposal broke something else.',
      ),
    from: shownSource,
    base_version: z.int().min(1).describe('The version that was improved: the live one, or the draft in test mode.'),
    version: z
      .int()
      .min(1)
      .nullable()
      .describe('The proposed version, which nothing runs until somebody promotes it; null if there is none.'),
    budget_usd: usd.describe('The most that it may cost, in US dollars.'),
    cost_usd: usd.describe('The cost so far, in US dollars.'),
    rounds: z.int().describe('The most proposals that it tries.'),
    rounds_played: count.describe('Proposals that were tried.'),
    scenarios: z.array(draftedScenario).describe('A scenario for each conversation; empty in lists and events.'),
    change: change.nullable().describe('The change of `version`; null if there is none, and in lists and events.'),
    before: measured.nullable().describe('The current version; null before it was played.'),
    after: measured.nullable().describe('The proposed version; null before it was played.'),
    replay_id: id('rpl')
      .nullable()
      .describe('The replay of good conversations with the proposed version; null if there is none.'),
    regressions: z
      .array(
        z.object({
          scenario_id: id('scn').nullable().describe('The scenario that passed before; null for a conversation.'),
          conversation_id: id('conv')
            .nullable()
            .describe('The conversation whose answer changed; null for a scenario.'),
          name: z.string().nullable().describe('The name of the scenario.'),
          reason: z.string().describe('What differs.'),
        }),
      )
      .describe('What worked before and fails with the proposed version.'),
    not_fixed: z
      .array(
        z.object({
          scenario_id: id('scn').describe('The scenario that still fails.'),
          name: z.string().nullable().describe('The name of the scenario.'),
          reason: z.string().describe('Why it could not be fixed.'),
        }),
      )
      .describe('Reproduced failures that the proposed version does not fix.'),
    flags: z
      .array(
        z.object({
          conversation_id: id('conv').nullable().describe('The conversation; null if the flag is about a proposal.'),
          reason: z
            .enum(['steering', 'address', 'outside_limits'])
            .describe(
              '`steering`: a user tried to change the agent. `address`: a proposal had a link or an address that the deployment does not have. `outside_limits`: a proposal tried to change something else.',
            ),
        }),
      )
      .describe('What a person should look at. None of it changed the proposed version.'),
    resumes: count.describe('How often it resumed after a restart.'),
    error_code: z.string().nullable().describe('Why it failed; null if it did not.'),
    created_at: createdAt,
    started_at: time.nullable().describe('When it started; null before.'),
    finished_at: time.nullable().describe('When it ended; null before.'),
  })
  .describe('An attempt to fix real failures of a deployment, with the proof of its effect.');

const improvementParams = z.strictObject({ improvement_id: failsWith('improvement_not_found', id('imp')) });

export const improvements = {
  create: route({
    method: 'POST',
    path: '/v1/deployments/{deployment_id}/improvements',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Reproduce real failures, propose a change, and prove it.',
    description:
      'Drafts scenarios from the conversations, plays them, proposes a change to instructions, descriptions of functions and knowledge documents, and plays everything again. It saves the change as a version that nothing runs: promote it, or leave it. Needs scope `runtime` too, because it reads conversations. Returns at once; `improvement.completed` reports its end.',
    idempotent: true,
    params: deploymentParams,
    body: z.strictObject({
      from: source,
      budget_usd: z
        .number()
        .positive('Write an amount above 0.')
        .max(1000, 'At most 1000 US dollars.')
        .describe('The most that it may cost, in US dollars. It stops before a model call that could cost more.'),
      rounds: z
        .int()
        .min(1, 'Try at least one round.')
        .max(5, 'At most 5 rounds.')
        .default(2)
        .describe('The most proposals that it tries, 1 to 5; absent: 2.'),
    }),
    status: 201,
    response: improvement,
    errors: [
      'deployment_not_found',
      'deployment_archived',
      'deployment_not_live',
      'conversation_not_found',
      'insight_not_found',
      'no_failing_conversations',
      'conversations_not_allowed',
      'budget_too_small',
      'wallet_empty',
      'org_cap_reached',
      'model_unavailable',
    ],
    command: 'improvements create',
  }),
  list: route({
    method: 'GET',
    path: '/v1/deployments/{deployment_id}/improvements',
    auth: 'key',
    scopes: ['setup'],
    summary: 'List the improvements of a deployment, newest first.',
    description: 'Those of the mode of the key. Scenarios and changes are omitted here: read one improvement for them.',
    params: deploymentParams,
    query: z.strictObject(pageQuery),
    status: 200,
    response: page(improvement),
    errors: ['deployment_not_found'],
    command: 'improvements list',
  }),
  get: route({
    method: 'GET',
    path: '/v1/improvements/{improvement_id}',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Read an improvement: the change, and the results before and after it.',
    description:
      'Of the mode of the key. It resumes by itself after a restart. Without scope `runtime`, texts of scenarios and reasons are omitted.',
    params: improvementParams,
    status: 200,
    response: improvement,
    errors: [],
    command: 'improvements get',
  }),
  cancel: route({
    method: 'POST',
    path: '/v1/improvements/{improvement_id}/cancel',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Cancel an improvement; results so far stay and are billed.',
    description: 'One that has ended is returned unchanged.',
    params: improvementParams,
    status: 200,
    response: improvement,
    errors: [],
    command: 'improvements cancel',
  }),
};
