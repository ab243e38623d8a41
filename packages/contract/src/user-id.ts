import { z } from 'zod';

/** The caller's own id of a user. A function, so that a place may put its own error code on it. */
export const userId = () =>
  z
    .string()
    .regex(/^[A-Za-z0-9._:@-]{1,128}$/, 'A user id has 1 to 128 letters, digits or any of . _ : @ -')
    .meta({ description: 'Your own id of the user: a user exists from its first use.', examples: ['ada@example.com'] });
