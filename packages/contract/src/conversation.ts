import { z } from 'zod';
import { costFields } from './cost.ts';
import { id } from './ids.ts';
import { interactionKinds } from './interactions.ts';
import { metadata } from './metadata.ts';
import { shown } from './session-access.ts';
import { taskStatuses } from './tasks.ts';
import { time } from './time.ts';
import { userId } from './user-id.ts';

/** A call to one of the caller's own tools, which waits for its result. */
export const pendingToolCall = z.object({
  call_id: id('call'),
  name: z.string(),
  arguments: z.unknown(),
  task_id: id('task').nullable(),
  progress: z.string().optional().meta({ description: 'What whoever answers it said last of how far it is.' }),
});

export const conversationStatuses = ['idle', 'replying', 'working', 'waiting'] as const;

export const conversation = z.object({
  object: z.literal('conversation'),
  id: id('conv'),
  user_id: userId().nullable(),
  deployment_id: id('dep').nullable(),
  deployment_version: z.int().nullable(),
  status: z.enum(conversationStatuses),
  metadata,
  created_at: time,
  last_active_at: time,
  open_work: z.array(z.object({ task_id: id('task'), title: z.string().nullable(), status: z.enum(taskStatuses) })),
  open_interactions: z.array(
    z.object({ interaction_id: id('int'), task_id: id('task').nullable(), kind: z.enum(interactionKinds) }),
  ),
  pending_tool_calls: z.array(pendingToolCall),
  last_event_seq: z.int(),
  ...costFields,
  turn_id: id('turn').optional().meta({ description: 'The turn of the first message, where one was sent.' }),
});

/** Without the company's labels and costs; a call of its own code is seen to wait, not what it is called with. */
export const conversationSeen = {
  ...shown('object', 'id', 'user_id', 'deployment_id', 'deployment_version', 'status'),
  ...shown('created_at', 'last_active_at', 'last_event_seq'),
  open_work: shown('task_id', 'title', 'status'),
  open_interactions: shown('interaction_id', 'task_id', 'kind'),
  pending_tool_calls: shown('call_id', 'name', 'task_id', 'progress'),
};
