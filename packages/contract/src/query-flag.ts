import { z } from 'zod';

/** A yes or no in a query, where values arrive as text. */
export const queryFlag = z.enum(['true', 'false']).transform((written) => written === 'true');
