import type { ErrorObject, ValidateFunction } from 'ajv';
import { compileSchema, type Meter, OutOfSteps } from './compile.ts';
import { faultOfJsonSchema } from './fault.ts';
import { excessOf, limits } from './limits.ts';
import type { Schema } from './subschemas.ts';

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
