import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../tests/support/test-database.ts';
import { pruneAudit } from '../account/audit/audit-log.ts';
import { pruneEvents } from '../account/events/events.ts';
import { register as registerAccount } from '../account/register.ts';
import { register as registerAutomation } from '../automation/register.ts';
import { pruneDeliveries } from '../automation/webhooks/deliveries.ts';
import { pruneTraces } from '../engine/records/run-steps.ts';
import { register as registerEngine } from '../engine/register.ts';
import { register as registerIntegrations } from '../integrations/register.ts';
import { readConfig } from '../platform/config/config.ts';
import { closeDatabase, type Database, openDatabase } from '../platform/db/pool.ts';
import { rowsOf, run } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { integer, moment, text } from '../platform/db/table.ts';
import type { FileStore } from '../platform/files/file-store.ts';
import { pruneOld } from '../platform/jobs/retention.ts';
import type { Kernel } from '../platform/kernel.ts';
import { register as registerPlatform } from '../platform/register.ts';

let database: TestDatabase;
let db: Database;
const orgId = newId('org');

beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase({ connectionString: database.connectionString });
  await run(db, sql`INSERT INTO orgs (id, name, wrapped_data_key) VALUES (${orgId}, 'A', '\\x00')`);
});
afterAll(async () => {
  await closeDatabase(db);
  await database.drop();
});
beforeEach(async () => {
  await run(
    db,
    sql`
    TRUNCATE events, audit_entries, webhook_deliveries, run_steps, run_calls, turns, tasks, idempotency_keys`,
  );
});

/** The rules of the tested modules. Their services are never called. */
function rulesOf(kind: 'retention' | 'expiry', settings: Record<string, string> = {}, files = {} as FileStore) {
  const kernel = { db, config: readConfig(settings), files } as Kernel;
  const services = {} as never;
  return [
    registerPlatform(),
    registerAccount(kernel, services),
    registerEngine(kernel, services),
    registerAutomation(kernel, services),
    registerIntegrations(kernel, services),
  ].flatMap((module) => module[kind] ?? []);
}

const now = new Date('2026-06-15T12:00:00.000Z');
const ago = (days: number, milliseconds = 0) =>
  new Date(now.getTime() - days * 86_400_000 - milliseconds).toISOString();

const addEvent = (createdAt: string) =>
  run(
    db,
    sql`INSERT INTO events (id, org_id, mode, type, data, created_at)
    VALUES (${newId('evt')}, ${orgId}, 'test', 'key.created', '{}', ${createdAt})`,
  );
const addAudit = (createdAt: string) =>
  run(
    db,
    sql`INSERT INTO audit_entries (id, org_id, mode, action, actor_type, actor_id, actor_name, created_at)
    VALUES (${newId('aud')}, ${orgId}, 'test', 'key.created', 'system', 'system', 'Vestra', ${createdAt})`,
  );
const addDelivery = (createdAt: string, status: 'pending' | 'succeeded' | 'failed') =>
  run(
    db,
    sql`
    INSERT INTO webhook_deliveries (org_id, mode, endpoint_id, id, event_id, event_type, attempt, status, due_at, created_at)
    VALUES (${orgId}, 'test', 'whk_1', ${newId('whd')}, ${newId('evt')}, 'key.created', 1, ${status},
      ${status === 'pending' ? createdAt : null}, ${createdAt})`,
  );

async function agesIn(table: string): Promise<string[]> {
  const rows = await rowsOf(
    db,
    { created_at: moment() },
    sql`SELECT created_at FROM ${sql.identifier(table)} ORDER BY created_at`,
  );
  return rows.map(({ created_at }) => created_at.toISOString());
}

