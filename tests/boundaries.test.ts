import { describe, expect, it } from 'vitest';
import { faultsIn } from '../scripts/boundaries.ts';
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

describe('dynamic imports', () => {
  const text = "const a = await import('./a.ts');\ntype B = typeof import('../adapters/b/b.ts');\n";

  it('are seen, and a type query counts as an import of types', () => {
    const found = importsOf('packages/server/src/http/c.ts', text);
    expect(found.map(({ target, isType, line }) => [target, isType, line])).toEqual([
      ['packages/server/src/http/a.ts', false, 1],
      ['packages/server/src/adapters/b/b.ts', true, 2],
    ]);
  });

  it('across a boundary are refused', () => {
    const file = 'packages/server/src/db/pool.ts';
    const crossing = "export const load = () => import('../http/app.ts');\n";
    expect(faultsIn([{ file, text: crossing, imports: importsOf(file, crossing) }]).join()).toContain('may not import');
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

describe('the check of boundaries refuses', () => {
  const server = (file: string) => `packages/server/src/${file}`;
  const engine = (file: string) => server(`domains/engine/${file}`);
  const wide = Array.from({ length: 31 }, (_, at) => `name${at}`).join(', ');
  it.each<[string, Record<string, string>, string]>([
    ['a file in no room', { [server('misc/things.ts')]: '' }, 'is in no room'],
    [
      'files that name each other by types alone',
      {
        [server('db/a.ts')]: "import type { B } from './b.ts';",
        [server('db/b.ts')]: "import type { A } from './a.ts';",
      },
      'in a circle, types included',
    ],
    [
      'domains that import each other',
      {
        [server('domains/users/a.ts')]: "import { b } from '../tasks/api.ts';",
        [server('domains/tasks/a.ts')]: "import { a } from '../users/api.ts';",
      },
      'in a circle, by imports or by tables: tasks, users',
    ],
    [
      'domains of which one imports the other, and that one names its table',
      {
        [server('domains/users/tables.ts')]: "export const users = table('users', {});",
        [server('domains/users/a.ts')]: "import { b } from '../tasks/api.ts';",
        [server('domains/tasks/store.ts')]: 'sql`SELECT 1 FROM users`',
      },
      'in a circle, by imports or by tables: tasks, users',
    ],
    [
      'another domain’s inside',
      { [server('domains/users/a.ts')]: "import { b } from '../files/store.ts';" },
      'may not import domain files (store.ts)',
    ],
    [
      'another domain’s table',
      {
        [server('domains/users/tables.ts')]: "export const users = table('users', {});",
        [server('domains/files/store.ts')]: 'sql`DELETE FROM users`',
      },
      'names users, a table of domains/users',
    ],
    [
      'a room of the engine to whoever is no door to it',
      { [server('domains/batches/a.ts')]: "import { b } from '../engine/records/change.ts';" },
      'domain batches (a.ts) may not import domain engine (change.ts)',
    ],
    [
      'a door a room above those it shows',
      { [server('domains/tasks/a.ts')]: "import { b } from '../engine/runs/run-loop.ts';" },
      'domain tasks (a.ts) may not import domain engine (run-loop.ts)',
    ],
    [
      'more names of the engine than a door has',
      { [engine('api.ts')]: `export { ${wide} } from './records/change.ts';` },
      'gives 31 names away: 30 are the most',
    ],
    [
      'a table of the engine given away',
      { [engine('api.ts')]: "export type { TurnRow } from './records/tables.ts';" },
      'may not give a table away',
    ],
  ])('%s', (_what, files, fault) => {
    const sources = Object.entries(files).map(([file, text]) => ({ file, text, imports: importsOf(file, text) }));
    expect(faultsIn(sources).join('\n')).toContain(fault);
  });

  it('nothing where a door shows what the engine keeps', () => {
    const file = server('domains/tasks/routes.ts');
    const text = "import { findTask } from '../engine/records/tasks.ts';";
    const about = faultsIn([{ file, text, imports: importsOf(file, text) }]).filter((fault) => fault.startsWith(file));
    expect(about).toEqual([]);
  });
});
