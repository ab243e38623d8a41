import { _, Ajv, type ErrorObject, type KeywordCxt, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { draftOf, faultOfForm, faultOfJsonSchema, faultOfSize } from './fault.ts';
import { excessOf, limits } from './limits.ts';
import { readPattern } from './pattern.ts';
import {
  holdsSchemas,
  isKeyword,
  isObject,
  isRule,
  type Schema,
  type Subschema,
  subschemasOf,
  targetOf,
  withParts,
} from './subschemas.ts';

export type Schemas = {
  /** Returns the error in a caller's JSON Schema as a sentence, or null if the schema is valid. */
  faultOf: typeof faultOfJsonSchema;
  /**
   * Checks a value in bounded time. The message helps a model to fix the value.
   *
   * Schemas that `faultOf` would refuse and patterns that are too slow are not checked: they come from MCP servers and
   * functions, which check their input themselves.
   */
  validate: (schema: Schema, value: unknown) => Verdict;
};

type Verdict = { ok: true } | { ok: false; message: string };

type Compiled = { meter: Meter; check: ValidateFunction | null; checkAll: ValidateFunction | null | undefined };

const maxErrors = 5;
const maxCached = 500;
/** The total text of all cached schemas. Compiled, they take about ten times as much. */
const maxCachedCharacters = 1_000_000;

export function createSchemas({ value: valueLimits = limits.value }: { value?: typeof limits.value } = {}): Schemas {
  const kept = new Map<string, Compiled>();
  let characters = 0;

  function compiledOf(schema: Schema): Compiled | null {
    if (excessOf(schema, limits.schema) !== null) return null;
    const key = JSON.stringify(schema);
    const known = kept.get(key);
    if (known) {
      kept.delete(key);
      kept.set(key, known);
      return known;
    }
    const meter = { left: 0 };
    const made = { meter, check: compileSchema(schema, meter, { allErrors: false }), checkAll: undefined };
    kept.set(key, made);
    characters += key.length;
    for (const oldest of kept.keys()) {
      if (kept.size <= maxCached && characters <= maxCachedCharacters) break;
      kept.delete(oldest);
      characters -= oldest.length;
    }
    return made;
  }

  return {
    faultOf: faultOfJsonSchema,
    validate(schema, value) {
      const excess = excessOf(value, valueLimits);
      if (excess === 'depth') return refused(`The value may be ${valueLimits.depth} levels deep at most`);
      if (excess === 'bytes') return refused(`The value may take ${valueLimits.bytes} bytes as JSON at most`);
      if (hasPrototypeKey(value)) return refused('The value may not have the key `__proto__`');
      const compiled = compiledOf(schema);
      if (!compiled?.check) return { ok: true };
      const first = run(compiled.check, compiled.meter, limits.steps, value);
      if (first === 'too long') return refused('The value is too large to be checked against its schema');
      if (first.length === 0) return { ok: true };
      compiled.checkAll ??= compileSchema(schema, compiled.meter, { allErrors: true });
      const more = compiled.checkAll && run(compiled.checkAll, compiled.meter, limits.stepsForErrors, value);
      return refused(described(more && more !== 'too long' && more.length > 0 ? more : first));
    },
  };
}

const refused = (message: string): Verdict => ({ ok: false, message });

function run(check: ValidateFunction, meter: Meter, steps: number, value: unknown): ErrorObject[] | 'too long' {
  meter.left = steps;
  try {
    return check(value) ? [] : (check.errors ?? []);
  } catch (error) {
    // A schema that descends into itself at every level may overflow the stack.
    if (error instanceof OutOfSteps || error instanceof RangeError) return 'too long';
    throw error;
  } finally {
    // The errors keep a reference to the value.
    check.errors = null;
  }
}

function hasPrototypeKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(hasPrototypeKey);
}

function described(errors: readonly ErrorObject[]): string {
  const lines = [...new Set(errors.slice(0, 1000).map(lineOf))];
  return lines.slice(0, maxErrors).join('; ') + (lines.length > maxErrors ? '; and more' : '');
}

function lineOf({ instancePath, propertyName, keyword, params, message = 'is not valid' }: ErrorObject): string {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.');
  if (propertyName !== undefined) return `The property name \`${shortened(propertyName)}\` ${message}`;
  const place = path === '' ? 'The value' : `\`${shortened(path)}\``;
  return `${place} ${faultOf(keyword, params, message)}`;
}

