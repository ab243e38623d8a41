import { z } from 'zod';
import { deploymentParams } from './deployment-params.ts';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { page, pageQuery } from './page.ts';
import { route } from './route.ts';
import { shown } from './session-access.ts';
import { tag } from './tag.ts';
import { text } from './text.ts';
import { time } from './time.ts';

const ratings = ['good', 'bad'] as const;

export const messageFeedback = z.object({
  object: tag('message_feedback'),
  id: id('fbk').meta({ description: 'The rating; its id stays the same when the rater changes it.' }),
  conversation_id: id('conv').meta({ description: 'The conversation of the answer.' }),
  message_id: id('msg').meta({ description: 'The answer that was rated.' }),
  deployment_id: id('dep').meta({ description: 'The deployment that gave it.' }),
  deployment_version: z.int().meta({ description: 'The version that gave the answer.' }),
  rating: z.enum(ratings).meta({ description: 'Whether the answer was good or bad.' }),
  note: z.string().nullable().meta({ description: 'The rater’s comment.' }),
  rater: z
    .object({
      type: z.enum(['user', 'member', 'key']).meta({ description: 'A user in a session, a console member, or a key.' }),
      id: z.string().nullable().meta({ description: 'The id of the rater; null for a session without a user.' }),
    })
    .meta({ description: 'Who rated it.' }),
  created_at: time.meta({ description: 'When it was first rated.' }),
  updated_at: time.meta({ description: 'When it was last rated.' }),
});

const seen = shown('object', 'id', 'conversation_id', 'message_id', 'rating', 'note', 'created_at', 'updated_at');

const conversationParams = z.strictObject({
  conversation_id: failsWith('invalid_conversation_id', id('conv')).meta({
    description: 'The conversation in which the answer was given.',
  }),
});
const messageParams = z.strictObject({
  message_id: failsWith('message_not_found', id('msg')).meta({ description: 'An answer of the agent.' }),
});

/** Ratings by users, callers and members. */
export const feedback = {
  rate: route({
    method: 'POST',
    path: '/v1/messages/{message_id}/feedback',
    auth: 'key',
    scopes: ['runtime'],
    session: { needs: ['chat'], sends: ['rating', 'note'], sees: seen },
    summary: 'Rate an answer as good or bad; each rater has one rating, and the last one counts.',
    description:
      'Rates an answer of the agent, not a message of the user. It counts for the version that gave the answer, and sends `message.feedback` to webhooks.',
    params: messageParams,
    body: z.strictObject({
      rating: z.enum(ratings).meta({ description: 'Whether the answer was good or bad.' }),
      note: text(1, 2000).nullable().optional().meta({ description: 'What was good or bad about it.' }),
    }),
    status: 200,
    response: messageFeedback,
    errors: [],
    command: 'feedback rate',
  }),
  ofConversation: route({
    method: 'GET',
    path: '/v1/conversations/{conversation_id}/feedback',
    auth: 'key',
    scopes: ['runtime'],
    session: { needs: ['chat'], sends: ['limit', 'cursor'], sees: { data: seen, next_cursor: true } },
    summary: 'List the ratings of a conversation’s answers, newest first; a session sees only its user’s own.',
    description: 'A key or a member sees all ratings. A session uses it to show which answers its user has rated.',
    params: conversationParams,
    query: z.strictObject(pageQuery),
    status: 200,
    response: page(messageFeedback),
    errors: ['conversation_not_found'],
    command: 'feedback conversation',
  }),
  list: route({
    method: 'GET',
    path: '/v1/deployments/{deployment_id}/feedback',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'List the ratings of a deployment’s answers in the mode of the call, newest first.',
    description: 'Each names its conversation, so that the answer can be read in context.',
    params: deploymentParams,
    query: z.strictObject({
      rating: z.enum(ratings).optional().meta({ description: 'Only good ratings, or only bad ones.' }),
      version: z
        .string()
        .regex(/^[1-9][0-9]{0,8}$/, '`version` must be a whole number from 1.')
        .transform(Number)
        .optional()
        .meta({ description: 'Only answers of this version.' }),
      ...pageQuery,
    }),
    status: 200,
    response: page(messageFeedback),
    errors: ['deployment_not_found'],
    command: 'feedback list',
  }),
  counts: route({
    method: 'GET',
    path: '/v1/deployments/{deployment_id}/feedback/counts',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Count the ratings of a deployment’s answers per version, newest version first.',
    description: 'One row for each version whose answers were rated, in the mode of the call.',
    params: deploymentParams,
    status: 200,
    response: z.object({
      object: tag('feedback_counts'),
      data: z
        .array(
          z.object({
            version: z.int().meta({ description: 'The version that gave the answers.' }),
            good: z.int().meta({ description: 'The number of good ratings.' }),
            bad: z.int().meta({ description: 'The number of bad ratings.' }),
          }),
        )
        .describe('One row per version, newest first.'),
    }),
    errors: ['deployment_not_found'],
    command: 'feedback counts',
  }),
};
