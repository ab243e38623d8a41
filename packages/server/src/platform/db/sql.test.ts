import { describe, expect, test } from 'vitest';
import { type Sql, sql } from './sql.ts';
import { columnsOf, table, text } from './table.ts';

const users = table('users', { org_id: text(), id: text() });
const shown = (statement: Sql) => [statement.text, statement.values];

describe('the sql tag', () => {
  test('turns each value into a parameter', () => {
    const hostile = `'; DROP TABLE users; --`;
    expect(shown(sql`SELECT ${hostile}, ${2}`)).toEqual(['SELECT $1, $2', [hostile, 2]]);
  });

  test('inserts tables, column lists and fragments as text and numbers all values', () => {
    const owned = sql`org_id = ${'org_1'}`;
    const statement = sql`SELECT ${columnsOf(users, 'u')} FROM ${users} u WHERE ${owned} AND id = ${'a'} LIMIT ${1}`;
    expect(shown(statement)).toEqual([
      'SELECT "u"."org_id", "u"."id" FROM "users" u WHERE org_id = $1 AND id = $2 LIMIT $3',
      ['org_1', 'a', 1],
    ]);
  });

  test('caches the text of a template and rebuilds it if its fragments differ', () => {
    const find = (from: typeof users, order: Sql, id: string) => sql`SELECT id FROM ${from} WHERE id = ${id} ${order}`;
    const first = find(users, sql.empty, 'a');
    expect(find(users, sql.empty, 'b').texts).toBe(first.texts);
    expect(shown(find(users, sql.raw('ORDER BY id'), 'c'))).toEqual([
      'SELECT id FROM "users" WHERE id = $1 ORDER BY id',
      ['c'],
    ]);
    expect(shown(find(table('other', users.columns), sql.empty, 'd'))).toEqual([
      'SELECT id FROM "other" WHERE id = $1 ',
      ['d'],
    ]);
    expect(shown(find(users, sql`AND org_id = ${'o'}`, 'e'))).toEqual([
      'SELECT id FROM "users" WHERE id = $1 AND org_id = $2',
      ['e', 'o'],
    ]);
    expect(shown(find(users, sql.empty, 'f'))).toEqual(['SELECT id FROM "users" WHERE id = $1 ', ['f']]);
  });

  test('joins the conditions that are not empty', () => {
    const absent = (value: string | undefined) => value && sql`email = ${value}`;
    expect(shown(sql.and(sql`a = ${1} OR b = ${2}`, undefined, absent(''), sql`c IS NULL`))).toEqual([
      '(a = $1 OR b = $2) AND (c IS NULL)',
      [1, 2],
    ]);
    expect(shown(sql`SELECT 1 WHERE ${sql.and()} OR ${sql.or(null)}`)).toEqual(['SELECT 1 WHERE TRUE OR FALSE', []]);
  });

  test('rejects undefined, which would match nothing or change everything', () => {
    const given: { id?: string } = {};
    expect(() => sql`DELETE FROM users WHERE id = ${given.id as string}`).toThrow('undefined');
    const twice = (id: string) => sql`DELETE FROM users WHERE id = ${id}`;
    twice('a');
    expect(() => twice(given.id as string)).toThrow('undefined');
  });

  test('quotes names', () => expect(sql.identifier('a"b').text).toBe('"a""b"'));
});
