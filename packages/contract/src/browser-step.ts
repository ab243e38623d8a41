import { z } from 'zod';
import { text } from './text.ts';
import { headers } from './tool-entry.ts';

export const stepKinds = ['click', 'type', 'scroll', 'wait_for', 'page_fetch'] as const;

const click = z
  .strictObject({
    kind: z.literal('click').describe('`click`: clicks one element.'),
    text: text(1, 500).optional().describe('The element that shows this text.'),
    selector: text(1, 1000).optional().describe('The element that this CSS selector finds.'),
    role: text(1, 80).optional().describe('The element with this ARIA role; goes with `name`.'),
    name: text(1, 500).optional().describe('Its accessible name; goes with `role`.'),
    within_ms: z
      .int()
      .min(0)
      .max(10_000)
      .optional()
      .describe('How long to wait for the element, at most 10,000 milliseconds.'),
    nth: z.int().min(1).max(1000).optional().describe('Which of several that match, from 1.'),
    near_text: text(1, 500).optional().describe('The match closest to this text.'),
  })
  .refine(
    (step) =>
      countGiven(step.text, step.selector, step.role) === 1 && (step.role === undefined) === (step.name === undefined),
    'A click names its element by `text`, by `selector`, or by `role` and `name`.',
  );

const type = z.strictObject({
  kind: z.literal('type').describe('`type`: types into one field.'),
  into: text(1, 1000).describe('The label, placeholder or selector of the field.'),
  text: text(0, 8000).describe('The text to type; it replaces the existing text.'),
  submit: z.boolean().default(false).describe('Whether to press Enter afterwards.'),
});

const scroll = z.strictObject({
  kind: z.literal('scroll').describe('`scroll`: scrolls the page.'),
  to: z
    .union([z.enum(['bottom', 'top']), z.int().min(-100_000).max(100_000)], 'Scroll to `bottom`, `top` or by pixels.')
    .describe('`bottom`, `top`, or a number of pixels down.'),
});

const waitFor = z
  .strictObject({
    kind: z.literal('wait_for').describe('`wait_for`: waits for something on the page.'),
    text: text(1, 500).optional().describe('Until this text shows.'),
    selector: text(1, 1000).optional().describe('Until this CSS selector finds an element.'),
    url: text(1, 2048).optional().describe('Until the address contains this.'),
    within_ms: z.int().min(0).max(60_000).optional().describe('How long to wait, at most 60,000 milliseconds.'),
  })
  .refine(
    (step) => countGiven(step.text, step.selector, step.url) === 1,
    'Wait for exactly one of `text`, `selector` or `url`.',
  );

const pageFetch = z.strictObject({
  kind: z.literal('page_fetch').describe('`page_fetch`: sends a request from inside the page, with its cookies.'),
  url: text(1, 2048).describe('The address; on one of the deployment’s allowed sites.'),
  method: z
    .enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])
    .default('GET')
    .describe('The HTTP method of the request.'),
  headers: headers.optional().describe('Headers of the request.'),
  body: z.unknown().optional().describe('Text is sent unchanged, anything else as JSON.'),
});

/** One action on the page before its responses are read. */
export const browserStep = z.discriminatedUnion('kind', [click, type, scroll, waitFor, pageFetch]);

const countGiven = (...values: unknown[]): number => values.filter((value) => value !== undefined).length;
