import type { Route } from '@vestra/contract/route';
import fc from 'fast-check';
import { z } from 'zod';

type Schema = { [key: string]: unknown };

/** Values that have broken servers before. */
const nasty: unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  Number.MAX_SAFE_INTEGER,
  '',
  ' ',
  '\n',
  'a'.repeat(5000),
  '🦊',
  "'; DROP TABLE orgs; --",
  '../../etc/passwd',
  '${SECRET}',
  '{{7*7}}',
  '<script>alert(1)</script>',
  'toString',
  'constructor',
  [],
  [[]],
  {},
  { length: 1 },
];

/** A body that is nearly what the schema asks for: each part is now right, now left out, now nonsense. */
export function bodiesOf(route: Route): fc.Arbitrary<unknown> {
  if (!route.body) return fc.constant(undefined);
  const schema = z.toJSONSchema(route.body, { io: 'input', unrepresentable: 'any' }) as Schema;
  return fc.oneof({ weight: 5, arbitrary: like(schema, 0) }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) });
}

function like(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 6, arbitrary: fitting(schema, depth) },
    { weight: 1, arbitrary: fc.constantFrom(...nasty) },
  );
}

function fitting(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  if (depth > 4) return fc.constant(null);
  if ('const' in schema) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  const branches = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined;
  if (branches && branches.length > 0) return fc.oneof(...branches.map((branch) => like(branch, depth + 1)));
  switch (schema.type) {
    case 'object':
      return objectLike(schema, depth);
    case 'array':
      return fc.array(like((schema.items ?? {}) as Schema, depth + 1), { maxLength: 3 });
    case 'integer':
      return fc.oneof(
        fc.integer(),
        fc.integer({
          min: Number(schema.minimum ?? 0),
          max: Math.max(Number(schema.minimum ?? 0), Number(schema.maximum ?? 100)),
        }),
      );
    case 'number':
      return fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer({ min: 0, max: 100 }));
    case 'boolean':
      return fc.boolean();
    case 'string':
      return fc.oneof(fc.string({ maxLength: 40 }), fc.string({ unit: 'binary', maxLength: 10 }), samples(schema));
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

const samples = (schema: Schema): fc.Arbitrary<string> => {
  const pattern = schema.pattern as string | undefined;
  if (!pattern || pattern.length > 60)
    return fc.constantFrom('a', 'https://example.com/x', 'ada@example.com', '2026-01-01', 'UTC');
  try {
    return fc.stringMatching(new RegExp(pattern));
  } catch {
    return fc.constant('a');
  }
};

function objectLike(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
  const known = fc.record(Object.fromEntries(properties.map(([name, each]) => [name, like(each, depth + 1)])), {
    requiredKeys: [],
  });
  const stray = fc.dictionary(fc.string({ maxLength: 8 }), fc.constantFrom(...nasty), { maxKeys: 1 });
  return fc
    .tuple(known, fc.oneof({ weight: 4, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: stray }))
    .map(([a, b]) => ({ ...a, ...b }));
}

/** A query string of known and unknown names with fitting and unfitting values. */
export function queriesOf(route: Route): fc.Arbitrary<string> {
  const names = Object.keys(route.query?.shape ?? {});
  const value = fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.constantFrom('1', '0', '101', 'x', '2026-01-01', 'day', '\u0000', '%', '😀'),
  );
  const pair = fc.tuple(fc.constantFrom('nope', ...names, ...names), value);
  return fc.array(pair, { maxLength: 3 }).map((pairs) => {
    const search = pairs.map(([name, each]) => `${name}=${encodeURIComponent(each.toWellFormed())}`).join('&');
    return search && `?${search}`;
  });
}
