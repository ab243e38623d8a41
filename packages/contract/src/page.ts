import { z } from 'zod';
import { failsWith } from './fault.ts';

/** The query every list takes. Query values arrive as text. */
export const pageQuery = {
  limit: failsWith(
    'invalid_limit',
    z
      .string()
      .regex(/^[1-9][0-9]{0,2}$/, '`limit` is a whole number from 1 to 100.')
      .transform(Number)
      .pipe(z.int().min(1).max(100, '`limit` is a whole number from 1 to 100.'))
      .default(20),
  ),
  cursor: failsWith('invalid_cursor', z.string().min(1).max(2048)).optional(),
};

/** The answer of every list. */
export const page = <Item extends z.ZodType>(item: Item) =>
  z.object({ data: z.array(item), next_cursor: z.string().nullable() });

/** The answer of every delete. */
export const deleted = <Tag extends string>(object: Tag) =>
  z.object({ object: z.literal(object), id: z.string(), deleted: z.literal(true) });
