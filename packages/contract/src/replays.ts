import { z } from 'zod';
import { deploymentParams } from './deployment-params.ts';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { usd } from './money.ts';
import { page, pageQuery } from './page.ts';
import { modes, route } from './route.ts';
import { tag } from './tag.ts';
import { createdAt, time } from './time.ts';

const replayStatuses = ['queued', 'running', 'completed', 'error', 'cancelled'] as const;
const talkStatuses = ['queued', 'running', 'same', 'different', 'failed', 'cancelled'] as const;
const mostReplayedTalks = 20;

const count = z.int().min(0);

const call = z.object({
  tool: z.string().describe('The tool as the model knows it.'),
  arguments: z.unknown().describe('What it was asked, without credentials.'),
  is_error: z.boolean().describe('Whether it failed.'),
  is_matched: z.boolean().describe('Whether the other side made a call of the same tool with the same arguments.'),
});

const side = z.object({
  version: z.int().min(1).describe('The version that answered.'),
  text: z.string().describe('What it answered, work included.'),
  calls: z.array(call).describe('The tools that it called, in their order.'),
});

const exchange = z.object({
  turn_id: id('turn').describe('The turn of the real talk.'),
  message: z.string().describe('What the person said.'),
  before: side.describe('As it was then.'),
  after: side.nullable().describe('As the replayed version does it; null where it did not come so far.'),
  result: z
    .enum(['same', 'different', 'failed'])
    .describe('`same`: the same calls, and an answer of the same words or, says the judge, the same meaning.'),
  reason: z.string().nullable().describe('Why it counts as that; null where both are the same word for word.'),
});

const talk = z.object({
  conversation_id: id('conv').describe('The real talk.'),
  user_id: z.string().nullable().describe('Whose talk it is; null: the org’s own.'),
  status: z.enum(talkStatuses).describe('`same` only where every exchange is; `failed` where one could not be played.'),
  replayed_conversation_id: id('conv').nullable().describe('The talk as it was replayed; null before it began.'),
  exchanges: z
    .array(exchange)
    .describe('Both sides of each message; empty in lists and until the talk has been replayed.'),
  judged_by: z
    .string()
    .nullable()
    .describe('The model that compared the answers; null where words alone were compared.'),
  duration_ms: count.describe('How long it took in milliseconds.'),
  cost_usd: usd.describe('What replaying and comparing it was billed, in US dollars.'),
  error_code: z.string().nullable().describe('Why it could not be replayed; null where it was.'),
  error_message: z.string().nullable().describe('What the code means here; null where there is nothing to add.'),
});

export const replay = z
  .object({
    object: tag('replay'),
    id: id('rpl'),
    deployment_id: id('dep'),
    version: z.int().min(1).describe('The version that answers again.'),
    mode: z.enum(modes).describe('The mode whose talks they are and whose wallet pays.'),
    status: z.enum(replayStatuses).describe('`completed` where every talk has its result, whichever it is.'),
    counts: z
      .object({
        total: count.describe('All talks of the replay.'),
        queued: count.describe('Talks that have not begun.'),
        running: count.describe('Talks that are being replayed or compared.'),
        same: count.describe('Talks in which nothing of weight differs.'),
        different: count.describe('Talks in which an answer or a call of a tool differs.'),
        failed: count.describe('Talks that could not be replayed to their end.'),
      })
      .describe('How many talks are in each state.'),
    talks: z.array(talk).describe('Each talk, newest first.'),
    resumes: count.describe('How often it went on after a restart had cut it off.'),
    error_code: z.string().nullable().describe('Why it ended in error; null where it did not.'),
    cost_usd: usd.describe('What it was billed so far, in US dollars.'),
    created_at: createdAt,
    started_at: time.nullable().describe('When the first talk began; null before.'),
    finished_at: time.nullable().describe('When it ended; null before.'),
  })
  .describe('Real talks that another version answers again, without side effects.');

const replayParams = z.strictObject({ replay_id: failsWith('replay_not_found', id('rpl')) });

export const replays = {
  create: route({
    method: 'POST',
    path: '/v1/deployments/{deployment_id}/replays',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Have a version answer real talks again, and compare the answers.',
    description:
      'The person’s messages come in their order, and tools answer what they answered then: nothing is run, nobody’s memory, files or browser is touched. A call that was not made then answers an error. Answers at once; it costs what its model calls cost.',
    idempotent: true,
    params: deploymentParams,
    body: z.strictObject({
      version: z.int().min(1).optional().describe('The version that answers; absent: the newest.'),
      conversation_ids: z
        .array(id('conv'))
        .min(1, 'Name at least one conversation.')
        .max(mostReplayedTalks, `At most ${mostReplayedTalks} conversations.`)
        .optional()
        .describe('Talks of this deployment in the mode of the key, at most 20; absent: the last ones.'),
      last: z
        .int()
        .min(1)
        .max(mostReplayedTalks)
        .optional()
        .describe(
          'So many of the last talks that another version answered, 1 to 20; absent: 10. Not with `conversation_ids`.',
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
    description: 'Those of the mode of the key. What was said is left out here: read one for it.',
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
    summary: 'Read a replay: both answers to each message, side by side.',
    description:
      'Of the mode of the key. One that a restart cut off goes on by itself; `replay.completed` tells of its end.',
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
    summary: 'Cancel a replay; what was replayed until then stays and is paid for.',
    description: 'One that has ended is answered as it is.',
    params: replayParams,
    status: 200,
    response: replay,
    errors: [],
    command: 'replays cancel',
  }),
};
