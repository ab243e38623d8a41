import { fits, itemSchemas, propertySchemas, testPattern } from './fits.ts';
import {
  isNode,
  listOf,
  merged,
  nodeOf,
  numberOf,
  resolved,
  type SchemaNode,
  sameJson,
  typesOf,
} from './schema-node.ts';
import { textOfPattern } from './text-of-pattern.ts';

/** Looks up a property before anything is made up. */
export type Knowledge = (name: string, schema: SchemaNode) => unknown;

type Context = {
  root: SchemaNode;
  know: Knowledge;
  /** False: optional properties are made up too. True: they are written only if their value is known. */
  isSparse: boolean;
  depth: number;
  /** Varies the value for each item of a list whose items must differ. */
  salt: number;
  /** Limits the attempts for schemas that no value satisfies. */
  tries: { left: number };
};

const noHint = Symbol('no hint');
const depthOfOptional = 5;
const deepest = 24;

/** Produces data that fits the schema: from `hint` if it fits, then from known values, else neutral values. */
export function fillSchema(
  schema: SchemaNode,
  know: Knowledge,
  { hint = noHint, isSparse = false }: { hint?: unknown; isSparse?: boolean } = {},
): unknown {
  return fill(schema, '', hint, { root: schema, know, isSparse, depth: 0, salt: 0, tries: { left: 20_000 } });
}

function fill(schema: unknown, name: string, hint: unknown, context: Context): unknown {
  if (!isNode(schema)) return hint === noHint ? null : hint;
  let first: unknown = null;
  let isFirst = true;
  for (const candidate of candidates(schema, name, hint, context)) {
    if (fits(schema, candidate, context.root)) return candidate;
    if (isFirst) first = candidate;
    isFirst = false;
  }
  return first;
}

function* candidates(schema: SchemaNode, name: string, hint: unknown, context: Context): Generator<unknown> {
  const node = flattened(schema, context.root);
  if (hint !== noHint) yield hint;
  if (context.depth > deepest || context.tries.left-- <= 0) return;
  if (name !== '' && context.salt === 0) {
    const known = context.know(name, node);
    if (known !== undefined) yield known;
  }
  if ('const' in node) yield node.const;
  if (Array.isArray(node.enum)) yield* rotated(node.enum, context.salt);
  for (const branches of [node.oneOf, node.anyOf].filter(Array.isArray)) {
    const { oneOf, anyOf, ...base } = node;
    for (const branch of rotated(branches, context.salt).filter(isNode)) {
      const other = branches === node.oneOf ? { anyOf } : { oneOf };
      const rest = Object.values(other)[0] === undefined ? {} : other;
      const inner = merged({ ...base, ...rest }, resolved(branch, context.root));
      yield fill(inner, name, hint, { ...context, depth: context.depth + 1 });
    }
  }
  if ('if' in node) {
    const { if: condition, then, else: otherwise, ...base } = node;
    const met = merged(merged(base, nodeOf(condition)), nodeOf(then));
    for (const each of [met, merged(base, nodeOf(otherwise))]) {
      yield fill(each, name, hint, { ...context, depth: context.depth + 1 });
    }
  }
  for (const type of typesToTry(node)) yield* ofType(type, node, name, hint, context);
}

/** Resolves references and merges `allOf`. */
function flattened(schema: SchemaNode, root: SchemaNode, depth = 0): SchemaNode {
  const node = resolved(schema, root);
  if (!Array.isArray(node.allOf) || depth > 16) return node;
  const { allOf, ...base } = node;
  return listOf(allOf)
    .filter(isNode)
    .reduce<SchemaNode>((all, part) => merged(all, flattened(part, root, depth + 1)), base);
}

const everyType = ['string', 'object', 'array', 'number', 'boolean', 'null'];

function typesToTry(node: SchemaNode): readonly unknown[] {
  const types = typesOf(node);
  if (types.length > 0) return [...types.filter((type) => type !== 'null'), ...types.filter((type) => type === 'null')];
  const has = (...keywords: string[]) => keywords.some((keyword) => keyword in node);
  if (has('properties', 'required', 'additionalProperties', 'patternProperties', 'minProperties')) {
    return ['object', ...everyType];
  }
  if (has('items', 'prefixItems', 'minItems', 'contains', 'uniqueItems')) return ['array', ...everyType];
  if (has('minimum', 'maximum', 'multipleOf', 'exclusiveMinimum', 'exclusiveMaximum')) return ['number', ...everyType];
  return everyType;
}

