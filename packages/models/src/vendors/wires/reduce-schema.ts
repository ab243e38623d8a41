import { createHash } from 'node:crypto';
import type { JsonSchema } from '@vestra/agent/message';
import { foldedObject, isChoiceOfObjects, isCombinedObject } from './fold-schema.ts';
import { type JsonRecord, listOf, recordOf, textOf } from './json.ts';
import type { SchemaRules } from './schema-rules.ts';
import { schemaAt, wordsOfLimits } from './schemas.ts';

/** `keys`: the true names of renamed properties, by their names on the wire. Null if none was renamed. */
export type ReducedSchema = { schema: JsonRecord; keys: ReadonlyMap<string, string> | null };

/** Definitions are inlined up to this many nodes: references inside each other multiply. */
const mostNodes = 5_000;
const deepest = 64;

type Reduction = {
  root: JsonSchema;
  rules: SchemaRules;
  keys: Map<string, string>;
  /** Definitions that the result refers to, by their names on the wire. */
  definitions: Map<string, JsonRecord>;
  nodes: number;
};
type Place = { depth: number; inlined: readonly string[] };

/** Reduces the schema of an object to what the vendor accepts. The rest is described to the model in words. */
export function reduceSchema(schema: JsonSchema, rules: SchemaRules): ReducedSchema {
  const reduction: Reduction = { root: schema, rules, keys: new Map(), definitions: new Map(), nodes: 0 };
  const reduced = resolvedRoot(reducedNode(schema, { depth: 0, inlined: [] }, reduction), reduction, 0);
  const root = foldedObject(reduced, (reference) => definitionOf(reference, reduction));
  const used = definitionsUsedBy(root, reduction);
  return {
    schema: { ...root, ...(used.length > 0 && { $defs: Object.fromEntries(used) }) },
    keys: reduction.keys.size > 0 ? reduction.keys : null,
  };
}

/** The root must be an object, not a reference to one. A definition may refer to the next. */
function resolvedRoot({ $ref, ...node }: JsonRecord, reduction: Reduction, depth: number): JsonRecord {
  if (typeof $ref !== 'string' || depth > deepest) return node;
  return resolvedRoot({ ...definitionOf($ref, reduction), ...node }, reduction, depth + 1);
}

