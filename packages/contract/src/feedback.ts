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
  id: id('fbk').meta({ description: 'The rating; it stays the same when the rater changes their mind.' }),
  conversation_id: id('conv').meta({ description: 'Where the answer was given.' }),
  message_id: id('msg').meta({ description: 'The answer that was rated.' }),
  deployment_id: id('dep').meta({ description: 'The deployment that gave it.' }),
  deployment_version: z.int().meta({ description: 'The version that gave it.' }),
  rating: z.enum(ratings).meta({ description: 'Whether the answer was good or bad.' }),
  note: z.string().nullable().meta({ description: 'What the rater added.' }),
  rater: z
    .object({
      type: z.enum(['user', 'member', 'key']).meta({ description: 'A user by a session, a console member, or a key.' }),
      id: z.string().nullable().meta({ description: 'Which one; null for a session without a user.' }),
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
    summary: 'Say whether an answer was good or bad; each rater has one say, and the last counts.',
    description:
      'Of an answer of the agent, not of what the user said. It counts for the version that gave the answer, and webhooks hear `message.feedback`.',
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
    summary: 'List what was said of the answers of a conversation, newest first; a session sees its user’s own.',
    description:
      'All raters’ for a key or a member. A session uses it to show which answers its user has rated already.',
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
    summary: 'List what was said of a deployment’s answers in the mode of the call, newest first.',
    description: 'Each names its conversation, so that the answer can be read where it was given.',
    params: deploymentParams,
    query: z.strictObject({
      rating: z.enum(ratings).optional().meta({ description: 'Only the good, or only the bad.' }),
      version: z
        .string()
        .regex(/^[1-9][0-9]{0,8}$/, '`version` is a whole number from 1.')
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
    summary: 'Count what was said of a deployment’s answers per version, the newest version first.',
    description: 'One line for each version whose answers were rated, in the mode of the call.',
    params: deploymentParams,
    status: 200,
    response: z.object({
      object: tag('feedback_counts'),
      data: z
        .array(
          z.object({
            version: z.int().meta({ description: 'The version that gave the answers.' }),
            good: z.int().meta({ description: 'How often an answer was called good.' }),
            bad: z.int().meta({ description: 'How often an answer was called bad.' }),
          }),
        )
        .describe('One line for each version, the newest first.'),
    }),
    errors: ['deployment_not_found'],
    command: 'feedback counts',
  }),
};
