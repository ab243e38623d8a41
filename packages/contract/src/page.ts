import { z } from 'zod';
import { failsWith } from './fault.ts';
import { tag } from './tag.ts';

/** The query of every list. Query values arrive as text. */
export const pageQuery = {
  limit: failsWith(
    'invalid_limit',
    z
      .string()
      .regex(/^[1-9][0-9]{0,2}$/, '`limit` must be a whole number from 1 to 100.')
      .transform(Number)
      .pipe(z.int().min(1).max(100, '`limit` must be a whole number from 1 to 100.'))
      .default(20),
  ).describe('The maximum number of entries per page, 1 to 100.'),
  cursor: failsWith('invalid_cursor', z.string().min(1).max(2048))
    .optional()
    .describe('The `next_cursor` of the previous page, unchanged; absent: the first page.'),
};

/** The response of every list. */
export const page = <Item extends z.ZodType>(item: Item) =>
  z.object({
    data: z.array(item).describe('The entries of this page.'),
    next_cursor: z.string().nullable().describe('Send it as `cursor` for the next page; null on the last one.'),
  });

/** The response of every delete. */
export const deleted = <Tag extends string>(object: Tag) =>
  z.object({
    object: tag(object),
    id: z.string().describe('The id of the deleted object.'),
    deleted: z.literal(true).describe('Always true: it cannot be read any more.'),
  });