function* ofType(type: unknown, node: SchemaNode, name: string, hint: unknown, context: Context): Generator<unknown> {
  const { salt } = context;
  switch (type) {
    case 'string':
      return yield* textCandidates(node, salt);
    case 'number':
    case 'integer':
      return yield* numberCandidates(node, type === 'integer', salt);
    case 'boolean':
      return yield* rotated([false, true], salt);
    case 'null':
      return yield null;
    case 'array':
      return yield* lists(node, name, hint, context);
    case 'object': {
      const isDeep = context.depth >= depthOfOptional;
      if (!isDeep) yield object(node, hint, context, true);
      yield object(node, hint, context, false);
    }
  }
}

function* lists(node: SchemaNode, name: string, hint: unknown, context: Context): Generator<unknown> {
  const { first, rest } = itemSchemas(node);
  const least = Math.max(numberOf(node.minItems) ?? 0, 'contains' in node ? (numberOf(node.minContains) ?? 1) : 0);
  const most = numberOf(node.maxItems) ?? Infinity;
  const given = Array.isArray(hint) ? hint : [];
  const isDeep = context.depth >= depthOfOptional;
  const usual = isDeep ? least : Math.max(least, given.length, first.length, isNode(rest) ? 1 : 0);
  const contained = numberOf(node.minContains) ?? 1;
  for (const length of new Set([Math.min(usual, most), least, Math.min(most, least + 1)])) {
    const items: unknown[] = [];
    for (let index = 0; index < length; index++) {
      const own = index < first.length ? first[index] : (rest ?? true);
      const schema = 'contains' in node && index < contained ? both(own, node.contains) : own;
      const itemHint = index < given.length ? given[index] : noHint;
      items.push(
        distinct(
          schema,
          name,
          itemHint,
          { ...context, depth: context.depth + 1 },
          node.uniqueItems === true ? items : [],
        ),
      );
    }
    yield items;
  }
}

function distinct(schema: unknown, name: string, hint: unknown, context: Context, others: readonly unknown[]): unknown {
  const isNew = (value: unknown) => !others.some((other) => sameJson(other, value));
  const open = schema === true ? {} : schema;
  const start = others.length > 0 ? context.salt + others.length : context.salt;
  let value = fill(open, name, hint, { ...context, salt: hint === noHint ? start : context.salt });
  for (let salt = start; salt < start + 24 && !isNew(value); salt++)
    value = fill(open, name, noHint, { ...context, salt });
  return value;
}

function both(first: unknown, second: unknown): unknown {
  if (!isNode(first)) return first === false ? false : second;
  return isNode(second) ? { allOf: [first, second] } : first;
}

function object(node: SchemaNode, hint: unknown, context: Context, withOptional: boolean): SchemaNode {
  const given = nodeOf(hint);
  const inner = { ...context, depth: context.depth + 1 };
  const required = listOf(node.required).map(String);
  const declared = Object.keys(nodeOf(node.properties));
  const most = numberOf(node.maxProperties) ?? Infinity;
  const least = numberOf(node.minProperties) ?? 0;
  const filled = new Map<string, unknown>();
  const put = (name: string, isOptional: boolean) => {
    if (filled.has(name) || (isOptional && filled.size >= most)) return;
    const parts = propertySchemas(node, name);
    const schema = parts.length === 1 ? parts[0] : { allOf: parts };
    if (schema === false) return;
    if (isOptional && context.isSparse && filled.size >= least && context.know(name, nodeOf(schema)) === undefined)
      return;
    const value = fill(schema === true ? {} : schema, name, Object.hasOwn(given, name) ? given[name] : noHint, inner);
    if (isOptional && !fits(schema, value, context.root)) return;
    filled.set(name, value);
  };
  for (const name of required) put(name, false);
  if (withOptional) for (const name of declared) put(name, true);
  for (const name of declared) if (filled.size < least) put(name, true);
  for (let index = 0; index < least * 4 && filled.size < least; index++) put(extraName(node, index, context), true);
  return Object.fromEntries(filled);
}

