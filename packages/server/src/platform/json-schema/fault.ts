import { Ajv, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { excessOf, limits } from './limits.ts';
import { readPattern, unsupported } from './pattern.ts';
import {
  intendedKeyword,
  isObject,
  isRule,
  partsInPlace,
  type Schema,
  type Subschema,
  subschemasOf,
  targetOf,
} from './subschemas.ts';

/**
 * Returns what is wrong with a caller's JSON Schema, or null. A schema that passes can be compiled and used in bounded
 * time.
 *
 * It checks the meta-schema and the limits without compiling, because a file may have fifty schemas. Patterns that
 * cannot be checked in linear time are left to the reader of the value, unless `isPromised` says that the value must
 * fit.
 */
export function faultOfJsonSchema(root: Schema, { isPromised = false } = {}): string | null {
  const excess = excessOf(root, limits.schema);
  if (excess === 'depth') return `The JSON Schema may be ${limits.schema.depth} levels deep at most.`;
  if (excess === 'bytes') return `The JSON Schema may take ${limits.schema.bytes} bytes at most.`;
  const form = faultOfForm(root);
  if (form !== null) return form;
  const all = subschemasOf(root);
  return (
    faultOfSize(all) ??
    firstFault(all, (each) => faultWithin(each, all)) ??
    faultOfPatterns(all, isPromised) ??
    circle(all)
  );
}

const options: Options = { validateFormats: false, logger: false, addUsedSchema: false };

let drafts: { 7: Ajv; 2020: Ajv } | undefined;

export function faultOfForm({ $schema, ...schema }: Schema): string | null {
  drafts ??= { 7: new Ajv(options), 2020: new Ajv2020(options) };
  const ajv = drafts[draftOf({ $schema })];
  if (ajv.validateSchema(schema)) return null;
  const [error] = ajv.errors ?? [];
  const place = error?.instancePath.slice(1).replaceAll('/', '.') || 'it';
  return `The JSON Schema does not hold together: ${place} ${error?.message}.`;
}

export const draftOf = ({ $schema }: Schema): 7 | 2020 => (/draft-0[3-7]/.test(String($schema)) ? 7 : 2020);

/** Refuses schemas that take the library too long to compile. */
export function faultOfSize(all: readonly Subschema[]): string | null {
  if (all.length > limits.subschemas) {
    return `The JSON Schema has ${all.length} schemas within it, and may have ${limits.subschemas}.`;
  }
  const rules = sum(all.map(({ schema }) => rulesOf(schema)));
  if (rules > limits.rules) return `The JSON Schema has ${rules} rules, and may have ${limits.rules}.`;
  const looksAround = all.some(
    ({ schema }) => schema.unevaluatedProperties !== undefined || schema.unevaluatedItems !== undefined,
  );
  if (looksAround && all.length > limits.subschemasLookedAround) {
    return `With \`unevaluatedProperties\` or \`unevaluatedItems\` a JSON Schema may have ${limits.subschemasLookedAround} schemas within it, and this has ${all.length}.`;
  }
  const choices = all.map(({ schema: { oneOf } }) => (Array.isArray(oneOf) ? oneOf.length ** 2 : 0));
  if (sum(choices) > limits.choices ** 2) return `The JSON Schema may have ${limits.choices} schemas in \`oneOf\`.`;
  const patterns = all.flatMap(({ schema }) => patternsOf(schema));
  const length = sum(patterns.map((pattern) => pattern.length));
  return patterns.length > limits.patterns || length > limits.patternLength
    ? `The JSON Schema may have ${limits.patterns} patterns, and they ${limits.patternLength} characters together.`
    : null;
}

/** Counts the keywords that check a value. Dependencies count once per property. */
const rulesOf = (schema: Schema): number =>
  sum(
    Object.entries(schema).map(([keyword, value]) => {
      if (!isRule(keyword)) return 0;
      return /^depend/.test(keyword) && isObject(value) ? Object.keys(value).length : 1;
    }),
  );

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

function faultWithin({ schema, path }: Subschema, all: readonly Subschema[]): string | null {
  const at = placeOf(path);
  for (const key of Object.keys(schema)) {
    const meant = intendedKeyword(key);
    if (meant === null) return `${at} \`${key}\` is not supported.`;
    if (meant !== key) return `${at} \`${key}\` is no keyword of JSON Schema: did you mean \`${meant}\`?`;
  }
  if (schema.$id !== undefined && path.length > 0) return `${at} \`$id\` is inside the schema: write it at the top.`;
  if (typeof schema.$ref === 'string' && targetOf(schema.$ref, all) === undefined) {
    return `${at} \`$ref\` leads nowhere: it may name a part of this schema alone, such as #/$defs/address.`;
  }
  if (schema.$anchor !== undefined) {
    const isTwice = all.filter((other) => other.schema.$anchor === schema.$anchor).length > 1;
    if (isTwice || !anchor.test(String(schema.$anchor))) return `${at} \`$anchor\` is there twice or is no name.`;
  }
  if (Array.isArray(schema.enum) && schema.enum.length === 0) return `${at} \`enum\` is empty.`;
  if (schema.nullable !== undefined && (schema.type === undefined || schema.nullable === false)) {
    return `${at} \`nullable\` may only be true, together with a \`type\`. Or add null to the types.`;
  }
  const names = ['properties', 'patternProperties', 'dependentSchemas', 'dependencies'] as const;
  const isPrototype = names.some((keyword) => isObject(schema[keyword]) && Object.hasOwn(schema[keyword], '__proto__'));
  return isPrototype ? `${at} \`__proto__\` cannot be the name of a property.` : null;
}

const anchor = /^[a-z_][-a-z0-9._]*$/i;

function faultOfPatterns(all: readonly Subschema[], isPromised: boolean): string | null {
  let size = 0;
  for (const { schema, path } of all) {
    for (const source of patternsOf(schema)) {
      const pattern = readPattern(source);
      if (pattern === unsupported && !isPromised) continue;
      if (typeof pattern === 'string') return `${placeOf(path)} ${pattern}`;
      size += pattern.size;
      if (size > limits.patternSize) return `${placeOf(path)} a pattern repeats too much, alone or with the others.`;
    }
  }
  return null;
}

const patternsOf = ({ pattern, patternProperties }: Schema): string[] => [
  ...(typeof pattern === 'string' ? [pattern] : []),
  ...Object.keys(isObject(patternProperties) ? patternProperties : {}),
];

/** Refuses a schema that refers to itself for the same value: the check would never end. */
function circle(all: readonly Subschema[]): string | null {
  const done = new Set<Schema>();
  const open = new Set<Schema>();
  const isCircle = (schema: Schema): boolean => {
    if (open.has(schema)) return true;
    if (done.has(schema)) return false;
    open.add(schema);
    const target = typeof schema.$ref === 'string' ? targetOf(schema.$ref, all)?.schema : undefined;
    const next = isObject(target) ? [target, ...partsInPlace(schema)] : partsInPlace(schema);
    const found = next.some(isCircle);
    open.delete(schema);
    done.add(schema);
    return found;
  };
  return firstFault(all, ({ schema, path }) =>
    isCircle(schema) ? `${placeOf(path)} \`$ref\` leads back to itself without going into the value.` : null,
  );
}

function firstFault(all: readonly Subschema[], faultOf: (each: Subschema) => string | null): string | null {
  for (const each of all) {
    const fault = faultOf(each);
    if (fault !== null) return fault;
  }
  return null;
}

const placeOf = (path: readonly string[]) => (path.length === 0 ? 'At its top' : `At ${shortened(path.join('.'))}`);
const shortened = (text: string) => (text.length > 200 ? `${text.slice(0, 200).toWellFormed()}…` : text);
