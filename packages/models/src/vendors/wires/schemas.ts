import type { JsonSchema } from '@vestra/agent/message';
import { type JsonRecord, recordOf } from './json.ts';

const schemaByName = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
const schemaOrList = new Set([
  ...['items', 'additionalItems', 'prefixItems', 'contains', 'additionalProperties', 'propertyNames'],
  ...['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'],
]);

/** Maps the schema from the inside out: `change` receives each node with its children already changed. */
export function mapSchema(schema: unknown, change: (node: JsonRecord) => JsonRecord): JsonRecord {
  return change(
    Object.fromEntries(
      Object.entries(recordOf(schema)).map(([keyword, value]) => {
        if (schemaByName.has(keyword)) return [keyword, mapValues(value, change)];
        return [keyword, schemaOrList.has(keyword) ? mapEach(value, change) : value];
      }),
    ),
  );
}

/** The schemas directly inside a node. Definitions count only if something refers to them. */
export function schemasIn(node: JsonRecord): unknown[] {
  return Object.entries(node).flatMap(([keyword, value]) => {
    if (keyword === '$defs' || keyword === 'definitions') return [];
    if (schemaByName.has(keyword)) return Object.values(recordOf(value));
    return schemaOrList.has(keyword) ? [value].flat() : [];
  });
}

const mapValues = (schemas: unknown, change: (node: JsonRecord) => JsonRecord) =>
  Object.fromEntries(Object.entries(recordOf(schemas)).map(([name, schema]) => [name, mapEach(schema, change)]));

function mapEach(schema: unknown, change: (node: JsonRecord) => JsonRecord): unknown {
  if (Array.isArray(schema)) return schema.map((each) => mapEach(each, change));
  return typeof schema === 'object' && schema !== null ? mapSchema(schema, change) : schema;
}

/** OpenAI and compatible endpoints reject a whole request for an object schema without `properties`. */
export const withProperties = (node: JsonRecord): JsonRecord =>
  [node.type].flat().includes('object') && node.properties === undefined ? { ...node, properties: {} } : node;

/** OpenAI and compatible endpoints reject a whole request for one longer description. Others accept any length. */
const maxDescription = 1024;

/** Cuts a tool's description to the length that these endpoints accept, and marks the cut. */
export const cutDescription = (text: string): string =>
  text.length <= maxDescription ? text : `${text.slice(0, maxDescription - cutMark.length).toWellFormed()}${cutMark}`;

const cutMark = ' … (cut)';

/** Caches the result by schema: every request of a conversation sends the same tools. */
export function oncePerSchema<Result>(make: (schema: JsonSchema) => Result): (schema: JsonSchema) => Result {
  const made = new WeakMap<JsonSchema, Result>();
  return (schema) => {
    const known = made.get(schema);
    if (known !== undefined) return known;
    const result = make(schema);
    made.set(schema, result);
    return result;
  };
}
