import { isDeepStrictEqual } from 'node:util';
import type { JsonSchema } from '@vestra/agent/message';
import { type JsonRecord, listOf, recordOf } from './json.ts';
import { oncePerSchema, schemasIn } from './schemas.ts';
import { answerSchemaOf, unlessTooDeep } from './tool-schema.ts';

/** In strict mode OpenAI enforces the schema exactly, and rejects every schema that it cannot enforce. */
export const strictSchemaOf: (schema: JsonSchema) => StrictSchema = oncePerSchema((schema) =>
  unlessTooDeep(() => enforceable(schema), notEnforceable),
);

const notEnforceable: StrictSchema = { schema: null, isUnchanged: false };

function enforceable(schema: JsonSchema): StrictSchema {
  if (!isClosed(schema)) return notEnforceable;
  const reduced = typed(answerSchemaOf(schema, 'openaiStrict'));
  const { $schema: _, ...given } = schema;
  return { schema: isWithinLimits(reduced) ? reduced : null, isUnchanged: isDeepStrictEqual(reduced, given) };
}

/** `schema`: null if strict mode cannot enforce it. `isUnchanged`: it was accepted as it is. */
type StrictSchema = { schema: JsonRecord | null; isUnchanged: boolean };

const notStrict = [
  ...['allOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentRequired', 'dependentSchemas', 'dependencies'],
  ...['patternProperties', 'prefixItems', 'contains', 'unevaluatedProperties', 'unevaluatedItems'],
];

/** Strict mode rejects every schema with an optional property or additional properties. */
function isClosed(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isClosed);
  if (typeof schema !== 'object' || schema === null) return true;
  const node = schema as JsonRecord;
  // A single schema in `allOf` is the schema itself.
  const { allOf, ...others } = node;
  if (listOf(allOf).length === 1) return isClosed({ ...others, anyOf: [...listOf(node.anyOf), ...listOf(allOf)] });
  if (notStrict.some((keyword) => keyword in node)) return false;
  const properties = recordOf(node.properties);
  if ([node.type].flat().includes('object') || node.properties) {
    const required = listOf(node.required);
    if (node.additionalProperties !== false) return false;
    if (!Object.keys(properties).every((name) => required.includes(name))) return false;
  }
  const definitions = { ...recordOf(node.$defs), ...recordOf(node.definitions) };
  return [...Object.values(properties), ...Object.values(definitions), node.items, node.anyOf].every(isClosed);
}

/** Strict mode requires the type of a fixed value, which most schemas leave out. */
function typed(node: JsonRecord): JsonRecord {
  const inner = (schemas: unknown) =>
    Object.fromEntries(Object.entries(recordOf(schemas)).map(([name, each]) => [name, typed(recordOf(each))]));
  const values = node.const !== undefined ? [node.const] : listOf(node.enum);
  const types = [...new Set(values.map(typeOf))];
  return {
    ...(node.type === undefined && types.length > 0 && { type: types.length === 1 ? types[0] : types }),
    ...node,
    ...(node.properties !== undefined && { properties: inner(node.properties) }),
    ...(node.$defs !== undefined && { $defs: inner(node.$defs) }),
    ...(node.items !== undefined && { items: typed(recordOf(node.items)) }),
    ...(node.anyOf !== undefined && { anyOf: listOf(node.anyOf).map((each) => typed(recordOf(each))) }),
  };
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

const mostProperties = 5_000;
const mostLevels = 10;
const mostValues = 1_000;
const mostCharacters = 120_000;

function isWithinLimits(schema: JsonRecord): boolean {
  let properties = 0;
  let values = 0;
  let isTyped = true;
  const levelsOf = (node: JsonRecord): number => {
    properties += Object.keys(recordOf(node.properties)).length;
    values += listOf(node.enum).length;
    isTyped &&= ['type', 'anyOf', '$ref'].some((keyword) => node[keyword] !== undefined);
    const inner = schemasIn(node).filter((each) => typeof each === 'object');
    return 1 + Math.max(0, ...inner.map((each) => levelsOf(recordOf(each))));
  };
  const levels = Math.max(
    ...[schema, ...Object.values(recordOf(schema.$defs))].map((each) => levelsOf(recordOf(each))),
  );
  const isSmall = JSON.stringify(schema).length <= mostCharacters;
  // The innermost values do not count as a level.
  return isTyped && isSmall && levels <= mostLevels + 1 && properties <= mostProperties && values <= mostValues;
}