function faultOf(keyword: string, params: Record<string, unknown>, message: string): string {
  switch (keyword) {
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return `must not have the property \`${shortened(String(params.additionalProperty ?? params.unevaluatedProperty))}\``;
    case 'required':
      return `must have the property \`${shortened(String(params.missingProperty))}\``;
    case 'enum':
      return `must be one of ${shortened(JSON.stringify(params.allowedValues))}`;
    case 'const':
      return `must be ${shortened(JSON.stringify(params.allowedValue))}`;
    case 'false schema':
      return 'must not be there';
    default:
      return shortened(message);
  }
}

const shortened = (text: string) => (text.length > 200 ? `${text.slice(0, 200).toWellFormed()}…` : text);

/** The steps that a check has left. All checks of a schema share one object, because checks are synchronous. */
type Meter = { left: number };

class OutOfSteps extends Error {}

/**
 * Compiles the schema, or returns null if it is too large, refers to other documents or is not valid.
 *
 * The function counts its steps on the meter and throws `OutOfSteps`: the time of a check depends on schema and value
 * together, and may double with every level of either.
 */
function compileSchema(root: Schema, meter: Meter, { allErrors }: { allErrors: boolean }): ValidateFunction | null {
  if (excessOf(root, limits.schema) !== null) return null;
  const { $schema, $id, ...schema } = root;
  const all = subschemasOf(schema);
  const leadsElsewhere = all.some(
    ({ schema: { $id: own, $ref } }) =>
      own !== undefined || ($ref !== undefined && targetOf(String($ref), all) === undefined),
  );
  // The library compiles an invalid schema into a function that throws for some values.
  if (leadsElsewhere || faultOfSize(all) !== null || faultOfForm(root) !== null) return null;
  const spend = spender(meter);
  try {
    // An instance never releases what it compiled, so each schema gets its own.
    return instanceFor(draftOf({ $schema }), spend, allErrors).compile(metered(schema, all));
  } catch {
    return null;
  }
}

type Spend = (steps: number) => void;

const spender =
  (meter: Meter): Spend =>
  (steps) => {
    meter.left -= steps;
    if (meter.left < 0) throw new OutOfSteps();
  };

function instanceFor(draft: 7 | 2020, spend: Spend, allErrors: boolean): Ajv {
  const options: Options = {
    allErrors,
    strict: false,
    logger: false,
    meta: false,
    validateSchema: false,
    // Inlining would repeat a schema for each reference, and unroll every required or allowed name.
    inlineRefs: false,
    loopRequired: 4,
    loopEnum: 4,
    // Without this an empty object would have the property `constructor`.
    ownProperties: true,
    formats: Object.fromEntries(
      Object.entries(formats).map(([name, isGood]) => [
        name,
        (text: string) => {
          spend(stepsOfText(text));
          return isGood(text);
        },
      ]),
    ),
    // The optimiser takes longer than everything else, and makes no check faster.
    code: {
      optimize: false,
      regExp: Object.assign((source: string) => meteredPattern(source, spend), { code: 'pattern' }),
    },
  };
  const ajv = draft === 7 ? new Ajv(options) : new Ajv2020(options);
  ajv.addKeyword({
    keyword: meterKeyword,
    code(context: KeywordCxt) {
      const { gen, data } = context;
      const [steps, stepsPerKey] = context.schema as [number, number];
      const charge = gen.scopeValue('func', { ref: chargeFor, key: chargeFor });
      gen.code(_`${charge}(${steps}, ${stepsPerKey}, ${data})`);
    },
  });
  // Charge before every keyword that descends into another schema. A check that fails there would not be charged.
  for (const { rules } of ajv.RULES.rules) {
    const at = rules.findIndex(({ keyword }) => keyword === meterKeyword);
    if (at > 0) rules.unshift(...rules.splice(at, 1));
  }
  // The library's version compares every item with every other.
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must NOT have duplicate items' },
    validate: (isWanted: boolean, items: unknown[]) => !isWanted || areUnique(items, spend),
  });
  return ajv;

  function chargeFor(steps: number, stepsPerKey: number, value: unknown): void {
    let all = steps;
    if (stepsPerKey > 0 && typeof value === 'string') all += stepsOfText(value);
    if (stepsPerKey > 0 && isObject(value)) all += stepsPerKey * Object.keys(value).length;
    spend(all);
  }
}