describe('retention', () => {
  it.each([
    ['events', 30, pruneEvents, addEvent],
    ['audit_entries', 365, pruneAudit, addAudit],
    ['webhook_deliveries', 30, pruneDeliveries, (at: string) => addDelivery(at, 'succeeded')],
  ] as const)('in %s goes after %i of them, in as many batches as it takes', async (table, days, prune, add) => {
    for (let each = 0; each < 25; each++) await add(ago(days, 1 + each));
    await add(ago(days));
    await add(ago(0));
    await pruneOld(db, [{ days, prune }], { now, batchRows: 10 });
    expect(await agesIn(table)).toEqual([ago(days), ago(0)]);
  });

  it('deletes in bounded batches, oldest first, and continues in the next run', async () => {
    for (let each = 0; each < 25; each++) await addEvent(ago(31, each));
    const run = () => pruneOld(db, [{ days: 30, prune: pruneEvents }], { now, batchRows: 5, maxBatches: 2 });
    await run();
    expect(await agesIn('events')).toEqual(Array.from({ length: 15 }, (_, at) => ago(31, 14 - at)));
    await run();
    await run();
    expect(await agesIn('events')).toEqual([]);
  });

  it('deletes nothing more when the worker stops', async () => {
    await addEvent(ago(31));
    await pruneOld(db, [{ days: 30, prune: pruneEvents }], { now, signal: AbortSignal.abort() });
    expect(await agesIn('events')).toHaveLength(1);
  });

  it('prunes the other tables if one fails, and reports the error', async () => {
    await addEvent(ago(31));
    const broken = () => Promise.reject(new Error('no such table'));
    const rules = [
      { days: 30, prune: broken },
      { days: 30, prune: pruneEvents },
    ];
    await expect(pruneOld(db, rules, { now })).rejects.toThrow('no such table');
    expect(await agesIn('events')).toEqual([]);
  });

  it('finds old rows by index among many new ones', async () => {
    await run(
      db,
      sql`
      INSERT INTO events (id, org_id, mode, type, data, created_at)
      SELECT 'evt_' || n, ${orgId}, 'test', 'key.created', '{}', ${ago(0)}::timestamptz FROM generate_series(1, 20000) n`,
    );
    await run(db, sql`ANALYZE events`);
    const rows = await rowsOf(
      db,
      { 'QUERY PLAN': text() },
      sql`EXPLAIN SELECT id FROM events WHERE created_at < ${ago(30)} ORDER BY created_at LIMIT 1000`,
    );
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('events_by_age');
  });
});

describe('webhook deliveries', () => {
  it('keeps pending deliveries of any age [RET-003]', async () => {
    await addDelivery(ago(40), 'pending');
    await addDelivery(ago(40, 1), 'failed');
    await pruneOld(db, [{ days: 30, prune: pruneDeliveries }], { now });
    expect(await agesIn('webhook_deliveries')).toEqual([ago(40)]);
  });
});

