import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fillSchema } from './fill-schema.ts';
import type { SchemaNode } from './schema-node.ts';

const knowNothing = () => undefined;

function expectFit(schema: SchemaNode) {
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
  const data = fillSchema(schema, knowNothing);
  expect(
    validate(data),
    `${JSON.stringify(schema)} ← ${JSON.stringify(data)}: ${JSON.stringify(validate.errors)}`,
  ).toBe(true);
}

const range = fc.tuple(fc.integer({ min: -50, max: 50 }), fc.integer({ min: 1, max: 40 }));
const size = fc.tuple(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 6 }));
const name = fc.constantFrom('id', 'total', 'name', 'items', 'city', 'e_mail', 'größe', 'is open');
const patterns = [
  '^[A-Z]{3}-\\d{4}$',
  '^(red|green)+$',
  '\\d',
  '^#?[0-9a-f]{6}$',
  '^\\S+@\\S+\\.\\w{2,}$',
  '^[^,]+,\\s*[^,]+$',
];

const scalar = fc.oneof(
  size.map(([minLength, more]) => ({ type: 'string', minLength, maxLength: minLength + more })),
  fc.constantFrom(...patterns).map((pattern) => ({ type: 'string', pattern })),
  fc.constantFrom('date', 'date-time', 'email', 'uri', 'uuid', 'ipv4').map((format) => ({ type: 'string', format })),
  range.map(([minimum, more]) => ({ type: 'integer', minimum, maximum: minimum + more })),
  range.map(([exclusiveMinimum, more]) => ({
    type: 'number',
    exclusiveMinimum,
    exclusiveMaximum: exclusiveMinimum + more,
  })),
  fc.constantFrom(2, 5, 0.5, 7).map((multipleOf) => ({ type: 'number', multipleOf, minimum: 3 })),
  fc.constant({ type: 'boolean' }),
  fc.constant({ type: 'null' }),
  fc.constant({}),
  fc.constant({ type: ['null', 'string'] }),
  fc
    .uniqueArray(fc.oneof(fc.string({ maxLength: 5 }), fc.integer(), fc.constant(null)), { minLength: 1, maxLength: 4 })
    .map((options) => ({ enum: options })),
  fc.jsonValue({ maxDepth: 1 }).map((value) => ({ const: value })),
);

const { schema: anySchema } = fc.letrec<{ schema: SchemaNode; object: SchemaNode }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    tie('object'),
    fc
      .tuple(tie('schema'), size)
      .map(([items, [minItems, more]]) => ({ type: 'array', items, minItems, maxItems: minItems + more })),
    size.map(([minItems]) => ({ type: 'array', items: { type: 'integer' }, minItems, uniqueItems: true })),
    size.map(([minItems]) => ({ type: 'array', items: { type: 'string' }, minItems, uniqueItems: true })),
    fc.tuple(scalar, scalar).map(([first, second]) => ({ type: 'array', items: [first, second], minItems: 2 })),
    tie('schema').map((contains) => ({ type: 'array', contains })),
    fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    fc.tuple(tie('object'), tie('object')).map((pair) => ({
      oneOf: pair.map((each, index) => ({
        ...each,
        properties: { ...(each.properties as object), kind: { const: index } },
        required: [...(each.required as string[]), 'kind'],
      })),
    })),
    fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 10, max: 20 })).map(([minimum, maximum]) => ({
      allOf: [{ type: 'integer', minimum }, { maximum }],
    })),
    fc.constant({ type: 'string', not: { enum: ['unknown', ''] } }),
    fc.constant({
      type: 'object',
      properties: { paid: { type: 'boolean' }, on: { type: 'string' } },
      required: ['paid'],
      if: { properties: { paid: { const: true } } },
      // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema.
      then: { required: ['on'] },
      else: { properties: { on: false } },
    }),
    size.map(([minProperties]) => ({ type: 'object', minProperties, additionalProperties: { type: 'integer' } })),
    fc.constant({
      type: 'object',
      patternProperties: { '^x_': { type: 'integer' } },
      additionalProperties: false,
      minProperties: 2,
    }),
  ),
  object: fc
    .tuple(fc.dictionary(name, tie('schema'), { maxKeys: 4 }), fc.boolean(), fc.nat(4))
    .map(([properties, isClosed, count]) => ({
      type: 'object',
      properties: { ...properties },
      required: Object.keys(properties).slice(0, count),
      ...(isClosed && { additionalProperties: false }),
    })),
}));

describe('filling an output schema', () => {
  it('produces valid data for any schema [MOD-011]', () => {
    fc.assert(fc.property(anySchema, expectFit), { numRuns: 300 });
  });

  it.each<[string, SchemaNode]>([
    [
      'a tree',
      {
        $ref: '#/$defs/node',
        $defs: {
          node: {
            type: 'object',
            properties: { value: { type: 'integer' }, children: { type: 'array', items: { $ref: '#/$defs/node' } } },
            required: ['value', 'children'],
          },
        },
      },
    ],
    [
      'a list of linked nodes',
      {
        type: 'object',
        properties: { next: { anyOf: [{ $ref: '#' }, { type: 'null' }] }, name: { type: 'string' } },
        required: ['next', 'name'],
      },
    ],
    ['a required property that is declared nowhere', { type: 'object', required: ['anything'] }],
    ['names of a pattern', { type: 'object', propertyNames: { pattern: '^[a-z]{3}$' }, minProperties: 1 }],
  ])('fills %s', (_name, schema) => {
    expectFit(schema);
  });

  it('keeps the parts of a hint that fit', () => {
    const schema = {
      type: 'object',
      properties: { met: { type: 'boolean' }, reason: { type: 'string', maxLength: 3 }, score: { type: 'integer' } },
      required: ['met', 'reason', 'score'],
    };
    expect(fillSchema(schema, knowNothing, { hint: { met: true, reason: 'too long', score: 4 } })).toEqual({
      met: true,
      reason: 'unk',
      score: 4,
    });
  });

  it('omits optional unknown properties on request', () => {
    const schema = {
      type: 'object',
      properties: { question: { type: 'string' }, options: { type: 'array', items: { type: 'string' } }, note: {} },
      required: ['question'],
    };
    const know = (property: string) => (property === 'note' ? 'a note' : undefined);
    expect(fillSchema(schema, know, { isSparse: true })).toEqual({ question: 'unknown', note: 'a note' });
  });

  it('uses the known value of a property', () => {
    const schema = { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } } };
    const know = (property: string) => (property === 'city' ? 'Oslo' : undefined);
    expect(fillSchema(schema, know)).toEqual({ city: 'Oslo', days: 0 });
  });
});
