import { z } from 'zod';
import { text } from './text.ts';

/** The caller's labels on a request. The agent never reads them. */
export const metadataInput = z
  .record(text(1, 64), text(0, 512), {
    error: (issue) => (issue.code === 'invalid_key' ? 'A key has 1 to 64 characters.' : undefined),
  })
  .refine((labels) => Object.keys(labels).length <= 32, 'At most 32 keys.')
  .meta({
    description: 'Your labels, returned unchanged; the agent never reads them. At most 32, each of 512 characters.',
    maxProperties: 32,
    examples: [{ plan: 'pro' }],
  });

/** The labels as sent; empty if there are none. */
export const metadata = z.record(z.string(), z.string()).meta({
  description: 'Your labels, as sent; empty if there are none.',
  examples: [{ plan: 'pro' }],
});
