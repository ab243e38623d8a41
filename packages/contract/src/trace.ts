import { z } from 'zod';
import { missingTools } from './missing-tools.ts';
import { usd } from './money.ts';
import { shown } from './session-access.ts';
import { time } from './time.ts';

/** A tool call and its result. */
export const traceStep = z
  .object({
    tool_use_id: z.string().describe('What the model called this call; unique within the trace.'),
    name: z.string().nullable().describe('The tool that was called; null where the model named none.'),
    input_summary: z.string().nullable().describe('One line about what it was called with, never the raw input.'),
    output_summary: z.string().nullable().describe('One line about what came back; null while it runs.'),
    is_error: z.boolean().describe('Whether the tool answered with an error.'),
    started_at: time.describe('When it was called, as ISO 8601 in UTC.'),
    finished_at: time.nullable().describe('When it answered; null while it runs.'),
    duration_ms: z.int().nullable().describe('How long it took in milliseconds; null while it runs.'),
    media: z
      .array(
        z.object({
          media_type: z.string().describe('What it is, such as `image/png`.'),
          bytes: z.int().describe('Its size in bytes.'),
          width: z.int().nullable().describe('Pixels from left to right; null where it is no picture.'),
          height: z.int().nullable().describe('Pixels from top to bottom; null where it is no picture.'),
          url: z.string().optional().describe('Where to fetch it for the next 15 minutes; in a trace alone.'),
        }),
      )
      .optional()
      .describe('Pictures and recordings that the tool answered with.'),
  })
  .meta({ title: 'TraceStep', description: 'A tool that was called, and what came of it.' });

/** Summaries of a step quote arguments and results of the company’s tools. */
export const stepSeen = shown('tool_use_id', 'name', 'is_error', 'started_at', 'finished_at', 'duration_ms');

/** The trace of a reply or task: each step and each model call. */
export const traceFields = {
  steps: z.array(traceStep).describe('Calls of tools, in the order they were made.'),
  turns: z
    .array(
      z.object({
        turn_id: z.string().describe('The turn that the call was made for.'),
        model: z.string().nullable().describe('The model that answered; null where none did.'),
        input_tokens: z.int().describe('Tokens that the model read anew, without those of the provider’s cache.'),
        output_tokens: z.int().describe('Tokens that the model wrote.'),
        cache_read_tokens: z.int().describe('Tokens that came from the provider’s cache, at its lower price.'),
        cache_write_tokens: z.int().describe('Tokens that the provider read and put into its cache.'),
        cache_share: z
          .number()
          .describe('How much of what the call has read came from the cache of its provider: 0 to 1.'),
        cost_usd: usd.describe('What this call was billed, in US dollars.'),
        duration_ms: z.int().nullable().describe('How long it took in milliseconds; null where that is not known.'),
        status: z
          .string()
          .nullable()
          .describe(
            'What the call was for and how it ended: `completed`, `summarised`, `judged`, `stopped` or `failed`.',
          ),
        error: z
          .string()
          .nullable()
          .describe('Why the call failed, with the status that the provider answered; null unless it failed.'),
        started_at: time.describe('When it was called, as ISO 8601 in UTC.'),
      }),
    )
    .describe('Calls of a model, in the order they were made.'),
  totals: z
    .object({
      input_tokens: z.int().describe('Tokens that were read.'),
      output_tokens: z.int().describe('Tokens that were written.'),
      cost_usd: usd.describe('What they were billed, in US dollars.'),
    })
    .describe('All that was charged for it, tools and the computer included.'),
  missing_tools: missingTools,
};
