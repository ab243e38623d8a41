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

/** Returns the schema that a reference inside `root` points to; null if there is none. */
export function schemaAt(root: JsonSchema, reference: string): unknown {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return null;
  let found: unknown = root;
  for (const step of reference.slice(2).split('/')) {
    const name = unescaped(step).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return null;
    found = (found as JsonRecord)[name];
  }
  return found;
}

function unescaped(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

const limits = [
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength', 'pattern'],
  ...['minItems', 'maxItems', 'uniqueItems', 'minProperties', 'maxProperties', 'not', 'format'],
];

/** Describes limits that a vendor cannot enforce to the model: `min length: 3; format: uri.` */
export function wordsOfLimits(node: JsonRecord, isTold: (keyword: string) => boolean): string {
  const told = limits
    .filter((limit) => node[limit] !== undefined && node[limit] !== false && isTold(limit))
    .map((limit) => {
      const value = node[limit];
      const words = limit.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
      return `${words}: ${typeof value === 'string' ? value : JSON.stringify(value)}`;
    });
  return told.length > 0 ? `${told.join('; ')}.` : '';
}

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
