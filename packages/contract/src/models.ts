import { z } from 'zod';
import { route } from './route.ts';
import { tag } from './tag.ts';

const rates = {
  input_per_mtok: z.number().describe('US dollars per million input tokens.'),
  output_per_mtok: z.number().describe('US dollars per million output tokens.'),
  cache_read_per_mtok: z.number().describe('US dollars per million tokens read from the provider’s cache.'),
  cache_write_per_mtok: z.number().describe('US dollars per million tokens written to the provider’s cache.'),
  cache_write_long_per_mtok: z
    .number()
    .describe('US dollars per million tokens written to the provider’s longer cache.'),
};

const model = z
  .object({
    object: tag('model'),
    id: z.string().describe('The value for `model` of a deployment.'),
    provider: z.string().describe('The provider of the model.'),
    name: z.string().describe('The display name of the model.'),
    default: z.boolean().describe('Whether `default` refers to this model.'),
    context_tokens: z.int().describe('The size of the context window in tokens.'),
    input_tokens: z
      .int()
      .nullable()
      .describe('The most input tokens of a request; null: only the context window limits it.'),
    max_output_tokens: z.int().describe('The maximum length of an answer in tokens.'),
    takes: z.array(z.enum(['text', 'image', 'pdf', 'audio'])).describe('The input types that the model accepts.'),
    reasons: z.boolean().describe('Whether it reasons before it answers.'),
    price: z
      .object({
        ...rates,
        above: z
          .object({
            input_tokens: z.int().describe('The number of input tokens above which these prices apply.'),
            ...rates,
          })
          .nullable()
          .describe('The price of a whole call that reads more than this many tokens.'),
      })
      .describe('The price of the model.'),
    priced: z
      .boolean()
      .describe('False: its price is unknown, `price` is used in test mode, and live mode rejects it.'),
    retires_on: z.iso.date().nullable().describe('The day on which its provider retires it; null if unknown.'),
    replacement: z.string().nullable().describe('The replacement that its provider names; null if there is none.'),
    available: z.boolean().describe('Whether a deployment can use it now.'),
    unavailable_reason: z.string().nullable().describe('Why it is unavailable; null if it is available.'),
    adjustments: z
      .array(z.string())
      .optional()
      .describe('Requests that its provider rejected, and how the server has changed them since; absent if none.'),
  })
  .describe('A model that a deployment can use.');

export const models = {
  list: route({
    method: 'GET',
    path: '/v1/models',
    auth: 'key',
    scopes: 'any',
    summary: 'List the models that a deployment can use.',
    description: 'Accepts any scope. Includes models that are not configured, with `unavailable_reason`.',
    status: 200,
    response: z.object({
      data: z.array(model).describe('Every model that this server knows.'),
      next_cursor: z.null().describe('Always null: all are on one page.'),
      notes: z
        .array(z.string())
        .describe('Models that retire within 60 days with their replacements, and adjustments of requests.'),
    }),
    errors: [],
    command: 'models',
  }),
};