const stepsOfText = (text: string) => text.length >> 3;

/** Skips a pattern that cannot run in linear time. `faultOfJsonSchema` refuses it if the value is promised to fit. */
function meteredPattern(source: string, spend: Spend) {
  const pattern = readPattern(source);
  return {
    test(text: string): boolean {
      if (typeof pattern === 'string') return true;
      spend(1 + Math.ceil((pattern.size * text.length) / 32));
      return pattern.test(text);
    },
    // The library treats two patterns with the same text as one.
    toString: () => source,
  };
}

const meterKeyword = 'x-vestra-steps';

/** Adds the cost of each part to the schema, and turns every reference into a pointer. */
function metered(schema: Schema, all: readonly Subschema[]): Record<string, unknown> {
  const { $anchor, ...parts } = withParts(schema, (inner) => metered(inner, all));
  // The library reacts to names that are not keywords of JSON Schema, and the meter is one.
  const known = Object.fromEntries(Object.entries(parts).filter(([keyword]) => isKeyword(keyword)));
  const rules = Object.entries(schema).filter(([keyword]) => isRule(keyword));
  const steps = rules.reduce((sum, [keyword, value]) => sum + stepsOf(keyword, value), 1);
  const patterns = Object.keys(isObject(schema.patternProperties) ? schema.patternProperties : {}).length;
  const looksAtAll = rules.some(([keyword]) => everyKey.has(keyword));
  const target = typeof schema.$ref === 'string' ? targetOf(schema.$ref, all) : undefined;
  return {
    ...known,
    // The library does not find an anchor at the top.
    ...(target && { $ref: `#${target.pointer.split('/').map(encodeURIComponent).join('/')}` }),
    ...(rules.length > 0 && { [meterKeyword]: [steps, looksAtAll ? 1 + patterns : 0] }),
  };
}

/** Keywords that look at every key of an object, or at every character of a text. */
const everyKey: ReadonlySet<string> = new Set(
  'additionalProperties unevaluatedProperties patternProperties propertyNames minProperties maxProperties minLength maxLength'.split(
    ' ',
  ),
);

function stepsOf(keyword: string, value: unknown): number {
  if (holdsSchemas(keyword)) return Array.isArray(value) || isObject(value) ? Object.keys(value).length : 1;
  return valuesIn(value);
}

function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, inner) => sum + valuesIn(inner), 1);
}

function areUnique(items: readonly unknown[], spend: Spend): boolean {
  const seen = new Set<string>();
  for (const item of items) {
    spend(valuesIn(item));
    const text = canonical(item);
    spend(stepsOfText(text));
    if (seen.has(text)) return false;
    seen.add(text);
  }
  return true;
}

/** Equal values get the same text, whatever the order of their keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    isObject(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );
}

type Format = (text: string) => boolean;

/** The formats that are checked. Other formats are only notes. */
const formats: Readonly<Record<string, Format>> = {
  date: isDate,
  'date-time': isDateTime,
  email: (text) => text.length <= 320 && /^[^\s@"(),:;<>[\\\]]+@[^\s@.]+(?:\.[^\s@.]+)+$/.test(text),
  uri: (text) => /^[a-z][a-z0-9+.-]*:[^\s"<>\\^`{|}]*$/i.test(text) && URL.canParse(text),
  uuid: (text) => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text),
};

function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)?.map(Number) ?? [];
  if (year === undefined || month === undefined || day === undefined) return false;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

function isDateTime(text: string): boolean {
  const [, date, time, zone] =
    /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2})(?:\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/.exec(text) ?? [];
  if (date === undefined || time === undefined || zone === undefined) return false;
  const [hours = 99, minutes = 99, seconds = 99] = time.split(':').map(Number);
  const [zoneHours = 0, zoneMinutes = 0] = zone.length > 1 ? zone.slice(1).split(':').map(Number) : [];
  const isTime = hours <= 23 && minutes <= 59 && (seconds <= 59 || (seconds === 60 && minutes === 59));
  return isDate(date) && isTime && zoneHours <= 23 && zoneMinutes <= 59;
}
