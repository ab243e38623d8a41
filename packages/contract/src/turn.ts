import { z } from 'zod';
import { id } from './ids.ts';
import { interactionId } from './interactions.ts';
import { truncated } from './message.ts';
import { usd } from './money.ts';
import { shown } from './session-access.ts';
import { time } from './time.ts';

const turnStatuses = ['replying', 'working', 'waiting', 'settled', 'failed', 'stopped'] as const;

/** What happened to one message: the answer of sending it. */
export const turn = z.object({
  object: z.literal('turn'),
  id: id('turn'),
  conversation_id: id('conv'),
  status: z.enum(turnStatuses),
  reply: z
    .object({ text: z.string(), data: z.unknown(), truncated })
    .nullable()
    .meta({ description: 'The final answer: the work’s, where the message was handed off.' }),
  acknowledgement: z.string().nullable().meta({ description: 'The one line said when work took the message.' }),
  task_id: id('task').nullable(),
  interactions: z.array(interactionId()).meta({ description: 'What the turn waits on.' }),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  cost_usd: usd,
  created_at: time,
  settled_at: time.nullable(),
});

export const turnSeen = {
  ...shown('object', 'id', 'conversation_id', 'status', 'acknowledgement', 'task_id', 'interactions'),
  ...shown('created_at', 'settled_at'),
  reply: shown('text', 'data', 'truncated'),
  error: 'plain',
} as const;