describe('traces of runs', () => {
  const prune = (batchRows = 1000) => pruneOld(db, [{ days: 90, prune: pruneTraces }], { now, batchRows });

  async function addTurn(state: string): Promise<string> {
    const id = newId('turn');
    await run(
      db,
      sql`
      INSERT INTO turns (conversation_id, ordinal, id, org_id, mode, deployment_id, deployment_version, state, request,
        origin, message_id, reply_message_id, fence)
      VALUES (${newId('conv')}, 1, ${id}, ${orgId}, 'test', 'dep_1', 1, ${state}, '{}', 'person', 'msg_1', 'msg_2', ${id})`,
    );
    return id;
  }
  async function addTask(status: string): Promise<string> {
    const id = newId('task');
    await run(
      db,
      sql`
      INSERT INTO tasks (org_id, mode, id, conversation_id, turn_id, deployment_id, deployment_version, status, fence)
      VALUES (${orgId}, 'test', ${id}, 'conv_1', 'turn_1', 'dep_1', 1, ${status}, ${id})`,
    );
    return id;
  }
  async function addSteps(runId: string, ages: readonly number[]): Promise<void> {
    for (const [at, age] of ages.entries()) {
      await run(
        db,
        sql`
        INSERT INTO run_steps (run_id, step_index, kind, text, model, input_tokens, output_tokens, cache_read_tokens,
          cost_micros, started_at, created_at)
        VALUES (${runId}, ${at}, 'model', '', 'offline', 1, 1, 0, 1, ${ago(age)}, ${ago(age)})`,
      );
      for (const position of [0, 1]) {
        await run(
          db,
          sql`INSERT INTO run_calls (run_id, step_index, position, id, name, arguments, created_at)
          VALUES (${runId}, ${at}, ${position}, ${newId('call')}, 'finish', '{}', ${ago(age)})`,
        );
      }
    }
  }
  async function kept(runId: string): Promise<[steps: number, calls: number]> {
    const rows = await rowsOf(
      db,
      { steps: integer(), calls: integer() },
      sql`
      SELECT (SELECT count(*)::int FROM run_steps WHERE run_id = ${runId}) AS steps,
        (SELECT count(*)::int FROM run_calls WHERE run_id = ${runId}) AS calls`,
    );
    return [rows[0]?.steps ?? -1, rows[0]?.calls ?? -1];
  }

  it.each(['settled', 'failed', 'stopped'])(
    'deletes the trace with its calls if the turn is %s [RET-002]',
    async (state) => {
      const [old, young] = [await addTurn(state), await addTurn(state)];
      await addSteps(old, [91, 91, 91]);
      await addSteps(young, [89]);
      await prune(2);
      expect([await kept(old), await kept(young)]).toEqual([
        [0, 0],
        [1, 2],
      ]);
    },
  );

  it.each(['done', 'failed'])('deletes the trace with its calls if the task is %s [RET-002]', async (status) => {
    const [old, young] = [await addTask(status), await addTask(status)];
    await addSteps(old, [120, 91]);
    await addSteps(young, [89, 80]);
    await prune();
    expect([await kept(old), await kept(young)]).toEqual([
      [0, 0],
      [2, 4],
    ]);
  });

  it('keeps the trace of an open run, and still deletes others', async () => {
    const open = [
      ...(await Promise.all(['queued', 'replying', 'waiting', 'working'].map(addTurn))),
      ...(await Promise.all(['queued', 'working', 'waiting'].map(addTask))),
    ];
    for (const run of open) await addSteps(run, [400, 399]);
    const ended = await addTask('done');
    await addSteps(ended, [95, 94]);
    await prune(1);
    for (const run of open) expect(await kept(run)).toEqual([2, 4]);
    expect(await kept(ended)).toEqual([0, 0]);
  });

  it('deletes the trace of a deleted conversation', async () => {
    await addSteps('turn_gone', [91]);
    await prune();
    expect(await kept('turn_gone')).toEqual([0, 0]);
  });
});

describe('retention settings', () => {
  it('default to the documented days [RET-001, RET-002, RET-003, RET-004]', () => {
    expect(readConfig({}).retentionDays).toEqual({
      events: 30,
      traces: 90,
      deliveries: 30,
      audit: 365,
      conversations: null,
    });
  });

  it.each([
    ['VESTRA_RETENTION_EVENTS_DAYS', '4'],
    ['VESTRA_RETENTION_TRACES_DAYS', '0'],
    ['VESTRA_RETENTION_DELIVERIES_DAYS', '1.5'],
    ['VESTRA_RETENTION_AUDIT_DAYS', 'for ever'],
  ])('refuse %s=%s', (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(`The setting ${name} is not valid`);
  });

  it('decide which rows the job deletes [RET-001, RET-002, RET-003, RET-004, PIC-007]', async () => {
    const settings = {
      VESTRA_RETENTION_EVENTS_DAYS: '10',
      VESTRA_RETENTION_TRACES_DAYS: '20',
      VESTRA_RETENTION_DELIVERIES_DAYS: '30',
      VESTRA_RETENTION_AUDIT_DAYS: '40',
    };
    const sinceToday = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
    const [events, traces, deliveries, audit] = [
      [9, 11],
      [19, 21],
      [29, 31],
      [39, 41],
    ].map((days) => days.map(sinceToday));
    for (const at of events ?? []) await addEvent(at);
    for (const at of deliveries ?? []) await addDelivery(at, 'succeeded');
    for (const at of audit ?? []) await addAudit(at);
    for (const at of traces ?? []) {
      await run(
        db,
        sql`
        INSERT INTO run_steps (run_id, step_index, kind, text, model, input_tokens, output_tokens, cache_read_tokens,
          cost_micros, started_at, created_at)
        VALUES (${newId('turn')}, 0, 'model', '', 'offline', 1, 1, 0, 1, ${at}, ${at})`,
      );
    }
    const kept = new Map<string, Uint8Array>();
    for (const [at, createdAt] of (traces ?? []).entries()) {
      for (const source of ['tool', 'output']) {
        await run(
          db,
          sql`INSERT INTO files (id, org_id, mode, sha256, source, created_at)
          VALUES (${newId('file')}, ${orgId}, 'test', ${`${source}-${at}`}, ${source}, ${createdAt})`,
        );
        kept.set(`${source}-${at}`, new Uint8Array());
      }
    }
    const store = { remove: async (_orgId: string, sha256: string) => void kept.delete(sha256) } as FileStore;
    await pruneOld(db, rulesOf('retention', settings, store));
    // Results of tools are deleted with the traces, including their bytes; files for users stay.
    expect([...kept.keys()]).toEqual(['tool-0', 'output-0', 'output-1']);
    expect(await agesIn('events')).toEqual([events?.[0]]);
    expect(await agesIn('run_steps')).toEqual([traces?.[0]]);
    expect(await agesIn('webhook_deliveries')).toEqual([deliveries?.[0]]);
    expect(await agesIn('audit_entries')).toEqual([audit?.[0]]);
  });
});

