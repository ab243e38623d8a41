/** A foreign JSON Schema, so nothing about it is assumed. */
export type SchemaNode = { readonly [keyword: string]: unknown };

export const isNode = (value: unknown): value is SchemaNode =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const nodeOf = (value: unknown): SchemaNode => (isNode(value) ? value : {});
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

export const typesOf = (schema: SchemaNode): readonly unknown[] =>
  Array.isArray(schema.type) ? schema.type : schema.type === undefined ? [] : [schema.type];

/** Follows references inside the document. Any other counts as no constraint. */
export function resolved(schema: SchemaNode, root: SchemaNode): SchemaNode {
  let current = schema;
  for (let step = 0; step < 16 && typeof current.$ref === 'string'; step++) {
    const { $ref, ...siblings } = current;
    current = { ...nodeOf(targetOf($ref as string, root)), ...siblings };
  }
  return current;
}

function targetOf(reference: string, root: SchemaNode): unknown {
  if (!reference.startsWith('#')) return {};
  const steps = reference.slice(1).split('/').slice(1);
  return steps.reduce<unknown>((at, step) => {
    const key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
    return Array.isArray(at) ? at[Number(key)] : nodeOf(at)[key];
  }, root);
}

/** Merges both schemas like `allOf`, as far as one schema can express it. */
export function merged(first: SchemaNode, second: SchemaNode): SchemaNode {
  const both: Record<string, unknown> = { ...first };
  for (const [keyword, value] of Object.entries(second)) {
    both[keyword] = keyword in first ? joined(keyword, first[keyword], value) : value;
  }
  return both;
}

function joined(keyword: string, first: unknown, second: unknown): unknown {
  switch (keyword) {
    case 'properties':
    case 'patternProperties': {
      const names = new Set([...Object.keys(nodeOf(first)), ...Object.keys(nodeOf(second))]);
      return Object.fromEntries([...names].map((name) => [name, bothOf(nodeOf(first)[name], nodeOf(second)[name])]));
    }
    case 'required':
      return [...new Set([...listOf(first), ...listOf(second)])];
    case 'enum':
      return listOf(first).filter((value) => listOf(second).some((other) => sameJson(value, other)));
    case 'type': {
      const [left, right] = [typesOf({ type: first }), typesOf({ type: second })];
      const shared = left.filter((type) => right.includes(type) || (type === 'integer' && right.includes('number')));
      return shared.length > 0 ? shared : right.includes('integer') ? ['integer'] : right;
    }
    case 'minimum':
    case 'exclusiveMinimum':
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return Math.max(Number(first), Number(second));
    case 'maximum':
    case 'exclusiveMaximum':
    case 'maxLength':
    case 'maxItems':
    case 'maxProperties':
      return Math.min(Number(first), Number(second));
    case 'items':
    case 'additionalProperties':
      return bothOf(first, second);
    default:
      return second;
  }
}

function bothOf(first: unknown, second: unknown): unknown {
  if (first === undefined || first === true) return second;
  if (second === undefined || second === true) return first;
  if (first === false || second === false) return false;
  return isNode(first) && isNode(second) ? merged(first, second) : second;
}

export function sameJson(first: unknown, second: unknown): boolean {
  if (first === second) return true;
  if (Array.isArray(first) && Array.isArray(second)) {
    return first.length === second.length && first.every((item, index) => sameJson(item, second[index]));
  }
  if (!isNode(first) || !isNode(second)) return false;
  const names = Object.keys(first);
  return (
    names.length === Object.keys(second).length &&
    names.every((name) => Object.hasOwn(second, name) && sameJson(first[name], second[name]))
  );
}
