import { z } from 'zod';
import { flatPrice, type Price, takenKinds } from '../prices.ts';

/** US dollars per million tokens. */
const dollars = z.number('must be a number').min(0, 'must not be negative').max(10_000, 'must be at most 10000');
const tokens = z.int('must be a whole number').min(1, 'must be at least 1').max(100_000_000);
const kept = z.string().regex(/^\d{1,3}[mhd]$/, 'must be a time such as 5m or 1h');
const cacheWrite = z.record(kept, dollars).refine((writes) => {
  const count = Object.keys(writes).length;
  return count === 1 || count === 2;
}, 'must have one or two times');

const rates = { input: dollars, output: dollars, cache_read: dollars.optional(), cache_write: cacheWrite.optional() };

/** `cache_write` by cache duration. Missing rates equal the input rate. */
const price = z.strictObject({
  ...rates,
  above: z.strictObject({ input_tokens: tokens, ...rates }).optional(),
});

const day = z.iso.date('must be a day such as 2026-12-31');

export const entryFields = {
  id: z
    .string('must be a text')
    .regex(/^[A-Za-z0-9][A-Za-z0-9._:@/-]{0,99}$/, 'must be up to 100 letters, digits and . _ : @ / -'),
  name: z.string().min(1).max(120),
  price,
  /** Announced prices, each valid from that day. */
  price_changes: z.array(z.strictObject({ from: day, price })).max(20),
  context_tokens: tokens,
  /** The most tokens of a request, if its vendor limits it below the window. */
  input_tokens: tokens,
  max_output_tokens: tokens,
  takes: z.array(z.enum(takenKinds)).min(1),
  reasons: z.boolean('must be true or false'),
  /** False: the vendor rejects a request that forces a tool. */
  forces_tools: z.boolean('must be true or false'),
  retires_on: day.nullable(),
  replacement: z.string().min(1).max(100).nullable(),
};

const { price_changes, forces_tools, input_tokens, ...required } = entryFields;

/** One model of `models.json`. */
const entry = z.strictObject({
  ...required,
  provider: z.enum(['anthropic', 'openai', 'google', 'bedrock', 'vertex', 'azure']),
  input_tokens: input_tokens.optional(),
  price_changes: price_changes.optional(),
  forces_tools: forces_tools.optional(),
  /** Keys of `sources`. */
  source: z.string().min(1),
  /**
   * `vendor`: from the vendor's page or package; `lists`: several public lists agree; `secondhand`: one or two pages
   * that quote it.
   */
  sure: z.enum(['vendor', 'lists', 'secondhand']),
});

export type Entry = z.output<typeof entry>;

export const catalogueFile = z.strictObject({
  as_of: day,
  sources: z.record(z.string(), z.string()),
  models: z.array(entry),
});

export type WrittenPrice = z.output<typeof price>;

/** Returns the price on that day, YYYY-MM-DD. */
export function priceOn(
  { price: now, price_changes: changes = [] }: { price: WrittenPrice; price_changes?: Entry['price_changes'] },
  today: string,
): Price {
  const due = changes.filter(({ from }) => from <= today).toSorted((one, other) => (one.from < other.from ? -1 : 1));
  const { above, ...usual } = due.at(-1)?.price ?? now;
  return {
    ...ratesIn(usual),
    above: above === undefined ? null : { ...ratesIn(above), input_tokens: above.input_tokens },
  };
}

function ratesIn({ input, output, cache_read, cache_write = {} }: Omit<WrittenPrice, 'above'>) {
  const { above: _, ...plain } = flatPrice(input, output, cache_read);
  const [short = input, long = short] = Object.entries(cache_write)
    .toSorted(([one], [other]) => minutesOf(one) - minutesOf(other))
    .map(([, dollarsPerMtok]) => dollarsPerMtok);
  return { ...plain, cache_write_per_mtok: short, cache_write_long_per_mtok: long };
}

const minutesIn: Record<string, number> = { m: 1, h: 60, d: 1440 };
const minutesOf = (time: string) => Number.parseInt(time, 10) * (minutesIn[time.slice(-1)] ?? 1);
