import { distanceOf } from '@vestra/contract/nearest';

export type Schema = { readonly [keyword: string]: unknown };

/** A schema within a schema. `path` is for people, `pointer` is the form that a `$ref` uses. */
export type Subschema = { schema: Schema; path: readonly string[]; pointer: string };

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Keywords whose value is one schema, a list of schemas, or a map of names to schemas; then all others. */
const single = words(
  'additionalProperties unevaluatedProperties unevaluatedItems additionalItems contains propertyNames not if then else items',
);
const lists = words('allOf anyOf oneOf prefixItems items');
const maps = words('properties patternProperties $defs definitions dependentSchemas dependencies');
const plain = words(
  '$schema $id $anchor $ref $comment type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems minItems uniqueItems maxContains minContains maxProperties minProperties required dependentRequired title description default deprecated readOnly writeOnly examples example format contentEncoding contentMediaType nullable discriminator',
);
const keywords: ReadonlySet<string> = new Set([...single, ...lists, ...maps, ...plain]);

/** Keywords whose schemas apply to the same value as the schema around them. */
const inPlace = words('allOf anyOf oneOf not if then else dependentSchemas dependencies');

export const isKeyword = (name: string): boolean => keywords.has(name);

const notes = words(
  '$schema $id $anchor $comment $defs definitions title description default deprecated readOnly writeOnly examples example contentEncoding contentMediaType',
);

/** Whether a keyword checks a value. */
export const isRule = (name: string): boolean => keywords.has(name) && !notes.has(name);

/**
 * Returns the name itself if it is a keyword or a custom note, which JSON Schema allows. Returns the intended keyword
 * if one letter is wrong, and null for references that are not supported.
 */
export function intendedKeyword(name: string): string | null {
  if (keywords.has(name)) return name;
  if (name.startsWith('$')) return null;
  const meant = [...keywords].find(
    (keyword) => keyword.length > 3 && isRule(keyword) && distanceOf(name.toLowerCase(), keyword.toLowerCase(), 1) <= 1,
  );
  return meant ?? name;
}

/** All schemas of a root except `true` and `false`, the root first. The caller limits the depth of the root. */
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

/** Returns the schema with each of its parts replaced. */
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

/** The parts of a schema that apply to the same value. */
export const partsInPlace = (schema: Schema): Schema[] =>
  partsOf(schema).flatMap(({ inner, step }) => (inPlace.has(step[0] as string) && isObject(inner) ? [inner] : []));

export const holdsSchemas = (keyword: string): boolean =>
  single.has(keyword) || lists.has(keyword) || maps.has(keyword);

/** The schema that a `$ref` names by pointer or anchor, if it is in this root. Other addresses are never followed. */
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