/** The name of an undeclared property, for objects that need more of them. */
function extraName(node: SchemaNode, index: number, context: Context): string {
  const patterns = Object.keys(nodeOf(node.patternProperties));
  const pattern = patterns[index % Math.max(1, patterns.length)];
  const named = pattern === undefined ? null : textOfPattern(pattern, Math.floor(index / patterns.length));
  if (named !== null && pattern !== undefined) {
    const numbered = `${named}${index + 1}`;
    return testPattern(pattern, numbered) ? numbered : named;
  }
  if (!isNode(node.propertyNames)) return `extra_${index + 1}`;
  return String(fill({ type: 'string', ...node.propertyNames }, '', noHint, { ...context, salt: index }));
}

const rotated = <T>(list: readonly T[], by: number): T[] =>
  list.map((_item, index) => list[(index + by) % list.length] as T);

/** Used if nothing is known: a neutral word. */
const unknownText = 'unknown';

const formatted: Record<string, (salt: number) => string> = {
  date: (salt) => `2000-01-${String((salt % 28) + 1).padStart(2, '0')}`,
  'date-time': (salt) => `2000-01-01T00:00:${String(salt % 60).padStart(2, '0')}Z`,
  time: (salt) => `00:00:${String(salt % 60).padStart(2, '0')}Z`,
  email: (salt) => `unknown${salt || ''}@example.com`,
  uri: (salt) => `https://example.com/${salt || ''}`,
  'uri-reference': (salt) => `/${salt || ''}`,
  url: (salt) => `https://example.com/${salt || ''}`,
  uuid: (salt) => `00000000-0000-4000-8000-${String(salt).padStart(12, '0')}`,
  ipv4: (salt) => `192.0.2.${salt % 255}`,
  ipv6: (salt) => `2001:db8::${salt + 1}`,
  hostname: (salt) => `example${salt || ''}.com`,
  duration: (salt) => `PT${salt}S`,
  regex: (salt) => 'a'.repeat(salt + 1),
  'json-pointer': (salt) => `/${salt || ''}`,
};

/** Texts to try, best first. `salt` makes the items of a list differ. */
function* textCandidates(schema: SchemaNode, salt: number): Generator<string> {
  const shortest = numberOf(schema.minLength) ?? 0;
  const longest = numberOf(schema.maxLength) ?? Infinity;
  const format = typeof schema.format === 'string' ? formatted[schema.format] : undefined;
  if (format) yield format(salt);
  if (typeof schema.pattern === 'string') {
    for (const extra of [salt, 0, 1, 2, 3, 5, 8, shortest, shortest - 1, Math.ceil(shortest / 2)]) {
      const text = textOfPattern(schema.pattern, Math.max(0, extra));
      if (text !== null) yield text;
    }
  }
  const base = salt === 0 ? unknownText : `${salt}${unknownText}`;
  yield [...base].slice(0, longest).join('').padEnd(shortest, 'x');
  yield [...String.fromCharCode(97 + (salt % 26))].slice(0, longest).join('').padEnd(shortest, 'x');
  yield ''.padEnd(shortest, 'y');
}

function* numberCandidates(schema: SchemaNode, isWhole: boolean, salt: number): Generator<number> {
  const least = Math.max(numberOf(schema.minimum) ?? -Infinity, numberOf(schema.exclusiveMinimum) ?? -Infinity);
  const most = Math.min(numberOf(schema.maximum) ?? Infinity, numberOf(schema.exclusiveMaximum) ?? Infinity);
  const step = numberOf(schema.multipleOf) ?? (isWhole ? 1 : null);
  const start = least > 0 || most < 0 ? (Number.isFinite(least) ? least : most) : 0;
  if (step !== null) {
    const direction = start === most && start !== least ? -1 : 1;
    const nearest = direction > 0 ? Math.ceil(start / step) : Math.floor(start / step);
    for (let offset = 0; offset < 12; offset++) yield (nearest + direction * (salt + offset)) * step;
    for (let offset = 0; offset < 12; offset++) yield (nearest - direction * (salt + offset)) * step;
    return;
  }
  yield start + salt;
  yield start - salt;
  if (Number.isFinite(least) && Number.isFinite(most)) {
    yield least + ((most - least) * (salt + 1)) / (salt + 2);
    yield most;
  }
  yield start + salt + 1;
  yield start - salt - 1;
}
