import { z } from 'zod';
import { costFields } from './cost.ts';
import { id } from './ids.ts';
import { interactionKinds } from './interactions.ts';
import { metadata } from './metadata.ts';
import { shown } from './session-access.ts';
import { tag } from './tag.ts';
import { taskStatuses } from './tasks.ts';
import { createdAt, time } from './time.ts';
import { userId } from './user-id.ts';

/** A pending call of one of the caller's tools. */
export const pendingToolCall = z
  .object({
    call_id: id('call'),
    name: z.string().describe('The function that is called.'),
    arguments: z.unknown().describe('What it is called with; it fits the function’s own schema.'),
    task_id: id('task').nullable().describe('The work that calls it; null where the reply itself does.'),
    progress: z.string().optional().describe('What whoever answers it said last of how far it is.'),
  })
  .meta({ title: 'PendingToolCall', description: 'A call of one of your functions that waits for its result.' });

export const conversationStatuses = ['idle', 'replying', 'working', 'waiting'] as const;

export const conversation = z
  .object({
    object: tag('conversation'),
    id: id('conv'),
    user_id: userId().nullable().describe('Whose conversation it is; null: the org’s own agent.'),
    deployment_id: id('dep').nullable().describe('The deployment that answers in it; null where none does.'),
    deployment_version: z
      .int()
      .nullable()
      .describe('In test mode the version it began on, in live mode the one that was live at its last message.'),
    status: z
      .enum(conversationStatuses)
      .describe(
        '`idle`: nothing is going on; `replying`: a reply is being made; `working`: a task runs; `waiting`: something waits for an answer.',
      ),
    metadata,
    created_at: createdAt,
    last_active_at: time.describe('When something was last said or done in it, as ISO 8601 in UTC.'),
    open_work: z
      .array(
        z.object({
          task_id: id('task'),
          title: z.string().nullable().describe('What the work is about; null until it is named.'),
          status: z.enum(taskStatuses).describe('How far this piece of work is.'),
        }),
      )
      .describe('Work that has not ended, oldest first.'),
    open_interactions: z
      .array(
        z.object({
          interaction_id: id('int'),
          task_id: id('task').nullable().describe('The work that waits; null where the reply does.'),
          kind: z.enum(interactionKinds).describe('What made it wait, as in the interaction itself.'),
        }),
      )
      .describe('What waits for a person, oldest first.'),
    pending_tool_calls: z.array(pendingToolCall).describe('Calls of your own functions that wait for their result.'),
    last_event_seq: z
      .int()
      .describe(
        'The `seq` of its newest event: read the conversation, follow its events after this one, and nothing is missed.',
      ),
    ...costFields,
    turn_id: id('turn').optional().describe('The turn of the first message, where one was sent.'),
  })
  .describe('A conversation between a user and the agent.');

/** Omits the company's labels and costs. A pending call of the company's code is visible, but not its arguments. */
export const conversationSeen = {
  ...shown('object', 'id', 'user_id', 'deployment_id', 'deployment_version', 'status'),
  ...shown('created_at', 'last_active_at', 'last_event_seq'),
  open_work: shown('task_id', 'title', 'status'),
  open_interactions: shown('interaction_id', 'task_id', 'kind'),
  pending_tool_calls: shown('call_id', 'name', 'task_id', 'progress'),
};
