import { routes } from '@vestra/contract/api';
import { recordOfAtMost } from '@vestra/contract/record-of-at-most';
import type { Route } from '@vestra/contract/route';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { faultsOfRequests, isLimitedPattern } from '../scripts/request-limits.ts';

const ofKey = { auth: 'key', scopes: 'any' };
const faultsOf = (row: object) =>
  faultsOfRequests([
    { name: 'a.b', family: 'users', route: { method: 'POST', path: '/v1/a', ...row } as unknown as Route },
  ]);
const bodyOf = (shape: z.ZodRawShape) => ({ ...ofKey, body: z.strictObject(shape) });
const short = z.string().max(9);

type Case = [title: string, row: object, fault: string];

it.each([
  ['array', bodyOf({ a: z.array(short).optional() }), 'the array `body.a` has no maximum.'],
  [
    'array in a union',
    bodyOf({ a: z.union([short, z.object({ b: z.array(short) })]) }),
    'the array `body.a.b` has no maximum.',
  ],
  ['array in an array', bodyOf({ a: z.array(z.array(short)).max(2) }), 'the array `body.a.[]` has no maximum.'],
  [
    'array in a record',
    bodyOf({ a: z.record(short, z.array(short)).meta({ maxProperties: 2 }) }),
    'the array `body.a.*`',
  ],
  ['array behind `lazy`', bodyOf({ a: z.lazy(() => z.array(short)) }), 'the array `body.a` has no maximum.'],
  ['string', bodyOf({ a: z.string().min(1).nullable() }), 'the string `body.a` has no maximum.'],
  ['string of a pattern', bodyOf({ a: z.string().regex(/^[a-z]+$/) }), 'the string `body.a` has no maximum.'],
  ['string in a query', { auth: 'open', query: z.strictObject({ q: z.string() }) }, 'the string `query.q`'],
  [
    'string in a path',
    { ...ofKey, params: z.strictObject({ id: z.string().regex(/^\P{Cc}+$/u) }) },
    'the string `params.id`',
  ],
  ['number', bodyOf({ a: z.int().min(1) }), 'the number `body.a` may exceed 2147483647.'],
  [
    'number in a query',
    { ...ofKey, query: z.strictObject({ a: z.int().max(2 ** 31) }) },
    'the number `query.a` may exceed 2147483647.',
  ],
  ['record', bodyOf({ a: z.record(short, short) }), 'the record `body.a` has no maximum.'],
  ['name in a record', bodyOf({ a: z.record(z.string(), short).meta({ maxProperties: 2 }) }), 'the string `body.a.*`'],
  ['body of an edge', { ...ofKey, edgeBody: z.strictObject({ a: z.array(short) }) }, 'the array `edgeBody.a`'],
  ['text above the limit of its body', bodyOf({ a: z.string().max(2 ** 21) }), '`body.a` may have 2097152 characters'],
  [
    'large body without a key',
    { auth: 'open', body: z.strictObject({}), bodyLimit: 2 ** 15 },
    'its body may have 32768 bytes, but 16384',
  ],
  [
    'large body of a session',
    { ...ofKey, session: { needs: [] }, body: z.strictObject({}), bodyLimit: 2 ** 20 },
    'a session may send 1048576 bytes',
  ],
  ['huge body', { ...ofKey, body: z.strictObject({}), bodyLimit: 2 ** 26 }, 'its body may have 67108864 bytes'],
] satisfies Case[])(
  'the check names the route and the field of a %s without a limit [REQ-600, REQ-601]',
  (_title, row, fault) => {
    expect(faultsOf(row)).toEqual([expect.stringContaining(`a.b: ${fault}`)]);
  },
);

it('the check names a parameter of a path that may have a NUL character [REQ-606]', () => {
  const row = (id: z.ZodType) => ({ ...ofKey, params: z.strictObject({ id }) });
  expect(faultsOf(row(z.string().max(9)))).toEqual(['a.b: `params.id` may have a NUL character.']);
  expect(faultsOf(row(z.string().regex(/^\P{Cc}{1,9}$/u)))).toEqual([]);
});

it('the check accepts what has a limit, and any JSON, which the limits of the body bound', () => {
  const row = bodyOf({
    a: z.array(z.enum(['x'])).max(3),
    b: z.record(z.string(), z.unknown()),
    c: z.unknown(),
    d: z.string().regex(/^[a-z]{1,3}$/),
    e: z.iso.date(),
    f: z.int().max(100),
  });
  expect(faultsOf(row)).toEqual([]);
});

it.each([
  ['^[a-z]{3}$', true],
  ['^int_[a-z]{3}$|^call_[a-z]{3}$', true],
  ['^\\P{Cc}{1,120}$', true],
  ['^[*+]$', true],
  ['^\\P{Cc}+$', false],
  ['^a{3,}$', false],
  ['^data:', false],
])('the pattern %s limits a text: %s', (pattern, isLimited) => {
  expect(isLimitedPattern(pattern)).toBe(isLimited);
});

it('only an upload of a session may be larger than a message', () => {
  expect(routes.filter(({ route }) => 'session' in route && route.bodyLimit).map(({ name }) => name)).toEqual([
    'files.create',
  ]);
});

it('a record with too many names is refused with its maximum', () => {
  const labels = recordOfAtMost(2, 'labels', z.record(short, short));
  expect(labels.safeParse({ a: '1', b: '2' }).success).toBe(true);
  const refused = labels.safeParse({ a: '1', b: '2', c: '3' });
  expect(refused.error?.issues.map(({ message }) => message)).toEqual(['At most 2 labels.']);
});
