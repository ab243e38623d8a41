import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordAudit } from '../../packages/server/src/account/index.ts';
import { serverOrigin } from '../../packages/server/src/platform/caller.ts';
import { closeDatabase, openDatabase, type Transaction } from '../../packages/server/src/platform/db/pool.ts';
import { run } from '../../packages/server/src/platform/db/query.ts';
import { sql } from '../../packages/server/src/platform/db/sql.ts';
import { transaction } from '../../packages/server/src/platform/db/transaction.ts';
import { query } from '../support/database.ts';
import { makeOtherOrg } from '../support/other-org.ts';
import { type ApiResponse, startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
const count = 47;

beforeAll(async () => {
  server = await startTestServer();
  for (let at = 1; at < count; at++) await makeKey(`key ${at}`);
});
afterAll(() => server.stop());

const makeKey = async (name: string): Promise<string> =>
  (await server.call('POST', '/v1/keys', { body: { name, scopes: ['runtime'] } })).body.id;
const list = (search = '', key?: string) => server.call('GET', `/v1/keys${search}`, key ? { key } : {});
const codeOf = ({ body }: ApiResponse) => body?.error?.code;

async function walk(limit: number, between: () => Promise<void> = async () => {}): Promise<string[]> {
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body } = await list(`?limit=${limit}${cursor && `&cursor=${cursor}`}`);
    seen.push(...body.data.map(({ id }: { id: string }) => id));
    expect(body.data.length).toBeLessThanOrEqual(limit);
    cursor = body.next_cursor;
    await between();
  }
  return seen;
}

describe('a page', () => {
  it('has the first 20 rows by default [LIST-001, LIST-002, LIST-006]', async () => {
    const { body } = await list();
    expect(Object.keys(body).sort()).toEqual(['data', 'next_cursor']);
    expect(body.data).toHaveLength(20);
    expect(typeof body.next_cursor).toBe('string');
    expect((await list('?limit=100')).body.next_cursor).toBeNull();
  });

  it.each([1, 7, 100])('holds at most limit=%i rows [LIST-003]', async (limit) => {
    expect((await list(`?limit=${limit}`)).body.data).toHaveLength(Math.min(limit, count));
  });

  it.each(['0', '101', '1000', '-1', '1.5', 'x', '', '1e1', '+5', '٣'])(
    'refuses limit=%s [LIST-004]',
    async (limit) => {
      const answer = await list(`?limit=${encodeURIComponent(limit)}`);
      expect([answer.status, codeOf(answer), answer.body.error.param]).toEqual([400, 'invalid_limit', 'limit']);
    },
  );

  it('is newest first [LIST-014]', async () => {
    const { body } = await list('?limit=100');
    const names = body.data.map(({ name }: { name: string }) => name);
    expect(names.slice(0, 3)).toEqual([`key ${count - 1}`, `key ${count - 2}`, `key ${count - 3}`]);
  });
});

describe('walking', () => {
  it('returns every row once, with any limit [LIST-005, LIST-008]', async () => {
    const all = (await list('?limit=100')).body.data.map(({ id }: { id: string }) => id);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 60 }), async (limit) => {
        expect(await walk(limit)).toEqual(all);
      }),
      { numRuns: 8 },
    );
  });

  it('neither repeats nor skips a row when others are created meanwhile [LIST-009]', async () => {
    const before = (await list('?limit=100')).body.data.map(({ id }: { id: string }) => id);
    const seen = await walk(9, async () => {
      await makeKey('made meanwhile');
    });
    expect(seen).toEqual(before);
  });

  it('keeps one order among rows of the same instant [LIST-015]', async () => {
    await query(server.connectionString, `UPDATE api_keys SET created_at = '2026-01-01T00:00:00Z'`);
    expect(await walk(5)).toEqual(await walk(3));
  });

  it('reads late pages by keyset: the plan neither sorts nor skips rows [LIST-016]', async () => {
    const plan = await query<{ 'QUERY PLAN': string }>(
      server.connectionString,
      `EXPLAIN SELECT * FROM audit_entries WHERE org_id = $1 AND mode = 'test' AND id < 'aud_z' ORDER BY id DESC LIMIT 21`,
      [server.orgId],
    );
    const text = plan.map((row) => row['QUERY PLAN']).join('\n');
    expect(text).toMatch(/Index Scan/);
    expect(text).not.toMatch(/Sort|Offset/);
  });
});

describe('the audit log', () => {
  it('is newest first, also if transactions overlap, across pages [REC-708]', async () => {
    const db = await openDatabase({ connectionString: server.connectionString, max: 2 });
    const origin = serverOrigin({ orgId: server.orgId, mode: 'test' });
    const record = (tx: Transaction, action: string) => recordAudit(tx, origin, { action });
    const [begun, recorded] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const startedFirst = transaction(db, async (tx) => {
      await run(tx, sql`SELECT now()`);
      begun.resolve();
      await recorded.promise;
      for (const at of ['second', 'third', 'fourth']) await record(tx, `order.${at}`);
    });
    await begun.promise;
    await transaction(db, (tx) => record(tx, 'order.first'));
    recorded.resolve();
    await startedFirst;
    await closeDatabase(db);
    const entries: { action: string; created_at: string; id: string }[] = [];
    for (let cursor = ''; entries.length < 6; ) {
      const { body } = await server.call('GET', `/v1/audit-log?limit=2${cursor && `&cursor=${cursor}`}`);
      entries.push(...body.data);
      cursor = body.next_cursor;
    }
    expect(entries.slice(0, 4).map(({ action }) => action)).toEqual(
      ['fourth', 'third', 'second', 'first'].map((at) => `order.${at}`),
    );
    const times = entries.map(({ created_at }) => created_at);
    expect(times).toEqual(times.toSorted().reverse());
  });
});

describe('a cursor', () => {
  const cursorOf = async () => (await list('?limit=2')).body.next_cursor as string;

  it.each(['x', 'abc.def', '.', 'a.b.c', `${'a'.repeat(2000)}`])(
    'that no page gave out is refused: %s [LIST-007]',
    async (cursor) => {
      const answer = await list(`?cursor=${cursor}`);
      expect([answer.status, codeOf(answer), answer.body.error.param]).toEqual([400, 'invalid_cursor', 'cursor']);
    },
  );

  it('is refused with any character changed [LIST-010]', async () => {
    const cursor = await cursorOf();
    // The last character of a base64url block carries spare bits, so the one before it is changed there.
    for (let at = 0; at < cursor.length - 1; at += 3) {
      if (cursor[at] === '.') continue;
      const changed = `${cursor.slice(0, at)}${cursor[at] === 'A' ? 'B' : 'A'}${cursor.slice(at + 1)}`;
      expect(codeOf(await list(`?cursor=${changed}`))).toBe('invalid_cursor');
    }
    expect((await list(`?cursor=${cursor}`)).status).toBe(200);
  });

  it('of the other mode is refused [LIST-012]', async () => {
    expect(codeOf(await list(`?cursor=${await cursorOf()}`, server.liveKey))).toBe('invalid_cursor');
  });

  it('of another route is refused [LIST-013]', async () => {
    expect(codeOf(await server.call('GET', `/v1/audit-log?cursor=${await cursorOf()}`))).toBe('invalid_cursor');
  });

  it('of another org is refused [LIST-011]', async () => {
    const key = await makeOtherOrg(server);
    expect(codeOf(await list(`?cursor=${await cursorOf()}`, key))).toBe('invalid_cursor');
  });
});
