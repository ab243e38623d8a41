import type { JsonSchema } from './message.ts';

const deepest = 32;

/**
 * Completes arguments as the schema means them: a missing required property gets its default, and `null` for an optional
 * property that does not accept it means that the property is absent. Nothing else changes.
 */
export function completeArguments(given: unknown, schema: JsonSchema): unknown {
  return completed(given, schema, schema, 0);
}

function completed(value: unknown, written: unknown, root: JsonSchema, depth: number): unknown {
  if (depth > deepest || typeof value !== 'object' || value === null) return value;
  const schema = resolved(written, root);
  if (Array.isArray(value)) {
    const { items } = schema;
    return isSchema(items) ? changedList(value, (each) => completed(each, items, root, depth + 1)) : value;
  }
  const properties = isSchema(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const result: Record<string, unknown> = { ...value };
  let isChanged = false;
  for (const [name, inner] of Object.entries(properties)) {
    const before = Object.hasOwn(result, name) ? result[name] : undefined;
    const isAbsent = before === undefined || (before === null && !acceptsNull(inner, root, 0));
    const fallback = isAbsent && required.includes(name) ? resolved(inner, root).default : undefined;
    if (!isAbsent) {
      const after = completed(before, inner, root, depth + 1);
      if (after === before) continue;
      setOwn(result, name, after);
    } else if (fallback !== undefined) setOwn(result, name, structuredClone(fallback));
    else if (before === null && !required.includes(name)) delete result[name];
    else continue;
    isChanged = true;
  }
  return isChanged ? result : value;
}

/** An assignment to `__proto__` would change the prototype. */
const setOwn = (target: object, name: string, value: unknown) =>
  Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true });

function changedList(list: readonly unknown[], change: (item: unknown) => unknown): readonly unknown[] {
  const changed = list.map(change);
  return changed.some((item, at) => item !== list[at]) ? changed : list;
}

function acceptsNull(written: unknown, root: JsonSchema, depth: number): boolean {
  if (written === false) return false;
  if (!isSchema(written) || depth > deepest) return true;
  const schema = resolved(written, root);
  const { type, nullable, anyOf, oneOf, allOf } = schema;
  if (nullable === true) return true;
  if (type !== undefined && ![type].flat().includes('null')) return false;
  if (Array.isArray(schema.enum) && !schema.enum.includes(null)) return false;
  if ('const' in schema && schema.const !== null) return false;
  const accepts = (each: unknown) => acceptsNull(each, root, depth + 1);
  if (Array.isArray(anyOf) && !anyOf.some(accepts)) return false;
  if (Array.isArray(oneOf) && !oneOf.some(accepts)) return false;
  return !(Array.isArray(allOf) && !allOf.every(accepts));
}

/** Follows references within the schema. Keywords beside the reference count too. */
function resolved(written: unknown, root: JsonSchema): JsonSchema {
  let schema: JsonSchema = isSchema(written) ? written : {};
  for (let step = 0; step < 8 && typeof schema.$ref === 'string'; step++) {
    const { $ref, ...beside } = schema;
    const target = targetOf($ref as string, root);
    schema = { ...(isSchema(target) ? target : {}), ...beside };
  }
  return schema;
}

function targetOf(reference: string, root: JsonSchema): unknown {
  if (!reference.startsWith('#')) return undefined;
  const names = reference.slice(1).split('/').slice(1);
  return names.reduce<unknown>((node, name) => {
    const key = name.replaceAll('~1', '/').replaceAll('~0', '~');
    return isSchema(node) && Object.hasOwn(node, key) ? node[key] : undefined;
  }, root);
}

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
