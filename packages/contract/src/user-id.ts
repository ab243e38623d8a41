import { z } from 'zod';

/** The caller's id of a user. A function, so that each place can set its own error code. */
export const userId = () =>
  z
    .string()
    .regex(/^[A-Za-z0-9._:@-]{1,128}$/, 'A user id has 1 to 128 letters, digits or any of . _ : @ -')
    .meta({ description: 'Your id of the user: a user exists from its first use.', examples: ['ada@example.com'] });
