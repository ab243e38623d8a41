import { z } from 'zod';
import { text } from './text.ts';

/** The opening text of a session page before the first message. */
export const openingFields = z
  .strictObject({
    message: text(1, 500).optional().describe('Stands where the conversation will begin.'),
    suggestions: z.array(text(1, 120)).max(6).default([]).describe('Questions that the person sends with one click.'),
  })
  .refine(({ message, suggestions }) => message !== undefined || suggestions.length > 0, {
    error: 'Give a `message`, `suggestions` or both.',
  });

/** The same as stored and shown. */
export const opening = z.object({
  message: z.string().optional().describe('What the page says before anything was said; absent where nothing.'),
  suggestions: z.array(z.string()).describe('Questions that the person sends with one click.'),
});
export type Opening = z.infer<typeof opening>;
