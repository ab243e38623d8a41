import { z } from 'zod';

export type JsonSchema = { [key: string]: unknown };

/** Converts a zod schema to JSON Schema of the request (`input`) or the response (`output`). */
export function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => dropBoundsOfNumbers(jsonSchema),
  });
  return rest as JsonSchema;
}

/** The bounds of a safe integer are no bounds of the field, and would read as an example. */
function dropBoundsOfNumbers(schema: { minimum?: number; maximum?: number }): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}
