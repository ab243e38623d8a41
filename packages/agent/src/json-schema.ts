import { z } from 'zod';
import type { JsonSchema } from './message.ts';

/**
 * Converts a zod schema for a model. Vendors enforce only the common keywords, so zod's own are removed: the dialect
 * name, the safe-integer range and the defaults of `catch`.
 */
export function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  const known = converted.get(schema);
  if (known) return known;
  const { $schema, ...shown } = z.toJSONSchema(schema, { override: ({ jsonSchema }) => withoutOurs(jsonSchema) });
  converted.set(schema, shown as JsonSchema);
  return shown as JsonSchema;
}

/** Cached, because every turn sends the same tools and zod needs 0.1 ms or more per conversion. */
const converted = new WeakMap<z.ZodType, JsonSchema>();

function withoutOurs(node: z.core.JSONSchema.BaseSchema): void {
  if (node.minimum === Number.MIN_SAFE_INTEGER) delete node.minimum;
  if (node.maximum === Number.MAX_SAFE_INTEGER) delete node.maximum;
  delete node.default;
  if (node.type === 'object') node.required ??= [];
}
