import { z } from 'zod';
import { text } from './text.ts';

/** The opening text of a session page before the first message. */
export const openingFields = z
  .strictObject({
    message: text(1, 500).optional().describe('Shown before the first message.'),
    suggestions: z.array(text(1, 120)).max(6).default([]).describe('Questions that the user can send with one click.'),
  })
  .refine(({ message, suggestions }) => message !== undefined || suggestions.length > 0, {
    error: 'Give a `message`, `suggestions` or both.',
  });

/** The same as stored and shown. */
export const opening = z.object({
  message: z.string().optional().describe('The text before the first message; absent if there is none.'),
  suggestions: z.array(z.string()).describe('Questions that the user can send with one click.'),
});
export type Opening = z.infer<typeof opening>;
