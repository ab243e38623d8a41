import { z } from 'zod';
import { missingTools } from './missing-tools.ts';
import { usd } from './money.ts';
import { shown } from './session-access.ts';
import { time } from './time.ts';

/** A tool that was called, and what came of it. */
export const traceStep = z.object({
  tool_use_id: z.string(),
  name: z.string().nullable(),
  input_summary: z.string().nullable(),
  output_summary: z.string().nullable(),
  is_error: z.boolean(),
  started_at: time,
  finished_at: time.nullable(),
  duration_ms: z.int().nullable(),
  /** Pictures and recordings that the tool answered with. */
  media: z
    .array(
      z.object({
        media_type: z.string(),
        bytes: z.int(),
        width: z.int().nullable(),
        height: z.int().nullable(),
        /** In a trace alone: works for 15 minutes. */
        url: z.string().optional(),
      }),
    )
    .optional(),
});

/** Summaries of a step quote the arguments and results of the company’s own tools. */
export const stepSeen = shown('tool_use_id', 'name', 'is_error', 'started_at', 'finished_at', 'duration_ms');

/** What a reply and a piece of work are made of, each step and each call of a model. */
export const traceFields = {
  steps: z.array(traceStep),
  turns: z.array(
    z.object({
      turn_id: z.string(),
      model: z.string().nullable(),
      input_tokens: z.int(),
      output_tokens: z.int(),
      cache_read_tokens: z.int(),
      cache_write_tokens: z.int(),
      cache_share: z
        .number()
        .meta({ description: 'How much of what the call has read came from the cache of its provider: 0 to 1.' }),
      cost_usd: usd,
      duration_ms: z.int().nullable(),
      status: z.string().nullable(),
      started_at: time,
    }),
  ),
  totals: z.object({ input_tokens: z.int(), output_tokens: z.int(), cost_usd: usd }),
  missing_tools: missingTools,
};
