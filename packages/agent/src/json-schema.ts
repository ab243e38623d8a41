import { z } from 'zod';
import type { JsonSchema } from './message.ts';

/**
 * A zod schema as a model is shown it. Vendors hold an answer only to what all of them know, so what is zod's alone is left
 * out: its name for the dialect, the range of safe integers, and what `catch` puts in the place of a field.
 */
export function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  const known = converted.get(schema);
  if (known) return known;
  const { $schema, ...shown } = z.toJSONSchema(schema, { override: ({ jsonSchema }) => withoutOurs(jsonSchema) });
  converted.set(schema, shown as JsonSchema);
  return shown as JsonSchema;
}

/** Every turn shows the same tools: making and converting a schema takes zod a tenth of a millisecond and more. */
const converted = new WeakMap<z.ZodType, JsonSchema>();

function withoutOurs(node: z.core.JSONSchema.BaseSchema): void {
  if (node.minimum === Number.MIN_SAFE_INTEGER) delete node.minimum;
  if (node.maximum === Number.MAX_SAFE_INTEGER) delete node.maximum;
  delete node.default;
  if (node.type === 'object') node.required ??= [];
}
