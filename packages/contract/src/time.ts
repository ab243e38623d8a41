import { z } from 'zod';

/** A time in the API: ISO 8601 in UTC. */
export const time = z.iso.datetime().meta({
  description: 'A time as ISO 8601 in UTC.',
  examples: ['2026-11-16T09:30:00.000Z'],
});

export const createdAt = time.describe('When it was created, as ISO 8601 in UTC.');
export const updatedAt = time.describe('When it was last changed, as ISO 8601 in UTC.');