const definitionOf = (reference: string, { definitions }: Reduction): JsonRecord =>
  definitions.get(reference.replace(/^#\/\$defs\//, '')) ?? {};

/** Folding the root may have removed the only reference to a definition. */
function definitionsUsedBy(root: JsonRecord, { definitions }: Reduction): (readonly [string, JsonRecord])[] {
  const used = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [keyword, inner] of Object.entries(value)) {
      const name = keyword === '$ref' ? textOf(inner).replace(/^#\/\$defs\//, '') : null;
      if (name === null) visit(inner);
      else if (definitions.has(name) && !used.has(name)) {
        used.add(name);
        visit(definitions.get(name));
      }
    }
  };
  visit(root);
  return [...definitions].filter(([name]) => used.has(name));
}

const lists = ['anyOf', 'oneOf', 'allOf'] as const;
const single = ['not', 'if', 'then', 'else', 'contains', 'propertyNames', 'unevaluatedItems', 'unevaluatedProperties'];
const byName = ['patternProperties', 'dependentSchemas'];
/** Their meaning depends on where the schema is stored, and it is now part of a request. */
const identity = [
  '$schema',
  '$id',
  '$anchor',
  '$comment',
  '$vocabulary',
  '$dynamicRef',
  '$dynamicAnchor',
  '$recursiveRef',
];
const handled = new Set([
  ...['type', 'nullable', 'enum', 'const', 'required', 'properties', 'items', 'prefixItems', 'additionalItems'],
  ...['additionalProperties', 'description', 'title', 'format', 'pattern', 'dependentRequired', 'dependencies'],
  ...['$ref', '$defs', 'definitions', 'exclusiveMinimum', 'exclusiveMaximum', 'minimum', 'maximum'],
  ...lists,
  ...single,
  ...byName,
  ...identity,
]);

function reducedNode(value: unknown, place: Place, reduction: Reduction): JsonRecord {
  // `true` accepts anything.
  if (typeof value !== 'object' || value === null || Array.isArray(value) || place.depth > deepest) return {};
  reduction.nodes += 1;
  const node = withoutLoneAllOf(value as JsonRecord);
  if (typeof node.$ref === 'string') return referredNode(node, node.$ref, place, reduction);
  const { rules } = reduction;
  const below = { ...place, depth: place.depth + 1 };
  const inner = (schema: unknown) => reducedNode(schema, below, reduction);
  const others = Object.entries(node).filter(([keyword]) => !handled.has(keyword) && rules.takesKeyword(keyword));
  const reduced: JsonRecord = {
    ...Object.fromEntries(others),
    ...typesOf(node),
    ...rangeOf(node),
    ...textsOf(node, rules),
    ...objectOf(node, inner, reduction),
    ...arrayOf(node, inner, rules),
  };
  for (const keyword of lists) {
    const schemas = listOf(node[keyword]);
    if (schemas.length > 0) reduced[keyword] = schemas.map(inner);
  }
  for (const keyword of single) {
    if (typeof node[keyword] === 'object' && node[keyword] !== null) reduced[keyword] = inner(node[keyword]);
  }
  for (const keyword of byName) {
    if (node[keyword] === undefined) continue;
    const named = Object.entries(recordOf(node[keyword])).map(([name, schema]) => [name, inner(schema)]);
    reduced[keyword] = Object.fromEntries(named);
  }
  return taken(reduced, node, reduction);
}

/** A single schema in `allOf`, as schema libraries write it, is the schema itself. */
function withoutLoneAllOf(node: JsonRecord): JsonRecord {
  const [only, ...more] = listOf(node.allOf);
  if (only === undefined || more.length > 0) return node;
  const { allOf: _, ...rest } = node;
  const isMergeable = Object.keys(recordOf(only)).every((keyword) => keyword.startsWith('$') || !(keyword in rest));
  return isMergeable ? { ...recordOf(only), ...rest } : node;
}

/** References to anything but a definition are replaced by their schema: its place may have changed. */
function referredNode(node: JsonRecord, reference: string, place: Place, reduction: Reduction): JsonRecord {
  const { rules, definitions } = reduction;
  const { $ref: _, $defs: __, definitions: ___, ...rest } = node;
  const siblings = Object.fromEntries(Object.entries(rest).filter(([keyword]) => !identity.includes(keyword)));
  const target = schemaAt(reduction.root, reference);
  const name = nameOfDefinition(reference);
  const isCyclic = place.inlined.includes(reference);
  const isTooMuch = reduction.nodes > mostNodes || place.depth > deepest;
  const mayRefer = name !== null && target !== null && rules.references !== 'never';
  const hasSiblings = Object.keys(siblings).length > 0;
  if (mayRefer && (rules.references === 'beside' || !hasSiblings || isCyclic || isTooMuch)) {
    if (!definitions.has(name)) {
      definitions.set(name, {});
      definitions.set(name, reducedNode(target, { depth: 0, inlined: [...place.inlined, reference] }, reduction));
    }
    const kept =
      rules.references === 'beside' ? reducedNode(siblings, { ...place, depth: place.depth + 1 }, reduction) : {};
    return { ...kept, $ref: `#/$defs/${name}` };
  }
  if (target === null || isCyclic || isTooMuch) {
    const type = target === null ? siblings.type : recordOf(target).type;
    const description = textOf(siblings.description) || textOf(recordOf(target ?? {}).description);
    return reducedNode(
      { ...(typeof type === 'string' && { type }), ...(description && { description }) },
      place,
      reduction,
    );
  }
  const inlined = [...place.inlined, reference];
  const { $defs: ____, definitions: _____, ...itself } = recordOf(target);
  return reducedNode({ ...itself, ...siblings }, { depth: place.depth + 1, inlined }, reduction);
}

function nameOfDefinition(reference: string): string | null {
  const [, name] = /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(reference) ?? [];
  if (name === undefined) return null;
  return /^[A-Za-z0-9_.-]{1,64}$/.test(name) ? name : shortName(name, /[^A-Za-z0-9_.-]/g);
}

const knownTypes = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'];

function typesOf({ type, nullable, enum: values, const: value }: JsonRecord): JsonRecord {
  const types = [type].flat().filter((each) => knownTypes.includes(textOf(each)));
  if (nullable === true && types.length > 0 && !types.includes('null')) types.push('null');
  const choices = [...new Set(listOf(values))];
  if (nullable === true && choices.length > 0 && !choices.includes(null)) choices.push(null);
  return {
    ...(types.length > 0 && { type: types.length === 1 ? types[0] : [...new Set(types)] }),
    ...(choices.length > 0 && { enum: choices }),
    ...(value !== undefined && { const: value }),
  };
}

/** Draft 4 marks an exclusive limit with `true`, which newer drafts reject. */
function rangeOf(node: JsonRecord): JsonRecord {
  const range: JsonRecord = {};
  for (const [limit, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    const isExclusive = node[exclusive] === true;
    if (typeof node[limit] === 'number') range[isExclusive ? exclusive : limit] = node[limit];
    if (typeof node[exclusive] === 'number') range[exclusive] = node[exclusive];
  }
  return range;
}

function textsOf({ title, description, format, pattern }: JsonRecord, rules: SchemaRules): JsonRecord {
  const isKnownFormat = rules.formats === null || rules.formats.has(textOf(format));
  const isPlainPattern = rules.takesLookaround || !looksAround(textOf(pattern));
  return {
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
    ...(typeof format === 'string' && isKnownFormat && { format }),
    ...(typeof pattern === 'string' && isPlainPattern && { pattern }),
  };
}

/** Inside a character class these characters are literal. */
const looksAround = (pattern: string) => /\(\?<?[=!]/.test(pattern.replace(/\\./gs, '').replace(/\[[^[\]]*\]/g, ''));

function objectOf(node: JsonRecord, inner: (schema: unknown) => JsonRecord, reduction: Reduction): JsonRecord {
  const isObject = [node.type].flat().includes('object');
  const toWire = (name: string) => wireKey(name, reduction);
  const required = [...new Set(listOf(node.required).filter((name) => typeof name === 'string'))] as string[];
  // Vendors reject an object without `properties`, and a required property that is not among them.
  const properties = isObject || node.properties !== undefined ? propertiesOf(node, isObject ? required : []) : null;
  const additionalProperties = othersOf(node, reduction);
  const isOpenSchema = typeof additionalProperties === 'object' && additionalProperties !== null;
  return {
    ...(properties && {
      properties: Object.fromEntries(properties.map(([name, schema]) => [toWire(name), inner(schema)])),
    }),
    ...(Array.isArray(node.required) && { required: required.map(toWire) }),
    ...(typeof additionalProperties === 'boolean' && { additionalProperties }),
    ...(isOpenSchema && { additionalProperties: inner(additionalProperties) }),
  };
}

/** If the vendor knows no patterns, their properties count as additional ones. */
function othersOf({ patternProperties, additionalProperties }: JsonRecord, { rules }: Reduction): unknown {
  const schemas = Object.values(recordOf(patternProperties));
  if (schemas.length === 0 || rules.takesKeyword('patternProperties')) return additionalProperties;
  return schemas.length === 1 && isRecord(schemas[0]) && additionalProperties !== true ? schemas[0] : true;
}

function propertiesOf(node: JsonRecord, required: readonly string[]): [string, unknown][] {
  const properties = Object.entries(recordOf(node.properties));
  const known = new Set(properties.map(([name]) => name));
  return [...properties, ...required.filter((name) => !known.has(name)).map((name): [string, unknown] => [name, {}])];
}

/** The name ends in a digest, so no other property of the arguments has it by accident. */
function wireKey(name: string, { rules, keys }: Reduction): string {
  if (rules.keys === null || rules.keys.test(name)) return name;
  const wire = shortName(name, /[^a-zA-Z0-9_]/g);
  keys.set(wire, name);
  return wire;
}

function shortName(name: string, refused: RegExp): string {
  const readable = name
    .replace(refused, '_')
    .replace(/^_+(?=.)/, '')
    .slice(0, 40);
  return `${readable}_${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
}

function arrayOf(node: JsonRecord, inner: (schema: unknown) => JsonRecord, rules: SchemaRules): JsonRecord {
  const isTuple = Array.isArray(node.items);
  const positions = [...listOf(node.prefixItems), ...(isTuple ? listOf(node.items) : [])];
  const isArray = [node.type].flat().includes('array');
  if (positions.length === 0) {
    if (node.items === false) return { items: {} };
    return isArray || (node.items !== undefined && !isTuple) ? { items: inner(node.items) } : {};
  }
  const others = isTuple ? node.additionalItems : node.items;
  if (rules.takesTuples) {
    return { prefixItems: positions.map(inner), ...(isRecord(others) && { items: inner(others) }) };
  }
  const schemas = [...positions, ...(isRecord(others) ? [others] : [])].map(inner);
  const distinct = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
  return { items: distinct.length === 1 ? distinct[0] : { anyOf: distinct } };
}

const isRecord = (value: unknown): value is JsonRecord => typeof value === 'object' && value !== null;

/** Removes the keywords that the vendor does not accept, and describes those that limit a value. */
function taken(reduced: JsonRecord, node: JsonRecord, reduction: Reduction): JsonRecord {
  const { rules } = reduction;
  const resolve = (reference: string) => definitionOf(reference, reduction);
  const isObject =
    isCombinedObject(reduced, resolve) || (!rules.takesKeyword('anyOf') && isChoiceOfObjects(reduced, resolve));
  const isFolded = rules.foldsEverywhere && lists.some((list) => reduced[list] !== undefined) && isObject;
  const { oneOf, allOf, const: value, ...rest } = isFolded ? foldedObject(reduced, resolve) : reduced;
  const kept: JsonRecord = Object.fromEntries(Object.entries(rest).filter(([keyword]) => rules.takesKeyword(keyword)));
  if (value !== undefined) Object.assign(kept, rules.takesKeyword('const') ? { const: value } : { enum: [value] });
  if (oneOf !== undefined && rules.takesKeyword('oneOf')) kept.oneOf = oneOf;
  else if (oneOf !== undefined && kept.anyOf === undefined && rules.takesKeyword('anyOf')) kept.anyOf = oneOf;
  if (allOf !== undefined && rules.takesKeyword('allOf')) kept.allOf = allOf;
  if (!rules.takesKeyword('anyOf')) Object.assign(kept, withoutChoice(listOf(rest.anyOf ?? oneOf), kept));
  const { minimum: _, maximum: __, exclusiveMinimum: ___, exclusiveMaximum: ____, ...limits } = node;
  const told = wordsOfLimits({ ...limits, ...rangeOf(node) }, (keyword) => kept[keyword] === undefined);
  if (told !== '') kept.description = [textOf(kept.description), told].filter(Boolean).join('\n');
  return kept;
}

/** The types of all alternatives; if one of them is a list or an object, the first alternative. */
function withoutChoice(alternatives: readonly unknown[], kept: JsonRecord): JsonRecord {
  const schemas = alternatives.map(recordOf).filter(({ type }) => type !== 'null');
  const [first] = schemas;
  if (first === undefined || kept.properties !== undefined) return {};
  const { description, ...only } = first;
  const types = [...new Set(schemas.flatMap(({ type }) => type ?? 'object'))];
  const isPlain = schemas.length > 1 && !types.includes('object') && !types.includes('array');
  return isPlain
    ? { type: types }
    : { ...only, ...(description !== undefined && kept.description === undefined && { description }) };
}
