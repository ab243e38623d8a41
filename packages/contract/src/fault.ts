import { z } from 'zod';
import type { ErrorCode, Fault } from './errors.ts';
import { explain } from './explain.ts';
import { nearest } from './nearest.ts';

/**
 * A schema may declare its error code. The innermost declared code on the path to a fault wins. Otherwise the code of
 * the place applies (query, body, file).
 */
const codes = z.registry<{ code: ErrorCode }>();

export function failsWith<Schema extends z.ZodType>(code: ErrorCode, schema: Schema): Schema {
  codes.add(schema, { code });
  return schema;
}

/** Every code that a schema or a part of it declares. */
export function codesWithin(schema: z.ZodType, seen: Set<z.ZodType> = new Set()): ErrorCode[] {
  if (seen.has(schema)) return [];
  seen.add(schema);
  const own = codes.get(schema)?.code;
  const def = definition(schema);
  const parts = [def.innerType, def.in, def.element, def.valueType, def.getter?.(), ...(def.options ?? [])];
  const inner = [...parts, ...Object.values(def.shape ?? {})].filter((part) => part !== undefined);
  return [...(own ? [own] : []), ...inner.flatMap((part) => codesWithin(part, seen))];
}

/** For a larger body only the first fault is reported: finding the others costs more than the body. */
const mostValuesForAllFaults = 5_000;
const mostFaults = 100;
const mostSuggestions = 20;
const longestParam = 200;

/**
 * Validates `value` and returns the parsed value, or all faults in order. The first pass stops at the first fault, so
 * that a body with 100,000 faults is rejected quickly.
 */
export function check<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  fallback: ErrorCode,
): { ok: true; value: z.output<Schema> } | { ok: false; faults: [Fault, ...Fault[]] } {
  const stopping: z.core.ParseContextInternal<z.core.$ZodIssue> = { error: explain, abortEarly: true };
  const result = schema.safeParse(value, stopping);
  if (result.success) return { ok: true, value: result.data };
  const isSmall = valuesIn(value, mostValuesForAllFaults) < mostValuesForAllFaults;
  const error = isSmall ? (schema.safeParse(value, { error: explain }).error ?? result.error) : result.error;
  const issues = error.issues.slice(0, mostFaults);
  const faults = issues.flatMap((issue) => faultsOf(issue, schema, value, fallback)).slice(0, mostFaults);
  return { ok: false, faults: faults as [Fault, ...Fault[]] };
}

/** Counts nested values, up to `most`. */
function valuesIn(value: unknown, most: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  for (const key in value) {
    if (count >= most) break;
    count += valuesIn((value as Record<string, unknown>)[key], most - count);
  }
  return count;
}

function faultsOf(issue: z.core.$ZodIssue, schema: z.ZodType, value: unknown, fallback: ErrorCode): Fault[] {
  // Of a union whose options fail differently, zod may report the unknown keys of one option alone.
  const ofOneOption = issue.code === 'unrecognized_keys' ? severalForms(issue.path, schema, value) : null;
  if (ofOneOption !== null) {
    const code = codeAlong(schema, issue.path, value) ?? fallback;
    return [{ code, param: paramOf(issue.path), message: ofOneOption }];
  }
  if (issue.code === 'invalid_union') {
    const unclear = unclearForm(issue, schema, value);
    if (unclear !== null) {
      const code = codeAlong(schema, issue.path, value) ?? fallback;
      return [{ code, param: paramOf(issue.path), message: unclear }];
    }
    const best = bestBranch(issue.errors);
    if (best) {
      return best.flatMap((inner) =>
        faultsOf({ ...inner, path: [...issue.path, ...inner.path] } as z.core.$ZodIssue, schema, value, fallback),
      );
    }
  }
  const custom = issue.code === 'custom' ? (issue.params?.code as ErrorCode | undefined) : undefined;
  const code = custom ?? codeAlong(schema, issue.path, value) ?? fallback;
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, mostFaults).map((key, at) => ({
      code,
      param: paramOf([...issue.path, key]),
      message: `Unknown field \`${cut(key, 100)}\`.${at < mostSuggestions ? meantBy(key, schema, issue.path, value) : ''}`,
    }));
  }
  return [{ code, param: paramOf(issue.path), message: issue.message }];
}

const paramOf = (path: PropertyKey[]) => cut(path.join('.'), longestParam);

