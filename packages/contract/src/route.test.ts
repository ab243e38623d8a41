import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { routes } from './api.ts';
import { bodyLimitOf, type Route } from './route.ts';

describe('limits of requests', () => {
  it('every array in a body or a query has a maximum [REQ-600]', () => {
    const unbounded = routes.flatMap(({ name, route }) =>
      [route.body, route.query].flatMap((schema) => (schema ? arraysWithoutMaximum(schema, [name]) : [])),
    );
    expect(unbounded).toEqual([]);
  });

  it('every route without a key accepts at most 16 KB, and a session token no more than a message needs [REQ-601]', () => {
    const limits = (wanted: (route: Route) => boolean) =>
      routes.filter(({ route }) => wanted(route)).map(({ route }) => bodyLimitOf(route, { session: false }));
    expect(Math.max(...limits(({ auth }) => auth === 'open' || auth === 'console'))).toBe(16 * 1024);
    expect(Math.max(...limits(({ body }) => !body))).toBe(16 * 1024);
    const bySession = routes.filter(({ route }) => (route.auth === 'key' || route.auth === 'session') && route.session);
    const larger = bySession.filter(({ route }) => bodyLimitOf(route, { session: true }) > 512 * 1024);
    expect(larger.map(({ name }) => name)).toEqual(['files.create']);
  });
});

type Def = {
  type: string;
  checks?: { _zod: { def: { check: string } } }[];
  shape?: Record<string, z.ZodType>;
  catchall?: z.ZodType;
  element?: z.ZodType;
  keyType?: z.ZodType;
  valueType?: z.ZodType;
  innerType?: z.ZodType;
  in?: z.ZodType;
  out?: z.ZodType;
  options?: z.ZodType[];
  getter?: () => z.ZodType;
};

/** Kinds whose parts are all listed in `partsOf`, or that have none. */
const knownKinds = new Set([
  ...['array', 'object', 'record', 'union', 'optional', 'nullable', 'default', 'prefault', 'pipe', 'lazy', 'readonly'],
  ...['string', 'number', 'int', 'boolean', 'literal', 'enum', 'null', 'unknown', 'any', 'never', 'undefined'],
  ...['transform', 'custom', 'date', 'nonoptional'],
]);

function arraysWithoutMaximum(schema: z.ZodType, path: string[], above: readonly z.ZodType[] = []): string[] {
  if (above.includes(schema)) return [];
  const def = (schema as unknown as { _zod: { def: Def } })._zod.def;
  if (!knownKinds.has(def.type)) throw new Error(`Say in this test which parts a zod ${def.type} has.`);
  const hasMaximum = def.checks?.some(({ _zod }) => ['max_length', 'length_equals'].includes(_zod.def.check));
  const own = def.type === 'array' && !hasMaximum ? [path.join('.')] : [];
  const inner = partsOf(def).flatMap(([step, part]) =>
    arraysWithoutMaximum(part, step === '' ? path : [...path, step], [...above, schema]),
  );
  return [...own, ...inner];
}

function partsOf(def: Def): [string, z.ZodType][] {
  const unnamed = [def.innerType, def.in, def.out, def.getter?.(), def.catchall, ...(def.options ?? [])];
  const named: [string, z.ZodType | undefined][] = [
    ['[]', def.element],
    ['*', def.keyType],
    ['*', def.valueType],
    ...Object.entries(def.shape ?? {}),
    ...unnamed.map((part): [string, z.ZodType | undefined] => ['', part]),
  ];
  return named.filter((each): each is [string, z.ZodType] => each[1] !== undefined);
}
