import { describe, expect, it } from 'vitest';
import { circlesIn } from '../scripts/circles.ts';
import { foreignTables } from '../scripts/foreign-tables.ts';
import { importsOf } from '../scripts/sources.ts';

const graph = (arrows: Record<string, string>) =>
  new Map(Object.entries(arrows).map(([from, to]) => [from, new Set(to.split(' ').filter(Boolean))]));

describe('circles', () => {
  it.each([
    ['none in a line with a shortcut', { a: 'b c', b: 'c', c: '' }, []],
    ['of two', { a: 'b', b: 'a', c: 'a' }, [['a', 'b']]],
    ['of three by way of another', { a: 'b', b: 'c d', c: 'a', d: '' }, [['a', 'b', 'c']]],
    [
      'that share nothing',
      { a: 'b', b: 'a c', c: 'd', d: 'c' },
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    ['that share a member are one', { a: 'b', b: 'a c', c: 'b' }, [['a', 'b', 'c']]],
  ])('%s', (_what, arrows, circles) => {
    expect(circlesIn(graph(arrows))).toEqual(circles);
  });

  it('are found through imports of types, and of several lines', () => {
    const text = "import type { A } from './a.ts';\nexport {\n  type B,\n} from '../b.ts';\nimport { z } from 'zod';\n";
    const found = importsOf('packages/server/src/http/c.ts', text);
    expect(found.map(({ target, isType, line }) => [target, isType, line])).toEqual([
      ['packages/server/src/http/a.ts', true, 1],
      ['packages/server/src/b.ts', true, 2],
      [null, false, 5],
    ]);
  });
});

describe('a table of another domain', () => {
  const inDomain = (domain: string, name: string, text: string) => {
    const file = `packages/server/src/domains/${domain}/${name}`;
    return { file, text, imports: importsOf(file, text) };
  };
  const users = inDomain(
    'users',
    'tables.ts',
    "export const users = pgTable(\n  'users', {});\nconst s = table('steps', {});",
  );
  const namedBy = (text: string, domain = 'tasks') =>
    foreignTables([users, inDomain(domain, 'store.ts', text)]).map(({ table, owner }) => [table, owner]);
  const foreign = [['users', 'domains/users']];

  it.each([
    ['sql`SELECT 1 FROM users WHERE id = 1`', foreign],
    ['sql`UPDATE users SET x = 1`', foreign],
    ['sql`INSERT INTO\n  users (id) VALUES (1)`', foreign],
    ['sql`SELECT 1 FROM "users" u`', foreign],
    ['sql`SELECT 1 FROM a JOIN steps ON true`', [['steps', 'domains/users']]],
    ["import { users } from '../users/api.ts';\nsql`DELETE FROM ${users}`", foreign],
    ["import { users } from './tables.ts';\nsql`DELETE FROM ${users}`", []],
    ["import type { users } from '../users/api.ts';\nsql`SELECT 1 FROM tasks`", []],
    ['sql`WITH users AS (SELECT 1) SELECT * FROM users`', []],
    ['sql`SELECT user_id FROM tasks`', []],
    ['sql`DELETE FROM idempotency_keys`', [['idempotency_keys', 'http']]],
  ])('%j', (text, expected) => {
    expect(namedBy(text)).toEqual(expected);
  });

  it('is its own to the domain that declares it', () => {
    expect(namedBy('sql`SELECT 1 FROM users`', 'users')).toEqual([]);
  });
});