/** A key may be very long, and an error quotes it. */
const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most)}…`.toWellFormed() : text);

/** Chooses the union branch that the caller meant: the one that knows most fields, then the one that got furthest. */
function bestBranch(branches: z.core.$ZodIssue[][]): z.core.$ZodIssue[] | undefined {
  const depth = (issues: z.core.$ZodIssue[]) => issues.reduce((most, issue) => Math.max(most, issue.path.length), 0);
  const isWrongKind = (issues: z.core.$ZodIssue[]) =>
    issues.some((issue) => issue.path.length === 0 && issue.code === 'invalid_type');
  const strangers = (issues: z.core.$ZodIssue[]) =>
    issues.reduce(
      (sum, issue) => sum + (issue.path.length === 0 && issue.code === 'unrecognized_keys' ? issue.keys.length : 0),
      0,
    );
  const [best] = branches
    .filter((issues) => !isWrongKind(issues))
    .sort((a, b) => strangers(a) - strangers(b) || depth(b) - depth(a) || a.length - b.length);
  return best;
}

/**
 * The message for an object that has the first key of no option of a union, or of several. The first key tells the
 * options apart, so the faults of one option would mislead.
 */
const unclearForm = (issue: z.core.$ZodIssue, schema: z.ZodType, value: unknown): string | null =>
  formsUsed(issue.path, schema, value)?.length === 0 ? issue.message : severalForms(issue.path, schema, value);

function severalForms(path: readonly PropertyKey[], schema: z.ZodType, value: unknown): string | null {
  const used = formsUsed(path, schema, value) ?? [];
  return used.length < 2 ? null : `Write one of ${used.map((key) => `\`${key}\``).join(' and ')}, not both.`;
}

/** The first keys of options that the object has; null if the union at the path is not distinguished by them. */
function formsUsed(path: readonly PropertyKey[], schema: z.ZodType, value: unknown): string[] | null {
  const given = valueAt(value, path);
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return null;
  const keys = optionsAt(schema, path, value).flatMap((option) => Object.keys(definition(option).shape ?? {})[0] ?? []);
  if (keys.length < 2 || new Set(keys).size < keys.length) return null;
  return keys.filter((key) => key in given);
}

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown> | null | undefined)?.[key], value);

/** The options of the union at a path; empty if there is none. */
function optionsAt(schema: z.ZodType, path: readonly PropertyKey[], value: unknown): readonly z.ZodType[] {
  const { here } = along(schema, path.slice(0, -1), value);
  let union = here && path.length > 0 ? child(here, path.at(-1) as PropertyKey) : schema;
  while (union && definition(union).innerType) union = definition(union).innerType;
  return (union && definition(union).options) ?? [];
}

/** Known fields at this place with a similar name. */
function meantBy(key: string, schema: z.ZodType, path: PropertyKey[], value: unknown): string {
  const { here } = along(schema, path, value);
  const names = Object.keys((here && definition(here).shape) ?? {});
  const near = nearest(key, names).map((name) => `\`${name}\``);
  if (near.length > 0) return ` Did you mean ${near.join(' or ')}?`;
  return (path.length === 0 && names.includes('instructions') && wordsOfOthers[key]) || '';
}

const asInstructions = ' Write it as `instructions`.';
const asServer = ' Write MCP servers as entries under `tools`: `- mcp: https://…`.';

/** Fields that other products and the API's own answers use for parts of a deployment file. */
const wordsOfOthers: Readonly<Record<string, string>> = {
  prompt: asInstructions,
  system: asInstructions,
  system_prompt: asInstructions,
  mcp: asServer,
  mcp_servers: asServer,
  mcpServers: asServer,
  functions: ' Write functions as entries under `tools`: `- function: find_order`.',
  manifest: ' Write its fields at the top of the file.',
};

const codeAlong = (schema: z.ZodType, path: PropertyKey[], value: unknown) => along(schema, path, value).found;

/** The schema at the end of a path, and the innermost code on the way. */
function along(
  schema: z.ZodType,
  path: PropertyKey[],
  value: unknown,
): { here: z.ZodType | undefined; found: ErrorCode | undefined } {
  let found: ErrorCode | undefined;
  let here: z.ZodType | undefined = schema;
  let valueHere: unknown = value;
  for (let step = 0; step <= path.length && here; step++) {
    [here, found] = unwrap(here, valueHere, found);
    if (step === path.length) break;
    const key = path[step] as PropertyKey;
    here = child(here, key);
    valueHere = (valueHere as Record<PropertyKey, unknown> | undefined)?.[key];
  }
  return { here, found };
}

type Def = {
  type: string;
  innerType?: z.ZodType;
  in?: z.ZodType;
  element?: z.ZodType;
  valueType?: z.ZodType;
  shape?: Record<string, z.ZodType>;
  options?: z.ZodType[];
  getter?: () => z.ZodType;
};

const definition = (schema: z.ZodType): Def => (schema as unknown as { _zod: { def: Def } })._zod.def;

function unwrap(schema: z.ZodType, value: unknown, found: ErrorCode | undefined): [z.ZodType, ErrorCode | undefined] {
  const code = codes.get(schema)?.code ?? found;
  const def = definition(schema);
  const inner = def.innerType ?? (def.type === 'pipe' ? def.in : undefined) ?? def.getter?.();
  if (inner) return unwrap(inner, value, code);
  if (def.options) {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    const option =
      def.options.find((each) => definition(each).type === 'object' && isObject && sharesKeys(each, value)) ??
      def.options.find((each) => definition(each).type === (Array.isArray(value) ? 'array' : typeof value));
    if (option) return unwrap(option, value, code);
  }
  return [schema, code];
}

function sharesKeys(schema: z.ZodType, value: object): boolean {
  const [first] = Object.keys(definition(schema).shape ?? {});
  return first !== undefined && first in value;
}

function child(schema: z.ZodType, key: PropertyKey): z.ZodType | undefined {
  const def = definition(schema);
  if (def.shape) return def.shape[String(key)];
  return def.element ?? def.valueType;
}
