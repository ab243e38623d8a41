import { z } from 'zod';
import { deploymentParams, versionInput } from './deployment-params.ts';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { usd } from './money.ts';
import { deleted, page, pageQuery } from './page.ts';
import { modes, route } from './route.ts';
import { tag } from './tag.ts';
import { createdAt, time } from './time.ts';

const replayStatuses = ['queued', 'running', 'completed', 'error', 'cancelled'] as const;
const talkStatuses = ['queued', 'running', 'same', 'different', 'failed', 'cancelled'] as const;
const mostReplayedTalks = 20;

const count = z.int().min(0);

const call = z.object({
  tool: z.string().describe('The tool’s name for the model.'),
  arguments: z.unknown().describe('Its arguments, without credentials.'),
  is_error: z.boolean().describe('Whether it failed.'),
  is_matched: z.boolean().describe('Whether the other side called the same tool with the same arguments.'),
});

const side = z.object({
  version: z.int().min(1).describe('The version that answered.'),
  text: z.string().describe('The answer, including that of a task.'),
  calls: z.array(call).describe('The tools that it called, in order.'),
});

const exchange = z.object({
  turn_id: id('turn').describe('The turn of the real conversation.'),
  message: z.string().describe('The user’s message.'),
  before: side.describe('The original answer.'),
  after: side.nullable().describe('The answer of the replayed version; null if it did not get that far.'),
  result: z
    .enum(['same', 'different', 'failed'])
    .describe(
      '`same`: the same calls, and an answer with the same words or, according to the judge, the same meaning.',
    ),
  reason: z.string().nullable().describe('The reason for this result; null if both are identical.'),
});

const talk = z.object({
  conversation_id: id('conv').describe('The real conversation.'),
  user_id: z.string().nullable().describe('The user of the conversation; null: the org’s own agent.'),
  status: z.enum(talkStatuses).describe('`same` only if every exchange is; `failed` if one could not be played.'),
  replayed_conversation_id: id('conv').nullable().describe('The replayed conversation; null before it started.'),
  exchanges: z
    .array(exchange)
    .describe('Both sides of each message; empty in lists and until the conversation has been replayed.'),
  judged_by: z.string().nullable().describe('The model that compared the answers; null if only words were compared.'),
  duration_ms: count.describe('The duration in milliseconds.'),
  cost_usd: usd.describe('The cost of replaying and comparing it, in US dollars.'),
  error_code: z.string().nullable().describe('Why it could not be replayed; null if it was.'),
  error_message: z.string().nullable().describe('Details of the code; null if there are none.'),
});

export const replay = z
  .object({
    object: tag('replay'),
    id: id('rpl'),
    deployment_id: id('dep'),
    version: z.int().min(1).describe('The version that answers again.'),
    mode: z.enum(modes).describe('The mode of the conversations and of the wallet that pays.'),
    status: z.enum(replayStatuses).describe('`completed` when every conversation has a result of any kind.'),
    counts: z
      .object({
        total: count.describe('All conversations of the replay.'),
        queued: count.describe('Conversations that have not started.'),
        running: count.describe('Conversations that are being replayed or compared.'),
        same: count.describe('Conversations without relevant differences.'),
        different: count.describe('Conversations in which an answer or a tool call differs.'),
        failed: count.describe('Conversations that could not be replayed to their end.'),
      })
      .describe('The number of conversations in each state.'),
    talks: z.array(talk).describe('Each conversation, newest first.'),
    resumes: count.describe('How often it resumed after a restart.'),
    error_code: z.string().nullable().describe('Why it ended in error; null if it did not.'),
    cost_usd: usd.describe('The cost so far, in US dollars.'),
    created_at: createdAt,
    started_at: time.nullable().describe('When the first conversation started; null before.'),
    finished_at: time.nullable().describe('When it ended; null before.'),
  })
  .describe('Real conversations that another version answers again, without side effects.');

const replayParams = z.strictObject({ replay_id: failsWith('replay_not_found', id('rpl')) });

export const replays = {
  create: route({
    method: 'POST',
    path: '/v1/deployments/{deployment_id}/replays',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Let a version answer real conversations again, and compare the answers.',
    description:
      'Sends the user’s messages in order, and tools return their earlier results: nothing is run, and no memory, file or browser is used. A call that was not made originally returns an error. Returns at once; it costs as much as its model calls.',
    idempotent: true,
    params: deploymentParams,
    body: z.strictObject({
      version: versionInput.optional().describe('The version that answers; absent: the newest.'),
      conversation_ids: z
        .array(id('conv'))
        .min(1, 'Name at least one conversation.')
        .max(mostReplayedTalks, `At most ${mostReplayedTalks} conversations.`)
        .optional()
        .describe('Conversations of this deployment in the mode of the key, at most 20; absent: the last ones.'),
      last: z
        .int()
        .min(1)
        .max(mostReplayedTalks)
        .optional()
        .describe(
          'The number of recent conversations that another version answered, 1 to 20; absent: 10. Not with `conversation_ids`.',
        ),
    }),
    bodyOptional: true,
    status: 202,
    response: replay,
    errors: [
      'deployment_not_found',
      'deployment_archived',
      'version_not_found',
      'conversation_not_found',
      'invalid_request',
      'wallet_empty',
      'org_cap_reached',
      'model_unavailable',
    ],
    command: 'replays create',
  }),
  list: route({
    method: 'GET',
    path: '/v1/deployments/{deployment_id}/replays',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'List the replays of a deployment, newest first.',
    description: 'Those of the mode of the key. Messages are omitted here: read one replay for them.',
    params: deploymentParams,
    query: z.strictObject(pageQuery),
    status: 200,
    response: page(replay),
    errors: ['deployment_not_found'],
    command: 'replays list',
  }),
  get: route({
    method: 'GET',
    path: '/v1/replays/{replay_id}',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Read a replay: both answers to each message.',
    description: 'Of the mode of the key. It resumes by itself after a restart; `replay.completed` reports its end.',
    params: replayParams,
    status: 200,
    response: replay,
    errors: [],
    command: 'replays get',
  }),
  cancel: route({
    method: 'POST',
    path: '/v1/replays/{replay_id}/cancel',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Cancel a replay; results so far stay and are billed.',
    description: 'One that has ended is returned unchanged.',
    params: replayParams,
    status: 200,
    response: replay,
    errors: [],
    command: 'replays cancel',
  }),
  delete: route({
    method: 'DELETE',
    path: '/v1/replays/{replay_id}',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Delete a replay that has ended, with its answers and conversations.',
    description: 'The original conversations stay, and costs stay in the usage report.',
    params: replayParams,
    status: 200,
    response: deleted('replay'),
    errors: ['still_running'],
    command: 'replays delete',
  }),
};
