import { describe, expect, it } from 'vitest';
import { faultsIn } from '../scripts/boundaries.ts';
import { circlesIn } from '../scripts/circles.ts';
import { foreignTables } from '../scripts/foreign-tables.ts';
import { importsOf } from '../scripts/sources.ts';

const graph = (arrows: Record<string, string>) =>
  new Map(Object.entries(arrows).map(([from, to]) => [from, new Set(to.split(' ').filter(Boolean))]));

describe('import circles', () => {
  it.each([
    ['none in a line with a shortcut', { a: 'b c', b: 'c', c: '' }, []],
    ['of two', { a: 'b', b: 'a', c: 'a' }, [['a', 'b']]],
    ['of three by way of another', { a: 'b', b: 'c d', c: 'a', d: '' }, [['a', 'b', 'c']]],
    [
      'that are separate',
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
    const found = importsOf('packages/server/src/platform/http/c.ts', text);
    expect(found.map(({ target, isType, line }) => [target, isType, line])).toEqual([
      ['packages/server/src/platform/http/a.ts', true, 1],
      ['packages/server/src/platform/b.ts', true, 2],
      [null, false, 5],
    ]);
  });
});

describe('dynamic imports', () => {
  const text = "const a = await import('./a.ts');\ntype B = typeof import('../db/b.ts');\n";

  it('are found, and a type query counts as an import of types', () => {
    const found = importsOf('packages/server/src/platform/http/c.ts', text);
    expect(found.map(({ target, isType, line }) => [target, isType, line])).toEqual([
      ['packages/server/src/platform/http/a.ts', false, 1],
      ['packages/server/src/platform/db/b.ts', true, 2],
    ]);
  });

  it('across a boundary are refused', () => {
    const file = 'packages/server/src/platform/db/pool.ts';
    const crossing = "export const load = () => import('../../engine/index.ts');\n";
    expect(faultsIn([{ file, text: crossing, imports: importsOf(file, crossing) }]).join()).toContain('may not import');
  });
});

describe('a table of another module', () => {
  const inModule = (module: string, name: string, text: string) => {
    const file = `packages/server/src/${module}/${name}`;
    return { file, text, imports: importsOf(file, text) };
  };
  const users = inModule(
    'users',
    'tables.ts',
    "export const users = table(\n  'users', {});\nconst s = table('steps', {});",
  );
  const namedBy = (text: string, module = 'automation') =>
    foreignTables([users, inModule(module, 'store.ts', text)]).map(({ table, owner }) => [table, owner]);
  const foreign = [['users', 'users']];

  it.each([
    ['sql`SELECT 1 FROM users WHERE id = 1`', foreign],
    ['sql`UPDATE users SET x = 1`', foreign],
    ['sql`INSERT INTO\n  users (id) VALUES (1)`', foreign],
    ['sql`SELECT 1 FROM "users" u`', foreign],
    ['sql`SELECT 1 FROM a JOIN steps ON true`', [['steps', 'users']]],
    ["import { users } from '../users/index.ts';\nsql`DELETE FROM ${users}`", foreign],
    ["import { users } from './tables.ts';\nsql`DELETE FROM ${users}`", []],
    ["import { wantedRows } from '../platform/db/query.ts';\nsql`SELECT 1 FROM ${wantedRows}`", []],
    ["import type { users } from '../users/index.ts';\nsql`SELECT 1 FROM tasks`", []],
    ['sql`WITH users AS (SELECT 1) SELECT * FROM users`', []],
    ['sql`SELECT user_id FROM tasks`', []],
    ['sql`DELETE FROM idempotency_keys`', [['idempotency_keys', 'platform']]],
  ])('%j', (text, expected) => {
    expect(namedBy(text)).toEqual(expected);
  });

  it('is not foreign in the module that declares it', () => {
    expect(namedBy('sql`SELECT 1 FROM users`', 'users')).toEqual([]);
  });
});

describe('the boundary check rejects', () => {
  const server = (file: string) => `packages/server/src/${file}`;
  const wide = Array.from({ length: 31 }, (_, at) => `name${at}`).join(', ');
  it.each<[string, Record<string, string>, string]>([
    ['a file in no module', { [server('misc/things.ts')]: '' }, 'is in no module'],
    [
      'files that import each other by types alone',
      {
        [server('platform/db/a.ts')]: "import type { B } from './b.ts';",
        [server('platform/db/b.ts')]: "import type { A } from './a.ts';",
      },
      'in a circle, types included',
    ],
    [
      'an import of a higher module',
      { [server('users/a.ts')]: "import { b } from '../engine/index.ts';" },
      'users/a.ts may not import engine/index.ts',
    ],
    [
      'a module that names a table of a higher module',
      {
        [server('engine/tables.ts')]: "export const tasks = table('tasks', {});",
        [server('engine/a.ts')]: "import { b } from '../users/index.ts';",
        [server('users/store.ts')]: 'sql`SELECT 1 FROM tasks`',
      },
      'in a circle: engine, users',
    ],
    [
      'an import past the index of a module',
      { [server('automation/a.ts')]: "import { b } from '../users/store.ts';" },
      'may not import users/store.ts: import its index.ts',
    ],
    [
      'an import of HTTP in a decision',
      { [server('users/decide.ts')]: "import { b } from '../platform/http/cursor.ts';" },
      'only routes know HTTP',
    ],
    [
      'a table of another module',
      {
        [server('users/tables.ts')]: "export const users = table('users', {});",
        [server('engine/store.ts')]: 'sql`DELETE FROM users`',
      },
      'names users, a table of users',
    ],
    [
      'a lower folder of the engine that imports a higher one',
      { [server('engine/records/a.ts')]: "import { b } from '../runs/run-loop.ts';" },
      'engine/records may not import engine/runs/run-loop.ts',
    ],
    [
      'an unknown folder of the engine',
      { [server('engine/misc/a.ts')]: "import { b } from '../records/change.ts';" },
      'engine/misc is not a folder of the engine',
    ],
    [
      'an index with more than 30 names',
      { [server('engine/index.ts')]: `export { ${wide} } from './records/change.ts';` },
      'exports 31 names: at most 30',
    ],
    [
      'an index that exports everything of a file',
      { [server('engine/index.ts')]: "export * from './records/change.ts';" },
      'must list its names one by one',
    ],
  ])('%s', (_title, files, fault) => {
    const sources = Object.entries(files).map(([file, text]) => ({ file, text, imports: importsOf(file, text) }));
    expect(faultsIn(sources).join('\n')).toContain(fault);
  });

  it.each([
    ['a route that imports HTTP', 'users/routes.ts', "import { b } from '../platform/http/cursor.ts';"],
    ['the index of a folder', 'engine/turns/a.ts', "import { b } from '../../agents/versions/index.ts';"],
    [
      'a higher folder of the engine that imports a lower one',
      'engine/runs/a.ts',
      "import { b } from '../turns/b.ts';",
    ],
  ])('nothing in %s', (_title, name, text) => {
    const file = server(name);
    const about = faultsIn([{ file, text, imports: importsOf(file, text) }]).filter((fault) => fault.startsWith(file));
    expect(about).toEqual([]);
  });
});
