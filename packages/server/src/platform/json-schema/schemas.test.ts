import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSchemas } from './schemas.ts';

const { faultOf, validate } = createSchemas();
const many = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);
const named = <T>(count: number, value: (at: number) => T) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value(at)]));
const nested = (levels: number): unknown => (levels === 0 ? {} : { a: nested(levels - 1) });
const draft7 = { $schema: 'http://json-schema.org/draft-07/schema#' };
const tooLarge = { ok: false, message: 'The value is too large to be checked against its schema' };

/** The limits are generous: unlimited checks would take hours or all memory. */
const quickly = { timeout: 60_000 };

describe('a value', () => {
  const order = {
    type: 'object',
    properties: {
      items: {
        type: 'array',
        items: { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] },
      },
      state: { enum: ['open', 'paid'] },
      kind: { const: 'order' },
    },
    additionalProperties: false,
  };

  it.each<[unknown, string | null]>([
    [{ items: [{ price: 1 }], state: 'paid', kind: 'order' }, null],
    [{ items: [{ price: '1' }] }, '`items.0.price` must be number'],
    [{ items: [{}] }, '`items.0` must have the property `price`'],
    [{ state: 'x' }, '`state` must be one of ["open","paid"]'],
    [{ kind: 'x' }, '`kind` must be "order"'],
    [{ other: 1 }, 'The value must not have the property `other`'],
    [[], 'The value must be object'],
    [{ items: [{ price: 'a' }, {}] }, '`items.0.price` must be number; `items.1` must have the property `price`'],
  ])('%j gets the message %s', (value, message) => {
    expect(validate(order, value)).toEqual(message === null ? { ok: true } : { ok: false, message });
  });

  it('gets five errors at most', () => {
    expect(validate({ items: { type: 'string' } }, many(9, 1))).toEqual({
      ok: false,
      message:
        '`0` must be string; `1` must be string; `2` must be string; `3` must be string; `4` must be string; and more',
    });
  });

  it('is checked against the draft that the schema names', () => {
    const pair = [{ type: 'string' }, { type: 'number' }];
    expect(validate({ ...draft7, items: pair }, ['a', 'b'])).toMatchObject({ message: '`1` must be number' });
    expect(validate({ prefixItems: pair }, ['a', 'b'])).toMatchObject({ message: '`1` must be number' });
    expect(validate({ ...draft7, prefixItems: pair }, ['a', 'b'])).toEqual({ ok: true });
  });

  it.each([
    ['date', ['2024-02-29', '0001-01-01'], ['2023-02-29', '2024-13-01', '2024-2-1', 'today']],
    ['date-time', ['2024-02-29T23:59:60Z', '2024-01-01T00:00:00.5+01:30'], ['2024-01-01', '2024-01-01T24:00:00Z']],
    ['email', ['ada@example.com', 'a.b+c@x.co'], ['ada', 'a@b', 'a@@b.c', 'a b@c.de']],
    ['uri', ['https://example.com/a?b', 'urn:isbn:1'], ['/a', 'https://', 'a b:c']],
    ['uuid', ['01234567-89ab-cdef-0123-456789ABCDEF'], ['0123456789abcdef0123456789abcdef', 'x']],
    ['no-such-format', ['anything'], []],
  ])('of the format %s is checked', (format, good, bad) => {
    for (const value of good) expect(validate({ format }, value), value).toEqual({ ok: true });
    for (const value of bad) expect(validate({ format }, value), value).toMatchObject({ ok: false });
  });

  it('may be 64 levels deep and 256 KB large by default', () => {
    expect(validate({}, nested(63))).toEqual({ ok: true });
    expect(validate({}, nested(64))).toEqual({ ok: false, message: 'The value may be 64 levels deep at most' });
    expect(validate({}, 'a'.repeat(262_000))).toEqual({ ok: true });
    expect(validate({}, 'ä'.repeat(132_000))).toMatchObject({
      message: 'The value may take 262144 bytes as JSON at most',
    });
    const small = createSchemas({ value: { depth: 2, bytes: 20 } });
    expect([small.validate({}, nested(2)).ok, small.validate({}, nested(1)).ok]).toEqual([false, true]);
    expect(small.validate({}, 'a'.repeat(30)).ok).toBe(false);
  });

  it('is refused if it contains itself', () => {
    const value: Record<string, unknown> = {};
    value.self = value;
    expect(validate({}, value)).toMatchObject({ ok: false });
  });

  it('is refused with the key __proto__, and inherited names are not properties', () => {
    const hostile: unknown = JSON.parse('{"a":[{"__proto__":{"isAdmin":true}}]}');
    expect(validate({}, hostile)).toEqual({ ok: false, message: 'The value may not have the key `__proto__`' });
    for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
      expect(validate({ required: [name] }, {}), name).toMatchObject({ ok: false });
    }
    expect(validate({ properties: { constructor: { type: 'string' } } }, {})).toEqual({ ok: true });
  });

  it('has equal items whatever the order of their keys', () => {
    expect(
      validate({ uniqueItems: true }, [
        { a: 1, b: [2] },
        { b: [2], a: 1 },
      ]),
    ).toEqual({
      ok: false,
      message: 'The value must NOT have duplicate items',
    });
    expect(validate({ uniqueItems: true }, [1, '1', [1], { a: 1 }, { a: '1' }, null, 'null'])).toEqual({ ok: true });
  });
});

