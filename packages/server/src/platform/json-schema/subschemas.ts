import { distanceOf } from '@vestra/contract/nearest';

export type Schema = { readonly [keyword: string]: unknown };

/** A schema within a schema. `path` is how a person finds it, `pointer` how a `$ref` names it. */
export type Subschema = { schema: Schema; path: readonly string[]; pointer: string };

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Keywords whose value is one schema, a list of schemas, or a map of names to schemas; then all the others. */
const single = words(
  'additionalProperties unevaluatedProperties unevaluatedItems additionalItems contains propertyNames not if then else items',
);
const lists = words('allOf anyOf oneOf prefixItems items');
const maps = words('properties patternProperties $defs definitions dependentSchemas dependencies');
const plain = words(
  '$schema $id $anchor $ref $comment type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems minItems uniqueItems maxContains minContains maxProperties minProperties required dependentRequired title description default deprecated readOnly writeOnly examples example format contentEncoding contentMediaType nullable discriminator',
);
const keywords: ReadonlySet<string> = new Set([...single, ...lists, ...maps, ...plain]);

/** Those whose schemas look at the same value as the schema that they stand in. */
const inPlace = words('allOf anyOf oneOf not if then else dependentSchemas dependencies');

export const isKeyword = (name: string): boolean => keywords.has(name);

const notes = words(
  '$schema $id $anchor $comment $defs definitions title description default deprecated readOnly writeOnly examples example contentEncoding contentMediaType',
);

/** Whether a keyword judges a value. */
export const isRule = (name: string): boolean => keywords.has(name) && !notes.has(name);

/**
 * The keyword that a name is: itself where it is one or a note of the caller's own, which JSON Schema lets stand; the rule that it
 * was meant to be where one letter is wrong; null where it would lead elsewhere in a way that is not followed here.
 */
export function meantKeyword(name: string): string | null {
  if (keywords.has(name)) return name;
  if (name.startsWith('$')) return null;
  const meant = [...keywords].find(
    (keyword) => keyword.length > 3 && isRule(keyword) && distanceOf(name.toLowerCase(), keyword.toLowerCase(), 1) <= 1,
  );
  return meant ?? name;
}

/** Every schema of a root that is not `true` or `false`, the root first. The depth of the root is bounded by the caller. */
export function subschemasOf(root: Schema): Subschema[] {
  const found: Subschema[] = [{ schema: root, path: [], pointer: '' }];
  for (const { schema, path, pointer } of found) {
    for (const { inner, step } of partsOf(schema)) {
      if (!isObject(inner)) continue;
      found.push({ schema: inner, path: [...path, ...step], pointer: pointer + step.map(pointerStep).join('') });
    }
  }
  return found;
}

/** The schema with each of its parts replaced. */
export function withParts(schema: Schema, replace: (inner: Schema) => unknown): Record<string, unknown> {
  const each = (value: unknown) => (isObject(value) ? replace(value) : value);
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (Array.isArray(value)) return [key, lists.has(key) ? value.map(each) : value];
      if (!isObject(value)) return [key, value];
      if (maps.has(key))
        return [key, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, each(one)]))];
      return [key, single.has(key) ? replace(value) : value];
    }),
  );
}

/** Those parts of a schema that judge the same value as it does. */
export const partsInPlace = (schema: Schema): Schema[] =>
  partsOf(schema).flatMap(({ inner, step }) => (inPlace.has(step[0] as string) && isObject(inner) ? [inner] : []));

export const holdsSchemas = (keyword: string): boolean =>
  single.has(keyword) || lists.has(keyword) || maps.has(keyword);

/** What a `$ref` names, if it is a schema of this root: a pointer or an anchor. Other addresses are never followed. */
export function targetOf(
  reference: string,
  all: readonly Subschema[],
): { schema: Schema | boolean; pointer: string } | undefined {
  if (!reference.startsWith('#')) return undefined;
  const fragment = decoded(reference.slice(1));
  if (fragment !== '' && !fragment.startsWith('/')) return all.find(({ schema }) => schema.$anchor === fragment);
  const found = all.find(({ pointer }) => pointer === fragment);
  if (found) return found;
  const schema = booleanAt(fragment, all);
  return schema === undefined ? undefined : { schema, pointer: fragment };
}

function booleanAt(pointer: string, all: readonly Subschema[]): boolean | undefined {
  for (const { schema, pointer: at } of all) {
    if (!pointer.startsWith(at)) continue;
    const part = partsOf(schema).find(({ step }) => at + step.map(pointerStep).join('') === pointer);
    if (typeof part?.inner === 'boolean') return part.inner;
  }
  return undefined;
}

function partsOf(schema: Schema): { inner: unknown; step: string[] }[] {
  return Object.entries(schema).flatMap(([key, value]) => {
    if (Array.isArray(value)) {
      return lists.has(key) ? value.map((inner: unknown, at) => ({ inner, step: [key, String(at)] })) : [];
    }
    if (maps.has(key)) {
      return isObject(value) ? Object.entries(value).map(([name, inner]) => ({ inner, step: [key, name] })) : [];
    }
    return single.has(key) ? [{ inner: value, step: [key] }] : [];
  });
}

const pointerStep = (name: string) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

export const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
