import { z } from 'zod';
import { text } from './text.ts';

/** The caller's labels on a request: the agent never reads them. */
export const metadataInput = z
  .record(text(1, 64), text(0, 512), {
    error: (issue) => (issue.code === 'invalid_key' ? 'A key has 1 to 64 characters.' : undefined),
  })
  .refine((labels) => Object.keys(labels).length <= 32, 'At most 32 keys.')
  .meta({ maxProperties: 32 });

/** The labels as they were sent; empty when there are none. */
export const metadata = z.record(z.string(), z.string());
