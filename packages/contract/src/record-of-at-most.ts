import type { z } from 'zod';

/** Limits the number of names in a record. `what` is their plural, for the error. */
export const recordOfAtMost = <Schema extends z.ZodRecord>(most: number, what: string, record: Schema) =>
  record
    .refine((given) => Object.keys(given as object).length <= most, `At most ${most} ${what}.`)
    .meta({ maxProperties: most });
