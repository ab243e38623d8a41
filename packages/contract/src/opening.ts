import { z } from 'zod';
import { text } from './text.ts';

/** What an org has the page of a session say before anything was said. */
export const openingFields = z
  .strictObject({
    message: text(1, 500).optional().describe('Stands where the conversation will begin.'),
    suggestions: z.array(text(1, 120)).max(6).default([]).describe('Questions that the person sends with one click.'),
  })
  .refine(({ message, suggestions }) => message !== undefined || suggestions.length > 0, {
    error: 'Give a `message`, `suggestions` or both.',
  });

/** The same as it is kept and shown. */
export const opening = z.object({
  message: z.string().optional().describe('What the page says before anything was said; absent where nothing.'),
  suggestions: z.array(z.string()).describe('Questions that the person sends with one click.'),
});
export type Opening = z.infer<typeof opening>;