describe('patterns', () => {
  it('of one schema are distinguished', () => {
    const schema = {
      properties: { a: { pattern: '^a$' }, b: { pattern: '^b$' } },
      patternProperties: { '^c': { type: 'null' } },
    };
    expect(validate(schema, { a: 'a', b: 'b', c: null })).toEqual({ ok: true });
    expect(validate(schema, { a: 'a', b: 'a', c: null })).toEqual({
      ok: false,
      message: '`b` must match pattern "^b$"',
    });
  });

  it.each(['^(a+)+$', '(a|aa)+$', '(x+x+)+y', '^([a-z]+)*$', '(.*a){20}$'])(
    'such as %s hold nobody up',
    quickly,
    (pattern) => {
      expect(faultOf({ pattern })).toBeNull();
      expect(validate({ pattern }, `${'a'.repeat(100_000)}!`)).toBeDefined();
      expect(validate({ items: { pattern } }, many(5000, `${'a'.repeat(40)}!`))).toBeDefined();
    },
  );

  it.each([
    '(?!a)b',
    '^a(?=b)',
    '^(?=a)b|c',
    '(?<=a)b',
    '(?<!a)b',
    '(a)\\1',
    '(?<n>a)\\k<n>',
    'a{1001}',
    '\\p{Script=Greek}',
  ])('such as %s are not checked, and are refused if the value must fit', (pattern) => {
    for (const schema of [{ properties: { a: { pattern } } }, { patternProperties: { [pattern]: {} } }]) {
      expect(faultOf(schema)).toBeNull();
      expect(faultOf(schema, { isPromised: true })).toMatch(/^At .* a pattern uses what cannot be checked here/);
    }
    expect(validate({ type: 'string', pattern }, 'zzz')).toEqual({ ok: true });
    expect(validate({ type: 'string', pattern }, 1)).toMatchObject({ ok: false });
  });

  it('match like in JavaScript', quickly, () => {
    const sources = [
      '^\\s$',
      '^\\S$',
      '^.$',
      '^[\\s.]$',
      '^[.]$',
      '^\\.$',
      '^\\w$',
      '^\\d$',
      '^[^\\d]$',
      '\\u00e4',
      '^\\p{L}$',
      '^\\cI$',
      '^[^]$',
      '^(?<n>a|b)$',
      '\\bа\\b',
      '^(?!a)b?',
      '^(?=.*7)(?![.)]|(?:ab))[^)]*$',
    ];
    const character = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 2 }),
      fc.constantFrom(...'\t\n\v\f\r \u00a0\u1680\u2028\u2029\ufeffäab.7'),
      fc.string({ unit: fc.constantFrom(...'ab.7)'), maxLength: 4 }),
    );
    fc.assert(
      fc.property(fc.constantFrom(...sources), character, (pattern, text) => {
        expect(validate({ pattern }, text).ok).toBe(new RegExp(pattern, 'u').test(text));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('schemas that libraries write', () => {
  it('are accepted: look-aheads of emails and host names are checked, and custom notes are allowed', () => {
    const email =
      "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$";
    const host = '^(?=.{1,253}\\.?$)[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9]+)*\\.?$';
    const schema = {
      type: 'object',
      properties: {
        email: { type: 'string', format: 'email', pattern: email, id: 'mail', label: 'Email', unit: 'none' },
        host: { type: 'string', pattern: host, example: 'a.example', 'ui:order': 1 },
      },
    };
    expect(faultOf(schema, { isPromised: true })).toBeNull();
    expect(validate(schema, { email: 'a.b@example.com', host: 'www.example.com' })).toEqual({ ok: true });
    for (const wrong of [{ email: 'a..b@example.com' }, { email: '.a@example.com' }, { host: 'a'.repeat(300) }]) {
      expect(validate(schema, wrong)).toMatchObject({ ok: false });
    }
  });

  it('do not count towards the time limit of a check', () => {
    const anyOf = [{ 'x-vestra-steps': [-1e15, 0], title: 'free of charge' }];
    const schema = { allOf: [{ anyOf }], items: { anyOf: [...many(100, { type: 'null' }), { type: 'integer' }] } };
    expect(validate(schema, many(10_000, 1))).toEqual({
      ok: false,
      message: 'The value is too large to be checked against its schema',
    });
  });
});

describe('a schema is refused if it', () => {
  it.each<[string, object, RegExp]>([
    ['is no schema', { type: 'strin' }, /does not hold together: type must be/],
    ['has a mistyped keyword', { properties: { a: { typ: 'string' } } }, /At properties\.a `typ` .* mean `type`\?/],
    [
      'has one in the wrong case',
      { minlength: 3 },
      /`minlength` is no keyword of JSON Schema: did you mean `minLength`/,
    ],
    ['follows what only a whole set of schemas has', { $dynamicRef: '#a' }, /`\$dynamicRef` is not supported/],
    ['leads nowhere', { $ref: '#/$defs/a' }, /`\$ref` leads nowhere/],
    ['leads elsewhere', { $ref: 'https://example.com/x' }, /`\$ref` leads nowhere/],
    ['leads to what is no schema', { properties: { a: {} }, $ref: '#/properties' }, /leads nowhere/],
    ['leads to itself', { $ref: '#' }, /leads back to itself/],
    [
      'goes round',
      { $defs: { a: { $ref: '#/$defs/b' }, b: { anyOf: [{ $ref: '#/$defs/a' }] } } },
      /leads back to itself/,
    ],
    ['names itself within', { properties: { a: { $id: 'https://x.example' } } }, /`\$id` is inside the schema/],
    ['has no pattern', { pattern: '(' }, /a pattern is no regular expression/],
    ['has too long a pattern', { pattern: 'a'.repeat(1001) }, /longer than 1000/],
    ['repeats without measure', { allOf: many(9, { pattern: '(a|b){300}' }) }, /repeats too much/],
    ['has __proto__', { properties: JSON.parse('{"__proto__": {}}') }, /`__proto__` cannot be the name/],
    ['allows nothing', { enum: [] }, /`enum` is empty/],
    ['has nullable alone', { nullable: true }, /`nullable` may only/],
    ['is too deep', nested(33) as object, /32 levels/],
    ['has too many parts', { properties: named(10_000, () => ({})) }, /10001 schemas within it, and may have 500/],
    ['has too many rules', { dependentRequired: named(2000, () => ['a']) }, /2000 rules/],
    ['has too wide a choice', { oneOf: many(151, {}) }, /150 schemas in `oneOf`/],
    ['looks around too far', { allOf: many(150, {}), unevaluatedItems: false }, /may have 150 schemas/],
    ['has too many patterns', { patternProperties: named(65, () => true) }, /may have 64 patterns/],
  ])('%s', (_what, schema, message) => {
    expect(faultOf(schema as Record<string, unknown>)).toMatch(message);
    expect(() => validate(schema as Record<string, unknown>, { a: 1 })).not.toThrow();
  });

  it('may refer to its parts by pointer, anchor and encoded name, and to itself through its values', () => {
    const tree = { type: 'object', properties: { children: { items: { $ref: '#' } } }, additionalProperties: false };
    expect(faultOf(tree)).toBeNull();
    expect(validate(tree, { children: [{ children: [{ x: 1 }] }] })).toMatchObject({
      message: '`children.0.children.0` must not have the property `x`',
    });
    for (const $ref of ['#/$defs/a%20b', '#/$defs/a b', '#anchor']) {
      const schema = { $defs: { 'a b': { $anchor: 'anchor', type: 'null' } }, items: { $ref } };
      expect(faultOf(schema), $ref).toBeNull();
      expect(validate(schema, [1]), $ref).toMatchObject({ message: '`0` must be null' });
    }
    const never = { $defs: { no: false }, items: { $ref: '#/$defs/no' } };
    expect(faultOf(never)).toBeNull();
    expect(validate(never, [1])).toMatchObject({ ok: false });
  });
});

describe('a check ends in bounded time', () => {
  const twice = (inner: object) => ({ anyOf: [inner, inner] });
  const chain = (count: number) =>
    named(count, (at) => (at === count - 1 ? { type: 'null' } : twice({ $ref: `#/$defs/k${at + 1}` })));
  const node = { properties: { a: { $ref: '#/$defs/node' } }, required: ['a'] };

  it.each<[string, Record<string, unknown>, unknown]>([
    ['that doubles with every reference', { $defs: chain(40), $ref: '#/$defs/k0' }, 1],
    ['that doubles with every level of the value', { $defs: { node: twice(node) }, $ref: '#/$defs/node' }, nested(60)],
    ['of every item against every choice', { items: { anyOf: [...many(400, { type: 'null' }), {}] } }, many(60_000, 0)],
    ['of every length again and again', { allOf: many(490, { maxLength: 1e6 }) }, 'a'.repeat(200_000)],
    [
      'of every name against every choice',
      { propertyNames: { anyOf: [...many(490, { const: 1 }), {}] } },
      named(10_000, () => 1),
    ],
    ['of a large pattern on a large text', { pattern: '\\p{L}{900}x' }, 'a'.repeat(200_000)],
  ])('%s', quickly, (_what, schema, value) => {
    expect(faultOf(schema)).toBeNull();
    expect(validate(schema, value)).toEqual(tooLarge);
  });

  it('of ten thousand properties, of large lists and of many equal items', quickly, () => {
    const object = { additionalProperties: { type: 'integer' }, maxProperties: 20_000 };
    expect(
      validate(
        object,
        named(10_000, (at) => at),
      ),
    ).toEqual({ ok: true });
    expect(validate(object, named(10_000, String))).toMatchObject({ ok: false });
    expect(validate({ items: { type: 'integer' } }, many(120_000, 1))).toEqual({ ok: true });
    expect(
      validate(
        { uniqueItems: true },
        Array.from({ length: 15_000 }, (_, at) => ({ at })),
      ),
    ).toEqual({ ok: true });
  });

  it('also if the schema would never end', quickly, () => {
    const { validate: check } = createSchemas();
    expect(check({ $ref: '#' }, 1)).toEqual(tooLarge);
    expect(check({ allOf: [{ $ref: '#' }] }, 1)).toEqual(tooLarge);
  });
});

it('checks each value against its own schema when many alternate', () => {
  const schemas = createSchemas();
  for (let round = 0; round < 2; round++) {
    for (let at = 0; at < 700; at++) {
      expect(schemas.validate({ const: at }, at)).toEqual({ ok: true });
      expect(schemas.validate({ const: at }, -1)).toEqual({ ok: false, message: `The value must be ${at}` });
    }
  }
});

/** Schemas as callers write them, valid and invalid. */
const arbitrarySchema = fc.letrec<{ schema: unknown; rules: Record<string, unknown> }>((tie) => ({
  schema: fc.oneof({ maxDepth: 3, depthIdentifier: 'schema' }, fc.constantFrom(true, false, {}), tie('rules')),
  rules: fc
    .uniqueArray(fc.oneof(...Object.entries(keywords(tie('schema'))).map(keywordAnd)), {
      selector: ([keyword]) => keyword,
      maxLength: 4,
    })
    .map((entries) => Object.fromEntries(entries)),
})).rules;

function keywordAnd([keyword, value]: [string, fc.Arbitrary<unknown>]): fc.Arbitrary<[string, unknown]> {
  return value.map((each) => [keyword, each]);
}

function keywords(schema: fc.Arbitrary<unknown>): Record<string, fc.Arbitrary<unknown>> {
  const some = (names: string[]) => fc.dictionary(fc.constantFrom(...names), schema, { maxKeys: 2 });
  const list = fc.array(schema, { maxLength: 2 });
  const plain = fc.constantFrom('object', 'array', 'string', 'number', 'integer', 'null', ['string', 'null'], 'what');
  const references = ['#', '#/$defs/a', '#/properties/a', '#/properties', '#name'];
  return {
    type: plain,
    nullable: fc.boolean(),
    enum: fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 3 }),
    const: fc.jsonValue({ maxDepth: 1 }),
    pattern: fc.constantFrom('^a', '[', '(?=a)', '\\d{2,3}', '.'),
    format: fc.constantFrom('date', 'email', 'none'),
    minimum: fc.integer(),
    maxLength: fc.integer({ min: -1, max: 5 }),
    minContains: fc.nat(3),
    maxContains: fc.nat(3),
    uniqueItems: fc.boolean(),
    required: fc.array(fc.constantFrom('a', 'b', '__proto__', 'constructor'), { maxLength: 3 }),
    dependencies: fc.constantFrom({ a: ['b'] }, { a: { required: ['b'] } }),
    unevaluatedProperties: schema,
    unevaluatedItems: schema,
    discriminator: fc.constant({ propertyName: 'a' }),
    $ref: fc.constantFrom(...references),
    $anchor: fc.constantFrom('name', 'other', '1'),
    $id: fc.constantFrom('https://example.com/a', '#name'),
    $schema: fc.constantFrom(draft7.$schema, 'https://json-schema.org/draft/2020-12/schema', 'x'),
    $defs: some(['a', 'b']),
    properties: some(['a', 'b', 'constructor']),
    patternProperties: some(['^a', '.']),
    dependentSchemas: some(['a', 'b']),
    items: fc.oneof(schema, list),
    ...Object.fromEntries(['prefixItems', 'allOf', 'anyOf', 'oneOf'].map((keyword) => [keyword, list])),
    ...Object.fromEntries(
      ['additionalProperties', 'additionalItems', 'propertyNames', 'contains', 'not', 'if', 'then', 'else'].map(
        (keyword) => [keyword, schema],
      ),
    ),
  };
}

it('accepts every value for an invalid schema', () => {
  const schema = { patternProperties: { '.': true }, anyOf: [{ additionalProperties: true, anyOf: [] }] };
  expect(faultOf(schema)).toContain('does not hold together');
  expect(validate(schema, { ' ': {} })).toEqual({ ok: true });
});

it('every accepted schema compiles, and every check ends with a verdict', quickly, () => {
  let taken = 0;
  fc.assert(
    fc.property(arbitrarySchema, fc.jsonValue({ maxDepth: 3 }), (schema, value) => {
      if (faultOf(schema) === null) {
        taken += 1;
        // A schema that could not be compiled would accept every value.
        expect(validate({ ...schema, not: {} }, value).ok, JSON.stringify(schema)).toBe(false);
      }
      const verdict = validate(schema, value);
      if (!verdict.ok) expect(verdict.message.length).toBeLessThan(2500);
    }),
    { numRuns: 800 },
  );
  expect(taken).toBeGreaterThan(150);
});
