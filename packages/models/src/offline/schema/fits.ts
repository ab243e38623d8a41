import { isNode, listOf, nodeOf, numberOf, resolved, type SchemaNode, sameJson, typesOf } from './schema-node.ts';

/**
 * Validates a value against the supported keywords of a schema, to a limited depth. Ajv would compile every subschema,
 * which takes a hundred times as long, and throws on slightly invalid schemas.
 */
export function fits(schema: unknown, value: unknown, root: SchemaNode, depth = 0): boolean {
  if (typeof schema === 'boolean') return schema;
  if (!isNode(schema) || depth > 40) return true;
  const node = resolved(schema, root);
  const matches = (part: unknown, item: unknown = value) => fits(part, item, root, depth + 1);
  const types = typesOf(node);
  if (types.length > 0 && !types.some((type) => isOfType(value, type)) && !(node.nullable === true && value === null)) {
    return false;
  }
  if ('const' in node && !sameJson(node.const, value)) return false;
  if (Array.isArray(node.enum) && !node.enum.some((option) => sameJson(option, value))) return false;
  if (!listOf(node.allOf).every((part) => matches(part))) return false;
  if (Array.isArray(node.anyOf) && !node.anyOf.some((part) => matches(part))) return false;
  if (Array.isArray(node.oneOf) && node.oneOf.filter((part) => matches(part)).length !== 1) return false;
  if ('not' in node && matches(node.not)) return false;
  if ('if' in node && !matches((matches(node.if) ? node.then : node.else) ?? true)) return false;
  if (typeof value === 'string') return fitsText(node, value);
  if (typeof value === 'number') return fitsNumber(node, value);
  if (Array.isArray(value)) return fitsList(node, value, matches);
  return isNode(value) ? fitsObject(node, value, matches) : true;
}

type Matches = (part: unknown, item: unknown) => boolean;

function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isNode(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

const formats: Record<string, RegExp> = {
  date: /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/,
  'date-time': /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/,
  time: /^\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/,
  email: /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/,
  uri: /^[a-z][a-z0-9+.-]*:\/\/\S+$/i,
  uuid: /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i,
  ipv4: /^(\d{1,3}\.){3}\d{1,3}$/,
  hostname: /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i,
};

function fitsText(node: SchemaNode, value: string): boolean {
  const length = [...value].length;
  if (length < (numberOf(node.minLength) ?? 0) || length > (numberOf(node.maxLength) ?? Infinity)) return false;
  if (typeof node.pattern === 'string' && !testPattern(node.pattern, value)) return false;
  const format = typeof node.format === 'string' ? formats[node.format] : undefined;
  return format?.test(value) ?? true;
}

/** Long texts are not tested: a foreign pattern may take exponential time on them. */
export function testPattern(pattern: string, value: string): boolean {
  if (value.length > 256) return false;
  try {
    return new RegExp(pattern, 'u').test(value);
  } catch {
    return false;
  }
}

function fitsNumber(node: SchemaNode, value: number): boolean {
  const step = numberOf(node.multipleOf);
  return (
    value >= (numberOf(node.minimum) ?? -Infinity) &&
    value <= (numberOf(node.maximum) ?? Infinity) &&
    value > (numberOf(node.exclusiveMinimum) ?? -Infinity) &&
    value < (numberOf(node.exclusiveMaximum) ?? Infinity) &&
    (step === undefined || Number.isInteger(value / step))
  );
}

function fitsList(node: SchemaNode, value: readonly unknown[], matches: Matches): boolean {
  if (value.length < (numberOf(node.minItems) ?? 0) || value.length > (numberOf(node.maxItems) ?? Infinity))
    return false;
  const { first, rest } = itemSchemas(node);
  if (!value.every((item, index) => matches(index < first.length ? first[index] : (rest ?? true), item))) return false;
  if (
    node.uniqueItems === true &&
    value.some((item, index) => value.slice(0, index).some((other) => sameJson(item, other)))
  ) {
    return false;
  }
  if (!('contains' in node)) return true;
  const contained = value.filter((item) => matches(node.contains, item)).length;
  return contained >= (numberOf(node.minContains) ?? 1) && contained <= (numberOf(node.maxContains) ?? Infinity);
}

/** Drafts differ in the location of the first items' schemas. */
export function itemSchemas(node: SchemaNode): { first: readonly unknown[]; rest: unknown } {
  if (Array.isArray(node.prefixItems)) return { first: node.prefixItems, rest: node.items };
  if (Array.isArray(node.items)) return { first: node.items, rest: node.additionalItems };
  return { first: [], rest: node.items };
}

function fitsObject(node: SchemaNode, value: SchemaNode, matches: Matches): boolean {
  const names = Object.keys(value);
  if (names.length < (numberOf(node.minProperties) ?? 0) || names.length > (numberOf(node.maxProperties) ?? Infinity)) {
    return false;
  }
  if (!listOf(node.required).every((name) => Object.hasOwn(value, String(name)))) return false;
  if ('propertyNames' in node && !names.every((name) => matches(node.propertyNames, name))) return false;
  const dependent = Object.entries(nodeOf(node.dependentRequired));
  if (
    dependent.some(
      ([name, others]) =>
        Object.hasOwn(value, name) && !listOf(others).every((other) => Object.hasOwn(value, String(other))),
    )
  ) {
    return false;
  }
  return names.every((name) => propertySchemas(node, name).every((part) => matches(part, value[name])));
}

/** Every schema that applies to a property of this name. */
export function propertySchemas(node: SchemaNode, name: string): unknown[] {
  const declared = nodeOf(node.properties);
  const own = Object.hasOwn(declared, name) ? [declared[name]] : [];
  const patterned = Object.entries(nodeOf(node.patternProperties))
    .filter(([pattern]) => testPattern(pattern, name))
    .map(([, part]) => part);
  const found = [...own, ...patterned];
  return found.length > 0 ? found : [node.additionalProperties ?? true];
}
