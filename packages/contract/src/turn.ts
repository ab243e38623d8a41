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
      .describe('`replying`, `working` and `waiting` are in progress; `settled`, `failed` and `stopped` are final.'),
    reply: z
      .object({
        text: z.string().describe('The agent’s answer as Markdown.'),
        data: z.unknown().describe('The structured value that `output_schema` requested; null if there is none.'),
        truncated,
      })
      .nullable()
      .describe('The final answer: that of the task, if the message was handed off.'),
    acknowledgement: z
      .string()
      .nullable()
      .describe('The line that the agent wrote when it handed the message off to a task.'),
    task_id: id('task')
      .nullable()
      .describe('The task that the message was handed off to; null if it was answered directly.'),
    interactions: z.array(interactionId()).describe('The interactions that the turn waits for.'),
    error: shownFailure.nullable().describe('Why it failed; null unless it did.'),
    cost_usd: usd.describe('The cost of the turn so far, in US dollars.'),
    created_at: createdAt,
    settled_at: time.nullable().describe('When it ended, as ISO 8601 in UTC; null while it runs.'),
  })
  .describe('The turn of one message, from sending it to the final answer.');

export const turnSeen = {
  ...shown('object', 'id', 'conversation_id', 'status', 'acknowledgement', 'task_id', 'interactions'),
  ...shown('created_at', 'settled_at'),
  reply: shown('text', 'data', 'truncated'),
  error: 'plain',
} as const;
