import { type JsonRecord, listOf, recordOf, textOf } from './json.ts';

type Resolve = (reference: string) => JsonRecord;
type Branch = { properties: JsonRecord; required: readonly string[]; isClosed: boolean };

const deepestFold = 8;
const mostResolved = 1_000;

/** Whether the schema describes an object through the schemas that it combines. */
export function isCombinedObject(node: JsonRecord, resolve: Resolve): boolean {
  if (node.type !== undefined) return [node.type].flat().includes('object');
  return listOf(node.allOf).some((each) => isObjectLike(branchNode(recordOf(each), resolve)));
}

/** Whether every alternative is an object. */
export const isChoiceOfObjects = ({ anyOf, oneOf }: JsonRecord, resolve: Resolve): boolean =>
  [...listOf(anyOf), ...listOf(oneOf)].every((each) => isObjectLike(branchNode(recordOf(each), resolve)));

/**
 * Turns a schema that combines others into one object: vendors reject `anyOf`, `oneOf` and `allOf` beside the properties
 * of a tool. A property is required if every alternative requires it. The alternatives are described in words.
 */
export function foldedObject(node: JsonRecord, resolveAny: Resolve): JsonRecord {
  let resolved = 0;
  // References inside each other multiply.
  const resolve: Resolve = (reference) => (++resolved > mostResolved ? {} : resolveAny(reference));
  const { anyOf, oneOf, allOf, not: _, enum: __, const: ___, type: ____, ...rest } = node;
  const folded = foldBranches(node, resolve, 0);
  const { properties: _____, required: ______, additionalProperties, ...others } = rest;
  const undescribed = folded.required.filter((name) => !Object.hasOwn(folded.properties, name));
  const isOpen = typeof additionalProperties === 'object' || additionalProperties === true;
  const description = [textOf(node.description), choiceIn([listOf(anyOf), listOf(oneOf)], resolve)]
    .filter(Boolean)
    .join('\n');
  return {
    type: 'object',
    ...others,
    ...(description && { description }),
    properties: { ...folded.properties, ...Object.fromEntries(undescribed.map((name) => [name, {}])) },
    ...((folded.required.length > 0 || Array.isArray(rest.required)) && { required: folded.required }),
    ...(isOpen && { additionalProperties }),
    ...(!isOpen && folded.isClosed && { additionalProperties: false }),
  };
}

function foldBranches(node: JsonRecord, resolve: Resolve, depth: number): Branch {
  const own: Branch = {
    properties: recordOf(node.properties),
    required: listOf(node.required).map(textOf).filter(Boolean),
    isClosed: node.additionalProperties === false,
  };
  if (depth > deepestFold) return own;
  const branchesOf = (list: unknown) =>
    listOf(list)
      .map((each) => branchNode(recordOf(each), resolve))
      .filter(isObjectLike)
      .map((each) => foldBranches(each, resolve, depth + 1));
  const all = branchesOf(node.allOf);
  const alternatives = [branchesOf(node.anyOf), branchesOf(node.oneOf)].filter((list) => list.length > 0);
  const branches = [...all, ...alternatives.flat()];
  if (branches.length === 0) return own;
  const properties: JsonRecord = { ...own.properties };
  for (const { properties: added } of all) {
    for (const [name, schema] of Object.entries(added))
      properties[name] = { ...recordOf(properties[name]), ...recordOf(schema) };
  }
  for (const list of alternatives) {
    const names = new Set(list.flatMap((each) => Object.keys(each.properties)));
    for (const name of names) {
      const schemas = [properties, ...list.map((each) => each.properties)].map((each) => each[name]);
      properties[name] = unionOf(schemas.filter((schema) => schema !== undefined).map(recordOf));
    }
  }
  const shared = alternatives.flatMap(([first, ...others]) =>
    (first?.required ?? []).filter((name) => others.every(({ required }) => required.includes(name))),
  );
  const required = [...new Set([...own.required, ...all.flatMap((each) => each.required), ...shared])];
  const isBare = Object.keys(own.properties).length === 0;
  return {
    properties,
    required,
    // A closed alternative beside an open one closes nothing.
    isClosed: (own.isClosed || isBare) && branches.every((each) => each.isClosed),
  };
}

const branchNode = (node: JsonRecord, resolve: Resolve): JsonRecord =>
  typeof node.$ref === 'string' ? { ...resolve(node.$ref), ...node } : node;

const isObjectLike = ({ type, ...node }: JsonRecord) =>
  type === undefined
    ? ['properties', 'required', 'anyOf', 'oneOf', 'allOf'].some((keyword) => node[keyword] !== undefined)
    : [type].flat().includes('object');

/** One property of several alternatives. Fixed values, as of a discriminator, become a choice. */
function unionOf(schemas: readonly JsonRecord[]): JsonRecord {
  const distinct = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
  const [first = {}] = distinct;
  if (distinct.length === 1) return first;
  if (distinct.some((schema) => Object.keys(schema).length === 0)) return distinct.find(hasKeywords) ?? {};
  const values = distinct.map(valuesOf);
  if (values.every((each) => each !== null)) {
    const { const: _, enum: __, ...rest } = first;
    return { ...rest, enum: [...new Set(values.flat())] };
  }
  return { anyOf: distinct };
}

const hasKeywords = (schema: JsonRecord) => Object.keys(schema).length > 0;

const valuesOf = ({ const: value, enum: values }: JsonRecord): readonly unknown[] | null =>
  value === undefined ? (Array.isArray(values) ? values : null) : [value];

function choiceIn(lists: readonly (readonly unknown[])[], resolve: Resolve): string {
  return lists
    .map((list) => {
      const sets = list
        .map((each) => foldBranches(branchNode(recordOf(each), resolve), resolve, 1).required)
        .filter((names) => names.length > 0)
        .map((names) => names.map((name) => `\`${name}\``).join(' and '));
      return new Set(sets).size > 1 ? `Give one of: ${[...new Set(sets)].join('; ')}.` : '';
    })
    .filter(Boolean)
    .join('\n');
}
