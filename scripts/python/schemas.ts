/** JSON Schema of the contract's shapes, in the few forms that the Python types need. */
import { z } from 'zod';

export type Schema = {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  format?: string;
  description?: string;
  default?: unknown;
};

export function schemaOf(given: z.ZodType, io: 'input' | 'output'): Schema {
  const whole = z.toJSONSchema(given, {
    target: 'draft-2020-12',
    io,
    unrepresentable: 'any',
    reused: 'inline',
  }) as Schema & { $defs?: Record<string, Schema> };
  return inlined(whole, whole.$defs ?? {}) as Schema;
}

/** Replaces each reference by the named shape. */
function inlined(value: unknown, named: Record<string, Schema>): unknown {
  if (Array.isArray(value)) return value.map((each) => inlined(each, named));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, $defs: _, ...rest } = value as Record<string, unknown>;
  const target = typeof $ref === 'string' ? named[$ref.replace('#/$defs/', '')] : undefined;
  if (target) return inlined({ ...target, ...rest }, named);
  return Object.fromEntries(Object.entries(rest).map(([key, each]) => [key, inlined(each, named)]));
}

/** Equal for equal shapes, regardless of descriptions. */
export const shapeOf = (schema: Schema): string => JSON.stringify(bare(schema));

function bare(schema: Schema): unknown {
  const { type, const: only, format, required } = schema;
  const { properties, items, additionalProperties: others } = schema;
  return {
    type,
    only,
    format,
    enum: schema.enum,
    required: required && [...required].sort(),
    properties: properties && Object.entries(properties).map(([name, each]) => [name, bare(each)]),
    items: items && bare(items),
    others: typeof others === 'object' ? bare(others) : others,
    options: optionsOf(schema)?.map(bare),
  };
}

export const optionsOf = (schema: Schema): Schema[] | null => schema.anyOf ?? schema.oneOf ?? null;

export function isNullable(schema: Schema): boolean {
  if (schema.type === 'null' || (Array.isArray(schema.type) && schema.type.includes('null'))) return true;
  return optionsOf(schema)?.some(isNullable) ?? false;
}

/** Any value is allowed, including null. */
export const isAnything = (schema: Schema): boolean =>
  schema.type === undefined && schema.const === undefined && schema.enum === undefined && optionsOf(schema) === null;
