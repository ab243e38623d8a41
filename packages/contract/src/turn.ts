import { z } from 'zod';
import { id } from './ids.ts';
import { interactionId } from './interactions.ts';
import { truncated } from './message.ts';
import { usd } from './money.ts';
import { shown } from './session-access.ts';
import { shownFailure } from './shown-failure.ts';
import { tag } from './tag.ts';
import { createdAt, time } from './time.ts';

const turnStatuses = ['replying', 'working', 'waiting', 'settled', 'failed', 'stopped'] as const;

/** The turn of one message, which is the response to sending it. */
export const turn = z
  .object({
    object: tag('turn'),
    id: id('turn'),
    conversation_id: id('conv'),
    status: z
      .enum(turnStatuses)
      .describe('`replying`, `working` and `waiting` go on; `settled`, `failed` and `stopped` are final.'),
    reply: z
      .object({
        text: z.string().describe('What the agent answered, as Markdown.'),
        data: z.unknown().describe('The structured value that `output_schema` asked for; null where none was.'),
        truncated,
      })
      .nullable()
      .describe('The final answer: the work’s, where the message was handed off.'),
    acknowledgement: z.string().nullable().describe('The one line said when work took the message.'),
    task_id: id('task')
      .nullable()
      .describe('The work that the message was handed over to; null where it was answered directly.'),
    interactions: z.array(interactionId()).describe('What the turn waits on.'),
    error: shownFailure.nullable().describe('Why it failed; null unless it did.'),
    cost_usd: usd.describe('What the turn was billed so far, in US dollars.'),
    created_at: createdAt,
    settled_at: time.nullable().describe('When it came to its end, as ISO 8601 in UTC; null while it goes on.'),
  })
  .describe('What happened to one message, from its sending to the final answer.');

export const turnSeen = {
  ...shown('object', 'id', 'conversation_id', 'status', 'acknowledgement', 'task_id', 'interactions'),
  ...shown('created_at', 'settled_at'),
  reply: shown('text', 'data', 'truncated'),
  error: 'plain',
} as const;
