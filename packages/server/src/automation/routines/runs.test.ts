import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { one, rowsOf, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { count, json, text } from '../../platform/db/table.ts';
import { type RoutineServer, startRoutines } from './routines.fixture.ts';
import { takingRunner } from './runner.fixture.ts';
import { passesFilters, type RoutineRunner, runDueRoutines, runRoutinesOnTime } from './runs.ts';
import { dueRoutines } from './store.ts';

const minute = 60_000;
const hour = 60 * minute;

let server: RoutineServer;
let runner: RoutineRunner;
beforeAll(async () => {
  server = await startRoutines();
  runner = takingRunner(server.db);
});
afterAll(() => server.stop());
// Routines of earlier tests would be due in the future times of this file.
beforeEach(() => run(server.db, sql`DELETE FROM routines`));

async function create(body: Record<string, unknown>, settings = {}) {
  const org = await server.newOrg(settings);
  await run(server.db, sql`UPDATE wallets SET balance_micros = 100000000 WHERE org_id = ${org.id}`);
  await run(
    server.db,
    sql`
    INSERT INTO wallets (org_id, mode, balance_micros) VALUES (${org.id}, 'test', 100000000) ON CONFLICT DO NOTHING`,
  );
  const { body: routine } = await server.call('POST', '/v1/routines', {
    key: org.testKey,
    body: { ask: 'Look at the orders.', ...body },
  });
  return { org, id: routine.id as string };
}

const messagesOf = async (routineId: string) => {
  return rowsOf(
    server.db,
    { text: text(), count: count() },
    sql`
      SELECT m.text, count(*) AS count FROM messages m JOIN routines r USING (conversation_id)
      WHERE r.id = ${routineId} AND m.role = 'user' GROUP BY m.text`,
  );
};
const toldOf = async (routineId: string) => {
  return rowsOf(
    server.db,
    { data: json<{ run: { turn_id: string } }>() },
    sql`SELECT data FROM events WHERE type = 'routine.ran' AND data ->> 'id' = ${routineId}`,
  );
};

describe('what is due', () => {
  it.each([
    ['few', 3],
    ['more than are ranked', 1600],
  ])('alternates between orgs, also if one org has %s due routines [RTN-520]', async (_, waiting) => {
    // All routines of the first org are due before those of the others.
    const dueOf = async (letter: string, amount: number, day: string) => {
      const org = await server.newOrg({});
      await run(
        server.db,
        sql`
        INSERT INTO routines (id, org_id, mode, deployment_id, name, ask, kind, cron, timezone, next_run_at)
        SELECT 'rtn_' || ${letter}::text || lpad(n::text, 23, '0'), ${org.id}, 'test', ${org.deployment.id}, 'r', 'Ask', 'schedule',
          '0 * * * *', 'UTC', ${day}::timestamptz + n * interval '1 second' FROM generate_series(1, ${amount}::int) n`,
      );
    };
    await dueOf('a', waiting, '2030-01-01');
    await dueOf('b', 2, '2030-02-01');
    await dueOf('c', 1, '2030-03-01');
    const look = async (now: string, except: string[]) => {
      const ids = await dueRoutines(server.db, { now: new Date(now), limit: 6, except });
      return ids.map((id) => `${id[4]}${Number(id.slice(5))}`);
    };
    expect(await look('2029-12-31T23:59:59Z', [])).toEqual([]);
    const all = await look('2031-01-01T00:00:00Z', []);
    expect(all).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
    const others = await look('2031-01-01T00:00:00Z', [`${'rtn_a'.padEnd(27, '0')}1`]);
    expect(others.slice(0, 3)).toEqual(['a2', 'b1', 'c1']);
  });

  it('runs when it falls due while the job is at work, and leaves what is due later [RTN-266]', async () => {
    const dueIn = async (ms: number) => {
      const { id } = await create({ schedule: { cron: '0 0 1 1 *' } });
      await server.setRow(id, { next_run_at: new Date(Date.now() + ms) });
      return id;
    };
    const [soon, later, tomorrow] = await Promise.all([dueIn(300), dueIn(3_000), dueIn(24 * hour)]);
    await runRoutinesOnTime(runner, new AbortController().signal);
    const ran = await rowsOf(server.db, { id: text() }, sql`SELECT id FROM routines WHERE run_count = 1`);
    expect(new Set(ran.map(({ id }) => id))).toEqual(new Set([soon, later]));
    expect(ran).not.toContainEqual({ id: tomorrow });
  });

  it('is left to the next process if this one stops [RTN-266]', async () => {
    const { id } = await create({ schedule: { cron: '0 0 1 1 *' } });
    await server.setRow(id, { next_run_at: new Date(Date.now() + 5_500) });
    const stopping = new AbortController();
    const job = runRoutinesOnTime(runner, stopping.signal);
    stopping.abort();
    await job;
    const { run_count } = await one(
      server.db,
      { run_count: count() },
      sql`SELECT run_count FROM routines WHERE id = ${id}`,
    );
    expect(run_count).toBe(0);
  });

  it('runs once if several processes look at the same time, always in its conversation [RTN-045, RTN-046]', async () => {
    const { org, id } = await create({ every: 'hour' });
    await run(
      server.db,
      sql`
      INSERT INTO routines (id, org_id, mode, deployment_id, name, ask, kind, cron, timezone, next_run_at)
      SELECT 'rtn_due' || lpad(n::text, 21, '0'), ${org.id}, 'test', ${org.deployment.id}, 'r', 'Ask ' || n, 'schedule',
        '0 * * * *', 'UTC', now() - interval '1 minute' FROM generate_series(1, 150) n`,
    );
    await server.setRow(id, { next_run_at: new Date(Date.now() - minute) });
    const counts = await Promise.all(Array.from({ length: 4 }, () => runDueRoutines(takingRunner(server.db))));
    expect(counts.reduce((sum, each) => sum + each, 0)).toBe(151);
    const rows = await rowsOf(
      server.db,
      { run_count: count(), said: count(), told: count() },
      sql`
      SELECT r.run_count,
        (SELECT count(*) FROM messages m WHERE m.conversation_id = r.conversation_id AND m.role = 'user') AS said,
        (SELECT count(*) FROM events e WHERE e.type = 'routine.ran' AND e.data ->> 'id' = r.id) AS told
      FROM routines r WHERE r.org_id = ${org.id}`,
    );
    expect(rows).toEqual(Array(151).fill({ run_count: 1, said: 1, told: 1 }));
    expect(await runDueRoutines(runner)).toBe(0);
  });

  it('runs once for all missed times, then at its next time [RTN-010, RTN-044]', async () => {
    const { id } = await create({ every: 'hour' });
    const now = new Date('2031-05-05T10:20:00Z');
    await server.setRow(id, { next_run_at: new Date('2031-05-02T07:00:00Z') });
    expect(await runDueRoutines(runner, { now })).toBe(1);
    expect(await runDueRoutines(runner, { now })).toBe(0);
    const row = await server.rowOf(id);
    expect(row.next_run_at).toEqual(new Date('2031-05-05T11:00:00Z'));
    expect([row.run_count, row.last_run_at instanceof Date]).toEqual([1, true]);
    expect(await runDueRoutines(runner, { now: new Date('2031-05-05T11:00:00Z') })).toBe(1);
    expect(await messagesOf(id)).toEqual([{ text: 'Look at the orders.', count: 2 }]);
  });

  it('follows local time across both clock changes [RTN-024]', async () => {
    const { id } = await create({ schedule: { cron: '30 2 * * *', timezone: 'Europe/Berlin' } });
    const runs: string[] = [];
    for (const [from, until] of [
      ['2031-03-29T00:00:00Z', '2031-04-01T00:00:00Z'],
      ['2031-10-25T00:00:00Z', '2031-10-28T00:00:00Z'],
    ] as const) {
      // As a change of the schedule at that time would set it.
      const first = { '2031-03': '2031-03-29T01:30:00Z', '2031-10': '2031-10-25T00:30:00Z' }[from.slice(0, 7)];
      await server.setRow(id, { next_run_at: new Date(first as string) });
      for (let at = Date.parse(from); at < Date.parse(until); at += 15 * minute) {
        if ((await runDueRoutines(runner, { now: new Date(at) })) > 0) runs.push(new Date(at).toISOString());
      }
    }
    expect(runs).toEqual([
      '2031-03-29T01:30:00.000Z',
      // Daylight saving time skips half past two.
      '2031-03-30T01:00:00.000Z',
      '2031-03-31T00:30:00.000Z',
      '2031-10-25T00:30:00.000Z',
      // The hour occurs twice, and the first counts.
      '2031-10-26T00:30:00.000Z',
      '2031-10-27T01:30:00.000Z',
    ]);
    expect((await toldOf(id)).length).toBe(6);
  });

  it('is completed after its single run, or failed if that run was refused [RTN-265]', async () => {
    const [done, refused] = [
      await create({ every: '2031-05-05 at 10:00' }),
      await create({ every: '2031-05-05 at 10:00' }),
    ];
    await run(server.db, sql`UPDATE wallets SET balance_micros = 0 WHERE org_id = ${refused.org.id}`);
    expect(await runDueRoutines(runner, { now: new Date('2031-05-05T09:59:00Z') })).toBe(0);
    // The server was down at ten.
    expect(await runDueRoutines(runner, { now: new Date('2031-05-05T12:00:00Z') })).toBe(1);
    expect(await runDueRoutines(runner, { now: new Date('2032-05-05T12:00:00Z') })).toBe(0);
    const shown = async ({ org, id }: typeof done) =>
      (await server.call('GET', `/v1/routines/${id}`, { key: org.testKey })).body;
    expect(await shown(done)).toMatchObject({ status: 'completed', next_run_at: null, run_count: 1, last_error: null });
    expect(await messagesOf(done.id)).toEqual([{ text: 'Look at the orders.', count: 1 }]);
    expect(await shown(refused)).toMatchObject({
      status: 'failed',
      next_run_at: null,
      run_count: 0,
      last_error: { code: 'wallet_empty' },
    });
  });

  it('does not run paused or deleted routines [RTN-038, RTN-041]', async () => {
    const paused = await create({ every: 'hour' });
    const deleted = await create({ every: 'hour' });
    const key = paused.org.testKey;
    await server.call('PATCH', `/v1/routines/${paused.id}`, { key, body: { enabled: false } });
    await server.call('DELETE', `/v1/routines/${deleted.id}`, { key: deleted.org.testKey });
    expect(await runDueRoutines(runner, { now: new Date(Date.now() + 300 * hour) })).toBe(0);
    expect((await server.rowOf(paused.id)).run_count).toBe(0);
  });
});

describe('a routine that cannot run', () => {
  const due = { next_run_at: new Date('2031-05-05T10:00:00Z') };
  const now = new Date('2031-05-05T10:05:00Z');

  it('skips the run of a disabled user and stays active', async () => {
    const { org, id } = await create({ every: 'hour', user_id: 'barred' });
    await server.setRow(id, due);
    await server.setUser({ orgId: org.id, mode: 'test' }, 'barred', { status: 'disabled' });
    expect(await runDueRoutines(runner, { now })).toBe(0);
    const row = await server.rowOf(id);
    expect(row).toMatchObject({ status: 'active', run_count: 0, last_run_at: null });
    expect(row.next_run_at).toEqual(new Date('2031-05-05T11:00:00Z'));
  });

  it('skips the run without money and leaves no rows', async () => {
    const { org, id } = await create({ every: 'hour' });
    await run(server.db, sql`UPDATE wallets SET balance_micros = 0 WHERE org_id = ${org.id}`);
    await server.setRow(id, due);
    expect(await runDueRoutines(runner, { now })).toBe(0);
    expect(await server.rowOf(id)).toMatchObject({ status: 'active', run_count: 0 });
    expect(await messagesOf(id)).toEqual([]);
  });

  it('fails if its deployment is gone, with the reason in the audit log [RTN-008, RTN-009]', async () => {
    const { org, id } = await create({ every: 'hour' });
    await run(server.db, sql`UPDATE deployments SET status = 'archived' WHERE id = ${org.deployment.id}`);
    await server.setRow(id, due);
    expect(await runDueRoutines(runner, { now })).toBe(0);
    const shown = await server.call('GET', `/v1/routines/${id}`, { key: org.testKey });
    expect(shown.body).toMatchObject({ status: 'failed', next_run_at: null, enabled: true, run_count: 0 });
    expect((await server.auditOf(id)).at(-1)).toMatchObject({
      action: 'routine.failed',
      actor_type: 'system',
      details: { code: 'deployment_archived', message: expect.any(String) },
    });
    await run(server.db, sql`UPDATE deployments SET status = 'active' WHERE id = ${org.deployment.id}`);
    const again = await server.call('PATCH', `/v1/routines/${id}`, { key: org.testKey, body: { enabled: true } });
    expect(again.body).toMatchObject({ status: 'active', next_run_at: expect.any(String) });
  });

  it('skips the run of a disabled org', async () => {
    const { org, id } = await create({ every: 'hour' });
    await run(server.db, sql`UPDATE orgs SET status = 'disabled' WHERE id = ${org.id}`);
    await server.setRow(id, due);
    expect(await runDueRoutines(runner, { now })).toBe(0);
    expect((await server.rowOf(id)).next_run_at).toEqual(new Date('2031-05-05T11:00:00Z'));
  });
});

describe('the conversation of a routine', () => {
  it('is replaced when the deployment changes, unless it was named for the routine [RTN-026, RTN-027]', async () => {
    const { org, id } = await create({ every: 'hour' });
    const other = await server.newDeployment(org.id, 'other');
    const placeOfRun = async () => {
      await server.setRow(id, { next_run_at: new Date('2031-05-05T10:00:00Z') });
      expect(await runDueRoutines(runner, { now: new Date('2031-05-05T10:05:00Z') })).toBe(1);
      return one(
        server.db,
        { id: text(), deployment_id: text() },
        sql`
          SELECT c.id, c.deployment_id FROM conversations c JOIN routines r ON r.conversation_id = c.id
          WHERE r.id = ${id}`,
      );
    };
    const first = await placeOfRun();
    expect(await placeOfRun()).toEqual(first);
    await run(server.db, sql`UPDATE org_settings SET default_deployment = ${other.id} WHERE org_id = ${org.id}`);
    const second = await placeOfRun();
    expect(second.deployment_id).toBe(other.id);
    expect(second.id).not.toBe(first.id);
    await server.call('PATCH', `/v1/routines/${id}`, { key: org.testKey, body: { conversation_id: first.id } });
    expect(await placeOfRun()).toEqual(first);
  });
});

describe('filters', () => {
  it.each([
    ['nothing asked', null, { a: 1 }, true],
    ['an empty map', {}, {}, true],
    ['the same value', { kind: 'order' }, { kind: 'order', id: 7 }, true],
    ['another value', { kind: 'order' }, { kind: 'refund' }, false],
    ['no such field', { kind: 'order' }, { id: 7 }, false],
    ['null and nothing', { kind: null }, {}, false],
    ['a number and its text', { id: 7 }, { id: '7' }, false],
    ['zero with a sign', { id: 0 }, { id: -0 }, true],
    ['the keys of a map in another order', { at: { a: 1, b: [1, 2] } }, { at: { b: [1, 2], a: 1 } }, true],
    ['a map with one key more', { at: { a: 1 } }, { at: { a: 1, b: 2 } }, false],
    ['a list in another order', { tags: ['a', 'b'] }, { tags: ['b', 'a'] }, false],
    ['a field that every object has', { toString: 'x' }, {}, false],
  ])('%s: %j and %j', (_what, filters, payload, passes) => {
    expect(passesFilters(filters, payload)).toBe(passes);
  });

  it('accept a payload that contains them, with any other fields [RTN-050]', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.dictionary(fc.string(), fc.jsonValue()),
        (filters, others) => {
          expect(passesFilters(filters, { ...others, ...filters })).toBe(true);
        },
      ),
    );
  });

  it('reject a payload in which one of them differs [RTN-050]', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.string(),
        fc.jsonValue(),
        fc.jsonValue(),
        (others, field, wanted, given) => {
          fc.pre(JSON.stringify(sorted(wanted)) !== JSON.stringify(sorted(given)));
          const filters = Object.fromEntries([...Object.entries(others), [field, wanted]]);
          expect(passesFilters(filters, Object.fromEntries([...Object.entries(filters), [field, given]]))).toBe(false);
        },
      ),
    );
  });
});

/** Sorts the keys, so that equal values have equal JSON. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, each]) => [key, sorted(each)]);
}
