import { z } from 'zod';
import { improvementConversations } from './account.ts';
import { deploymentParams } from './deployment-params.ts';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { page, pageQuery } from './page.ts';
import { queryFlag } from './query-flag.ts';
import { route } from './route.ts';
import { tag } from './tag.ts';
import { time } from './time.ts';

export const insightKinds = [
  'failed_reply',
  'bad_rating',
  'declined_approval',
  'expired_question',
  'empty_search',
  'tool_error',
  'repeated_question',
  'cost_outlier',
  'latency_outlier',
] as const;

/** The longest period of a report, in days. */
export const maxInsightDays = 90;

const date = failsWith('invalid_window', z.iso.date());
const count = z.int().min(0);

const example = z.object({
  conversation_id: id('conv').describe('The conversation in which it happened.'),
  turn_id: id('turn').nullable().describe('The turn in which it happened; null for a whole conversation.'),
  task_id: id('task').nullable().describe('The task in which it happened; null for a reply.'),
  at: time.describe('When it happened.'),
  excerpt: z
    .string()
    .nullable()
    .describe(
      'The first words of the message, question, error or note. Credentials and card numbers are shown as `•••`. Null if the text was deleted.',
    ),
});

const insight = z
  .object({
    object: tag('insight'),
    id: id('ins').describe('Stays the same for the same deployment, kind and cause.'),
    kind: z.enum(insightKinds).describe('What went wrong.'),
    title: z.string().describe('The insight in one sentence, without values of single users.'),
    name: z
      .string()
      .nullable()
      .describe(
        'A short name that a model gave to the texts of the group; null if nobody asked for one. See `name_groups`.',
      ),
    cause: z
      .string()
      .describe('The error code, the tool, or the words of the most frequent message; empty if there is none.'),
    count: count.describe('How often it happened in the period.'),
    conversations: count.describe('In how many conversations it happened.'),
    share: z.number().min(0).max(1).describe('Their share of all conversations of the deployment in the period.'),
    trend: z
      .object({
        previous_count: count
          .nullable()
          .describe('How often it happened in the period of the same length before; null if not all of it was read.'),
        days: z
          .array(
            z.object({
              date: z.string().describe('The day, in UTC.'),
              count: count.describe('How often it happened on this day.'),
            }),
          )
          .describe('Every day of the period, oldest first.'),
      })
      .describe('How the number changes over time.'),
    examples: z.array(example).max(5).describe('The newest examples from different conversations, at most 5.'),
  })
  .describe('Conversations of a deployment in which the same went wrong.');

export const insights = {
  list: route({
    method: 'GET',
    path: '/v1/deployments/{deployment_id}/insights',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'List what went wrong in a deployment’s conversations, sorted by the number of conversations.',
    description:
      'Conversations of the mode of the key, without those of test runs and replays. Similar causes are one insight: by their meaning if an embeddings model can read them, else by their words.',
    params: deploymentParams,
    query: z.strictObject({
      from: date.optional().describe('First day of the period, UTC; absent: 7 days up to `to`.'),
      to: date
        .optional()
        .describe(`Last day of the period, UTC, inclusive; absent: today. At most ${maxInsightDays} days.`),
      kind: z.enum(insightKinds).optional().describe('Only insights of this kind.'),
      name_groups: queryFlag
        .optional()
        .describe(
          '`true`: a model names the groups of this page that have texts and no name, at most 20. One model call of at most 0.05 US dollars, charged as `insight`; no call if all have names.',
        ),
      ...pageQuery,
    }),
    status: 200,
    response: page(insight).extend({
      period: z
        .object({
          from: z.string().describe('The first day, in UTC.'),
          to: z.string().describe('The last day, in UTC.'),
        })
        .describe('The period of the report.'),
      quoted_conversations: z
        .enum(improvementConversations)
        .describe(
          'The org’s `improvement_conversations`. Others are counted, without examples, and their words are in no title.',
        ),
      total_conversations: count.describe('All conversations of the deployment with a message in the period.'),
      is_complete: z
        .boolean()
        .describe(
          'False if the period has more than the report reads: the newest 5,000 conversations and 2,000 events of each kind.',
        ),
    }),
    errors: ['deployment_not_found', 'invalid_window', 'model_unavailable', 'wallet_empty', 'org_cap_reached'],
    command: 'insights',
  }),
};
