import { z } from 'zod';
import { missingTools } from './missing-tools.ts';
import { usd } from './money.ts';
import { shown } from './session-access.ts';
import { time } from './time.ts';

const stepContent = z
  .object({
    input: z.unknown().describe('The arguments that the model wrote, without credentials.'),
    output: z.string().nullable().describe('The result; null while it runs.'),
  })
  .optional()
  .describe('Input and output; only with `include=content`.');

/** A tool call and its result. */
export const traceStep = z
  .object({
    tool_use_id: z.string().describe('The model’s id of the call; unique within the trace.'),
    name: z.string().nullable().describe('The called tool; null if the model named none.'),
    input_summary: z.string().nullable().describe('One line about its input, never the raw input.'),
    output_summary: z.string().nullable().describe('One line about its output; null while it runs.'),
    is_error: z.boolean().describe('Whether the tool returned an error.'),
    started_at: time.describe('When it was called, as ISO 8601 in UTC.'),
    finished_at: time.nullable().describe('When it answered; null while it runs.'),
    duration_ms: z.int().nullable().describe('The duration in milliseconds; null while it runs.'),
    media: z
      .array(
        z.object({
          media_type: z.string().describe('The media type, such as `image/png`.'),
          bytes: z.int().describe('Its size in bytes.'),
          width: z.int().nullable().describe('The width in pixels; null if it is not a picture.'),
          height: z.int().nullable().describe('The height in pixels; null if it is not a picture.'),
          url: z.string().optional().describe('The download address for the next 15 minutes; only in a trace.'),
        }),
      )
      .optional()
      .describe('Pictures and recordings that the tool returned.'),
    content: stepContent,
  })
  .meta({ title: 'TraceStep', description: 'A tool call and its result.' });

/** Summaries of a step quote arguments and results of the company’s tools. */
export const stepSeen = shown('tool_use_id', 'name', 'is_error', 'started_at', 'finished_at', 'duration_ms');

/** The query of a trace. */
export const traceQuery = z.strictObject({
  include: z
    .enum(['content'])
    .optional()
    .describe(
      '`content` adds what the model was sent and answered, and the input and output of tools. Credentials, card numbers and text that the agent typed into pages are shown as `•••`; texts are cut to 20,000 characters.',
    ),
});

const answerContent = z
  .object({
    text: z.string().describe('The text that the model wrote; empty if it only called tools or failed.'),
    tool_use_ids: z.array(z.string()).describe('The tool calls that it asked for, as in `steps`.'),
  })
  .optional()
  .describe('The answer of the model; only with `include=content`.');

const sentContent = z
  .object({
    instructions: z.string().nullable().describe('The instructions of the version; null: its deployment was deleted.'),
    messages: z
      .array(
        z.object({
          role: z
            .enum(['user', 'agent', 'work', 'summary', 'brief'])
            .describe('Who wrote it; `summary`: it replaces older messages; `brief`: the request of the task.'),
          text: z.string().describe('The text of the message, without credentials.'),
        }),
      )
      .describe('The newest 50 messages before the reply, oldest first, with the message that it answers.'),
    messages_left_out: z.int().describe('How many older messages the model was sent besides.'),
    tools: z
      .array(
        z.object({
          name: z.string().describe('The name for the model; `mcp__crm__*` are all tools of a server.'),
          description: z.string().describe('What the tool does, as the model reads it.'),
        }),
      )
      .describe('Your functions and tool servers that the model could call.'),
    not_stored: z
      .array(z.enum(['platform_instructions', 'memory', 'attachments', 'platform_tools']))
      .describe('Parts of each request that the server creates for the call and does not store.'),
  })
  .optional()
  .describe('What each model call was sent, besides the steps before it; only with `include=content`.');

/** The trace of a reply or task: each step and each model call. */
export const traceFields = {
  sent: sentContent,
  steps: z.array(traceStep).describe('Tool calls in order.'),
  turns: z
    .array(
      z.object({
        turn_id: z.string().describe('The turn of the call.'),
        model: z.string().nullable().describe('The model that answered; null if none did.'),
        input_tokens: z.int().describe('Input tokens without those from the provider’s cache.'),
        output_tokens: z.int().describe('Tokens that the model wrote.'),
        cache_read_tokens: z.int().describe('Tokens that came from the provider’s cache, at its lower price.'),
        cache_write_tokens: z.int().describe('Tokens that the provider read and put into its cache.'),
        cache_share: z.number().describe('The share of the input that came from the provider’s cache: 0 to 1.'),
        cost_usd: usd.describe('The cost of this call, in US dollars.'),
        duration_ms: z.int().nullable().describe('The duration in milliseconds; null if unknown.'),
        status: z
          .string()
          .nullable()
          .describe('The purpose and result of the call: `completed`, `summarised`, `judged`, `stopped` or `failed`.'),
        error: z
          .string()
          .nullable()
          .describe('Why the call failed, with the provider’s status; null unless it failed.'),
        started_at: time.describe('When it was called, as ISO 8601 in UTC.'),
        content: answerContent,
      }),
    )
    .describe('Model calls in order.'),
  totals: z
    .object({
      input_tokens: z.int().describe('The number of input tokens.'),
      output_tokens: z.int().describe('The number of output tokens.'),
      cost_usd: usd.describe('Their cost, in US dollars.'),
    })
    .describe('All charges, including tools and the computer.'),
  missing_tools: missingTools,
};
