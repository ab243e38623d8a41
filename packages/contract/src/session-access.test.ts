import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { routes } from './api.ts';
import { openapi } from './derive/openapi.ts';
import { hiddenFields, sessionResponse } from './derive/session-view.ts';
import { sessionAccessOf } from './route.ts';
import { capabilities, isByType, type Seen, type SeenFields, seenBySession, shown } from './session-access.ts';

const rows = routes.flatMap(({ name, route }) => {
  const access = sessionAccessOf(route);
  return access ? [[name, route, access] as const] : [];
});

const namesOf = (schema: unknown): string[] => Object.keys((schema as { shape?: object } | undefined)?.shape ?? {});

describe('the permissions of a session token', () => {
  it.each(rows)('%s exposes fields that the row has', (_, route, { sends }) => {
    const known = [...namesOf(route.query), ...namesOf(route.body)];
    expect(sends.filter((name) => !known.includes(name))).toEqual([]);
    expect(() => sessionResponse(route)).not.toThrow();
  });

  it.each(rows)('%s exposes no whole object, so that a new field stays hidden [SES-111]', (_, route, { sees }) => {
    expect(openedWhole(route.response, sees)).toEqual([]);
  });

  it('never accept or show data of the company [SES-102, SES-103]', () => {
    const companys =
      /^(tools|tool_results|context|metadata|output_schema|success_criteria|hand_off|plan|output|error)$/;
    const sent = rows.flatMap(([name, , { sends }]) => sends.map((field) => `${name} ${field}`));
    expect(sent.filter((field) => companys.test(field.split(' ')[1] as string))).toEqual([]);
    const seen = rows.flatMap(([, , { sees, follows = {} }]) => [...pathsSeen(sees), ...pathsSeen(follows)]);
    expect(seen.filter((path) => /(^|\.)(context|metadata|arguments|cost_\w+|\w+_summary)(\.|$)/.test(path))).toEqual(
      [],
    );
    expect(seen.filter((path) => path.endsWith('error.message'))).toEqual([]);
  });

  it('have routes for each capability, and know no other [SES-101]', () => {
    const needed = rows.flatMap(([, , { needs }]) => (needs === 'itself' ? [] : needs));
    expect([...new Set(needed)].sort()).toEqual([...capabilities].sort());
  });

  it('are part of the OpenAPI document [SES-112]', () => {
    const { paths } = openapi({ version: '1', url: 'http://localhost' });
    const told = paths as Record<string, Record<string, { 'x-session'?: unknown }>>;
    for (const { route } of routes) {
      const access = sessionAccessOf(route);
      expect(told[route.path]?.[route.method.toLowerCase()]?.['x-session']).toEqual(
        access
          ? { needs: access.needs === 'itself' ? [] : access.needs, sends: access.sends, hidden: hiddenFields(route) }
          : undefined,
      );
    }
  });
});

describe('seenBySession', () => {
  const seen: Seen = {
    id: true,
    error: 'plain',
    parts: shown('text'),
    what: { always: shown('type'), byType: { open: shown('note') } },
  };

  it.each([
    ['what is not named is gone', { id: 1, secret: 2 }, { id: 1 }],
    ['also within lists', { parts: [{ text: 'a', secret: 1 }, { secret: 2 }] }, { parts: [{ text: 'a' }, {}] }],
    ['a part that is none is gone', { parts: 'secret' }, { parts: undefined }],
    ['null stays null', { parts: null, error: null }, { parts: null, error: null }],
    ['a type shows its own', { what: { type: 'open', note: 1, x: 2 } }, { what: { type: 'open', note: 1 } }],
    ['another type shows none of it', { what: { type: 'shut', note: 1 } }, { what: { type: 'shut' } }],
    [
      'nor one that objects are born with',
      { what: { type: 'constructor', note: 1 } },
      { what: { type: 'constructor' } },
    ],
    [
      'an error tells its code',
      { error: { code: 'hook_blocked', message: 'Rule 7 of ops', secret: 1 } },
      { error: { code: 'hook_blocked', message: 'This is not allowed here.' } },
    ],
  ])('%s', (_, value, expected) => expect(seenBySession(value, seen)).toStrictEqual(expected));

  it('never selects by type if the value is seen whole or as a sentence', () => {
    expect([true, 'plain' as const, seen, seen.what].map((each) => isByType(each as Seen))).toEqual([
      false,
      false,
      false,
      true,
    ]);
  });

  it('exposes nothing beyond the row, for any response [SES-103, SES-111]', () => {
    const masks = rows.flatMap(([, , { sees, follows }]) => (follows ? [sees, follows] : [sees]));
    fc.assert(
      fc.property(fc.constantFrom(...masks), fc.gen(), (mask, gen) => {
        const value = hostileFor(mask, gen);
        expect(JSON.stringify(seenBySession(value, mask)) ?? '').not.toContain('SECRET');
      }),
    );
  });
});

/** A value with all fields of the mask and a hidden field next to each. */
function hostileFor(mask: Seen, gen: fc.GeneratorValue): unknown {
  if (mask === true) return gen(() => fc.constantFrom<unknown>(null, 0, 'open', ['open'], { open: ['open'] }));
  if (mask === 'plain') return { code: 'model_error', message: 'SECRET', detail: 'SECRET' };
  if (gen(fc.boolean) && gen(fc.boolean)) return gen(() => fc.constantFrom(null, 'SECRET', 0));
  if (gen(fc.boolean)) return [hostileObject(mask, gen), hostileObject(mask, gen)];
  return hostileObject(mask, gen);
}

function hostileObject(mask: Exclude<Seen, true | 'plain'>, gen: fc.GeneratorValue): Record<string, unknown> {
  if (!isByType(mask)) return filled(mask, gen);
  const type = gen(() => fc.constantFrom(...Object.keys(mask.byType), 'unheard_of'));
  const all = Object.assign({}, ...Object.values(mask.byType)) as SeenFields;
  const others = Object.fromEntries(
    Object.keys(all).flatMap((name) =>
      name in (mask.byType[type] ?? {}) || name in mask.always ? [] : [[name, 'SECRET']],
    ),
  );
  return { ...others, ...filled({ ...mask.always, ...mask.byType[type] }, gen), type };
}

const filled = (mask: SeenFields, gen: fc.GeneratorValue): Record<string, unknown> => ({
  ...Object.fromEntries(Object.entries(mask).map(([name, inner]) => [name, hostileFor(inner, gen)])),
  gained_later: 'SECRET',
});

/** Places where `true` would expose fields that the schema names one by one. */
function openedWhole(schema: z.ZodType, seen: Seen, path = ''): string[] {
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional)
    return openedWhole(schema.unwrap() as z.ZodType, seen, path);
  if (schema instanceof z.ZodArray) return openedWhole(schema.element as z.ZodType, seen, path);
  if (!(schema instanceof z.ZodObject) || seen === 'plain') return [];
  if (seen === true) return [path];
  const variants = isByType(seen) ? [seen.always, ...Object.values(seen.byType)] : [seen];
  return variants.flatMap((fields) =>
    Object.entries(fields).flatMap(([name, inner]) =>
      openedWhole(schema.shape[name] as z.ZodType, inner, `${path}${name}.`),
    ),
  );
}

function pathsSeen(seen: Seen, path = ''): string[] {
  if (seen === true || seen === 'plain') return [path];
  const variants = isByType(seen) ? [seen.always, ...Object.values(seen.byType)] : [seen];
  return variants.flatMap((fields) =>
    Object.entries(fields).flatMap(([name, inner]) => pathsSeen(inner, path ? `${path}.${name}` : name)),
  );
}
