import { z } from 'zod';
import { text } from './text.ts';
import { headers } from './tool-entry.ts';

export const stepKinds = ['click', 'type', 'scroll', 'wait_for', 'page_fetch'] as const;

const click = z
  .strictObject({
    kind: z.literal('click'),
    text: text(1, 500).optional(),
    selector: text(1, 1000).optional(),
    role: text(1, 80).optional(),
    name: text(1, 500).optional(),
    within_ms: z.int().min(0).max(10_000).optional(),
    nth: z.int().min(1).max(1000).optional(),
    near_text: text(1, 500).optional(),
  })
  .refine(
    (step) =>
      countGiven(step.text, step.selector, step.role) === 1 && (step.role === undefined) === (step.name === undefined),
    'A click names its element by `text`, by `selector`, or by `role` and `name`.',
  );

const type = z.strictObject({
  kind: z.literal('type'),
  into: text(1, 1000).meta({ description: 'The label, placeholder or selector of the field.' }),
  text: text(0, 8000),
  submit: z.boolean().default(false),
});

const scroll = z.strictObject({
  kind: z.literal('scroll'),
  to: z.union(
    [z.enum(['bottom', 'top']), z.int().min(-100_000).max(100_000)],
    'Scroll to `bottom`, `top` or by pixels.',
  ),
});

const waitFor = z
  .strictObject({
    kind: z.literal('wait_for'),
    text: text(1, 500).optional(),
    selector: text(1, 1000).optional(),
    url: text(1, 2048).optional(),
    within_ms: z.int().min(0).max(60_000).optional(),
  })
  .refine(
    (step) => countGiven(step.text, step.selector, step.url) === 1,
    'Wait for exactly one of `text`, `selector` or `url`.',
  );

const pageFetch = z.strictObject({
  kind: z.literal('page_fetch'),
  url: text(1, 2048),
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']).default('GET'),
  headers: headers.optional(),
  body: z.unknown().optional().meta({ description: 'Text is sent as it is, anything else as JSON.' }),
});

/** One thing to do on the page before its answers are read. */
export const browserStep = z.discriminatedUnion('kind', [click, type, scroll, waitFor, pageFetch]);

const countGiven = (...values: unknown[]): number => values.filter((value) => value !== undefined).length;
