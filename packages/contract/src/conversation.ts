import { z } from 'zod';
import { costFields } from './cost.ts';
import { id } from './ids.ts';
import { interactionKinds } from './interactions.ts';
import { metadata } from './metadata.ts';
import { shown } from './session-access.ts';
import { shownFailure } from './shown-failure.ts';
import { tag } from './tag.ts';
import { taskStatuses } from './tasks.ts';
import { createdAt, time } from './time.ts';
import { userId } from './user-id.ts';

/** A pending call of one of the caller's tools. */
export const pendingToolCall = z
  .object({
    call_id: id('call'),
    name: z.string().describe('The called function.'),
    arguments: z.unknown().describe('Its arguments, which match the function’s schema.'),
    task_id: id('task').nullable().describe('The task that calls it; null if the reply calls it.'),
    progress: z
      .string()
      .optional()
      .describe('The latest progress text from the process that answers it, or else the `activity` of the function.'),
  })
  .meta({ title: 'PendingToolCall', description: 'A pending call of one of your functions.' });

export const conversationStatuses = ['idle', 'replying', 'working', 'waiting'] as const;

export const conversation = z
  .object({
    object: tag('conversation'),
    id: id('conv'),
    user_id: userId().nullable().describe('The user of the conversation; null: the org’s own agent.'),
    deployment_id: id('dep').nullable().describe('The deployment that answers in it; null if there is none.'),
    deployment_version: z
      .int()
      .nullable()
      .describe('In test mode the version it started on, in live mode the version that was live at its last message.'),
    status: z
      .enum(conversationStatuses)
      .describe(
        '`idle`: nothing is running; `replying`: a reply is being written; `working`: a task runs; `waiting`: something waits for an answer.',
      ),
    preview: z
      .string()
      .max(200)
      .nullable()
      .describe('The first words of its first message, at most 200 characters; null before a message.'),
    last_error: shownFailure
      .nullable()
      .describe('Why the turn that ended last failed; null if it did not, or if a person stopped it.'),
    metadata,
    created_at: createdAt,
    last_active_at: time.describe('When it was last active, as ISO 8601 in UTC.'),
    open_work: z
      .array(
        z.object({
          task_id: id('task'),
          title: z.string().describe('The title of the task.'),
          status: z.enum(taskStatuses).describe('The state of the task.'),
        }),
      )
      .describe('Tasks that have not ended, oldest first.'),
    open_interactions: z
      .array(
        z.object({
          interaction_id: id('int'),
          task_id: id('task').nullable().describe('The task that waits; null if the reply waits.'),
          kind: z.enum(interactionKinds).describe('The reason for waiting, as in the interaction.'),
        }),
      )
      .describe('Interactions that wait for a person, oldest first.'),
    pending_tool_calls: z.array(pendingToolCall).describe('Pending calls of your functions.'),
    last_event_seq: z
      .int()
      .describe(
        'The `seq` of its newest event: read the conversation and then follow its events after this one to miss nothing.',
      ),
    ...costFields,
    turn_id: id('turn').optional().describe('The turn of the first message, if one was sent.'),
  })
  .describe('A conversation between a user and the agent.');

/** Omits the company's labels and costs. A pending call of the company's code is visible, but not its arguments. */
export const conversationSeen = {
  ...shown('object', 'id', 'user_id', 'deployment_id', 'deployment_version', 'status'),
  ...shown('preview', 'created_at', 'last_active_at', 'last_event_seq'),
  last_error: 'plain',
  open_work: shown('task_id', 'title', 'status'),
  open_interactions: shown('interaction_id', 'task_id', 'kind'),
  pending_tool_calls: shown('call_id', 'name', 'task_id', 'progress'),
} as const;
