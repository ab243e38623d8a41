import { _, Ajv, type KeywordCxt, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { draftOf, faultOfForm, faultOfSize } from './fault.ts';
import { formats } from './formats.ts';
import { limits } from './limits.ts';
import { readPattern } from './pattern.ts';
import { excessOf } from './size.ts';
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

/** Steps that a check may still take. One object serves every check of a schema: a check runs in one go. */
export type Meter = { left: number };

export class OutOfSteps extends Error {}

/**
 * The schema as a function, or null where it cannot be one: too large, addresses elsewhere, no form of JSON Schema. It
 * counts its steps on the meter and throws `OutOfSteps`: how long a check takes depends on schema and value together,
 * and may double with every level of either.
 */
export function compileSchema(
  root: Schema,
  meter: Meter,
  { allErrors }: { allErrors: boolean },
): ValidateFunction | null {
  if (excessOf(root, limits.schema) !== null) return null;
  const { $schema, $id, ...schema } = root;
  const all = subschemasOf(schema);
  const leadsElsewhere = all.some(
    ({ schema: { $id: own, $ref } }) =>
      own !== undefined || ($ref !== undefined && targetOf(String($ref), all) === undefined),
  );
  // Of what has no form of JSON Schema the library makes a function that throws at some values.
  if (leadsElsewhere || faultOfSize(all) !== null || faultOfForm(root) !== null) return null;
  const spend = spender(meter);
  try {
    // An instance keeps all that it ever compiled, so each schema has its own.
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
    // A schema that many references name would be written out for each, and every name that is required or allowed.
    inlineRefs: false,
    loopRequired: 4,
    loopEnum: 4,
    // `constructor` is no property of an empty object.
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
    // Its second pass over the code takes longer than everything else, and makes no check faster.
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
  // Before every keyword that goes on to another schema: one that fails there would never be counted.
  for (const { rules } of ajv.RULES.rules) {
    const at = rules.findIndex(({ keyword }) => keyword === meterKeyword);
    if (at > 0) rules.unshift(...rules.splice(at, 1));
  }
  // The validator's own compares every item with every other.
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

/** A pattern that cannot run in linear time is not checked: `faultOfJsonSchema` refuses it where it is promised. */
function meteredPattern(source: string, spend: Spend) {
  const pattern = readPattern(source);
  return {
    test(text: string): boolean {
      if (typeof pattern === 'string') return true;
      spend(1 + Math.ceil((pattern.size * text.length) / 32));
      return pattern.test(text);
    },
    // The validator takes two patterns with the same text for one.
    toString: () => source,
  };
}

const meterKeyword = 'x-vestra-steps';

/** The schema with what each part of it costs, wherever it is asked, and with every reference as a pointer. */
function metered(schema: Schema, all: readonly Subschema[]): Record<string, unknown> {
  const { $anchor, ...parts } = withParts(schema, (inner) => metered(inner, all));
  // The validator knows names of its own that are no keywords, and the meter is one.
  const known = Object.fromEntries(Object.entries(parts).filter(([keyword]) => isKeyword(keyword)));
  const rules = Object.entries(schema).filter(([keyword]) => isRule(keyword));
  const steps = rules.reduce((sum, [keyword, value]) => sum + stepsOf(keyword, value), 1);
  const patterns = Object.keys(isObject(schema.patternProperties) ? schema.patternProperties : {}).length;
  const looksAtAll = rules.some(([keyword]) => everyKey.has(keyword));
  const target = typeof schema.$ref === 'string' ? targetOf(schema.$ref, all) : undefined;
  return {
    ...known,
    // The validator does not know an anchor at the top.
    ...(target && { $ref: `#${target.pointer.split('/').map(encodeURIComponent).join('/')}` }),
    ...(rules.length > 0 && { [meterKeyword]: [steps, looksAtAll ? 1 + patterns : 0] }),
  };
}

/** Those that look at every key of an object, or at every character of a text. */
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

/** Equal values have one text: the order of keys does not count. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    isObject(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );
}
