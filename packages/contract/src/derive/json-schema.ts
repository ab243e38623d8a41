import { z } from 'zod';

export type JsonSchema = { [key: string]: unknown };

/** A zod schema as JSON Schema: of what is sent (`input`), or of what is read (`output`). */
export function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => dropBoundsOfNumbers(jsonSchema),
  });
  return rest as JsonSchema;
}

/** Every whole number fits a double here: that it does is no bound of the field, and reads as an example. */
function dropBoundsOfNumbers(schema: { minimum?: number; maximum?: number }): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}