describe('unreferenced content in the file store', () => {
  it('is deleted after an hour, unless a file uses it again [STORE-008]', async () => {
    const note = (sha256: string, age: string) =>
      run(
        db,
        sql`INSERT INTO unused_contents (org_id, name, since) VALUES (${orgId}, ${sha256}, now() - ${age}::interval)`,
      );
    await note('left', '61 minutes');
    await note('young', '50 minutes');
    await note('taken', '61 minutes');
    await run(
      db,
      sql`INSERT INTO files (id, org_id, mode, sha256, source) VALUES (${newId('file')}, ${orgId}, 'test', 'taken', 'upload')`,
    );
    const removed: string[] = [];
    const store = { remove: async (_orgId: string, sha256: string) => void removed.push(sha256) } as FileStore;
    await pruneOld(db, rulesOf('retention', {}, store));
    expect(removed).toEqual(['left']);
    expect(await rowsOf(db, { name: text() }, sql`SELECT name FROM unused_contents`)).toEqual([{ name: 'young' }]);
    await run(db, sql`DELETE FROM unused_contents`);
  });
});

describe('idempotency records', () => {
  it('are deleted after 24 hours [RET-006]', async () => {
    const add = (key: string, age: string) =>
      run(
        db,
        sql`INSERT INTO idempotency_keys (org_id, mode, route, key, request_hash, created_at)
        VALUES (${orgId}, 'test', 'keys.create', ${key}, '\\x00', now() - ${age}::interval)`,
      );
    await add('old', '24 hours 1 minute');
    await add('young', '23 hours 59 minutes');
    await pruneOld(db, rulesOf('expiry'));
    const rows = await rowsOf(db, { key: text() }, sql`SELECT key FROM idempotency_keys`);
    expect(rows.map(({ key }) => key)).toEqual(['young']);
  });
});

describe('sessions', () => {
  it('are deleted 30 days after their end, and not before', async () => {
    const add = (id: string, days: number) =>
      run(
        db,
        sql`
        INSERT INTO sessions (id, org_id, mode, token_hash, chat, screen, memory, driver, expires_at)
        VALUES (${id}, ${orgId}, 'test', convert_to(${id}, 'UTF8'), true, 'false', false, 'bash',
          now() - ${days}::float8 * interval '1 day')`,
      );
    await add('ses_old', 30.1);
    await add('ses_young', 29.9);
    await add('ses_live', -0.01);
    await pruneOld(db, rulesOf('expiry'));
    const rows = await rowsOf(db, { id: text() }, sql`SELECT id FROM sessions ORDER BY id`);
    expect(rows).toEqual([{ id: 'ses_live' }, { id: 'ses_young' }]);
  });
});

it('deletes rate limit windows after an hour, in any number', async () => {
  await run(
    db,
    sql`
    INSERT INTO rate_windows (bucket, started_at, used)
    SELECT 'old ' || n, now() - interval '61 minutes', 1 FROM generate_series(1, 2500) n`,
  );
  await run(
    db,
    sql`INSERT INTO rate_windows (bucket, started_at, used) VALUES ('young', now() - interval '59 minutes', 1)`,
  );
  await pruneOld(db, rulesOf('expiry'));
  const rows = await rowsOf(db, { bucket: text() }, sql`SELECT bucket FROM rate_windows`);
  expect(rows).toEqual([{ bucket: 'young' }]);
});
