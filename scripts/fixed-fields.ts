import type { z } from 'zod';

/** An object that accepts no other names. */
export function isFixed(schema: z.ZodType): boolean {
  const { def } = schema as unknown as { def: { type: string; catchall?: z.ZodType } };
  // An object without a rule for other names drops them, so its names are fixed too.
  return def.type === 'object' && (def.catchall === undefined || def.catchall.type === 'never');
}
