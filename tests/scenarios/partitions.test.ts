import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { idOfTime, newId } from '@vestra/contract/ids';
import { createKeyUse } from '@vestra/server/account/audit/key-use';
import { pruneEvents } from '@vestra/server/account/events/events';
import { eventPartitions } from '@vestra/server/account/tables';
import { pruneTraces, stepPartitions } from '@vestra/server/engine/records/run-steps';
import type { Caller } from '@vestra/server/platform/caller';
import { extendPartitions } from '@vestra/server/platform/db/partitions';
import { closeDatabase, type Database, openDatabase } from '@vestra/server/platform/db/pool';
import { type PruneRule, pruneOld } from '@vestra/server/platform/jobs/retention';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { query } from '../support/database.ts';
import { runProgram, startProgram } from '../support/process.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { createTestDatabase } from '../support/test-database.ts';

const masterKey = 'ab'.repeat(32);
const dayMs = 86_400_000;

let folder: string;
let server: TestServer;
let db: Database;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vestra-partitions-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));
beforeEach(async () => {
  server = await startTestServer({ env: { VESTRA_MASTER_KEY: masterKey } });
  db = await openDatabase({ connectionString: server.connectionString, max: 2 });
  expect((await createKey(0)).status).toBe(201);
});
afterEach(async () => {
  await closeDatabase(db);
  await server.stop();
});

const settings = () => ({
  VESTRA_DATA_DIR: folder,
  DATABASE_URL: server.connectionString,
  VESTRA_MASTER_KEY: masterKey,
});
const admin = (...words: string[]) => runProgram('operator', words, settings());
const ask = <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
  query<Row>(server.connectionString, text, values);

async function partition(...words: string[]) {
  const { code, output } = await admin('partition', ...words, '--json');
  if (code !== 0) throw new Error(output);
  return JSON.parse(output).tables as { table: string; converted: boolean; from: string | null }[];
}

/** Where the rows of a table are. */
const rowsIn = async (table: string) =>
  Object.fromEntries(
    (
      await ask<{ part: string; rows: number }>(
        `SELECT tableoid::regclass::text AS part, count(*)::int AS rows FROM ${table} GROUP BY 1 ORDER BY 1`,
      )
    ).map(({ part, rows }) => [part, rows]),
  );

const namesOf = async (table: string) =>
  (
    await ask<{ name: string }>(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = '${table}'::regclass ORDER BY 1`,
    )
  ).map(({ name }) => name);

let serial = 0;
const added = new Set<string>();
const idAt = (prefix: 'evt' | 'turn' | 'task' | 'whd' | 'aud', at: number) =>
  idOfTime(prefix, at) + String(++serial).padStart(14, '0');

/** A stored event of another time, with the content of a real one. */
async function addEvent(at: number, createdAt = at): Promise<string> {
  const id = idAt('evt', at);
  await ask(
    `INSERT INTO events (id, org_id, mode, type, data, created_at)
     SELECT $1, org_id, mode, type, data, $3 FROM events WHERE org_id = $2 AND mode = 'test' AND type = 'key.created' LIMIT 1`,
    [id, server.orgId, new Date(createdAt)],
  );
  added.add(id);
  return id;
}

async function addStep(runId: string, at: number): Promise<void> {
  await ask(
    `INSERT INTO run_steps (run_id, step_index, kind, text, model, input_tokens, output_tokens, cache_read_tokens,
       cost_micros, started_at, created_at) VALUES ($1, 0, 'model', '', 'm', 1, 1, 0, 1, $2, $2)`,
    [runId, new Date(at)],
  );
  await ask(
    `INSERT INTO run_calls (run_id, step_index, position, id, name, arguments, created_at)
     VALUES ($1, 0, 0, $2, 'find', '{}', $3)`,
    [runId, newId('call'), new Date(at)],
  );
}

/** Reads a whole list, page by page. */
async function listAll(path: string, limit = 7): Promise<string[]> {
  const ids: string[] = [];
  let after = '';
  for (;;) {
    const { status, body } = await server.call('GET', `${path}?limit=${limit}${after}`);
    expect(status).toBe(200);
    ids.push(...body.data.map(({ id }: { id: string }) => id));
    if (body.next_cursor === null) return ids;
    after = `&cursor=${encodeURIComponent(body.next_cursor)}`;
  }
}

const eventRule: PruneRule = { days: 30, prune: pruneEvents, partitions: eventPartitions };
const traceRule: PruneRule = { days: 90, prune: pruneTraces, partitions: stepPartitions };
const createKey = (n: number) => server.call('POST', '/v1/keys', { body: { name: `k${n}`, scopes: ['runtime'] } });

describe('vestra admin partition', () => {
  it('partitions all tables while requests write to them, and lists show every row once [GROW-710, GROW-711]', async () => {
    let isDone = false;
    const statuses: number[] = [];
    const writing = [1, 2, 3].map(async () => {
      while (!isDone) {
        statuses.push((await createKey(0)).status);
        // Each request is a page to read later.
        await sleep(200);
      }
    });
    const tables = await partition();
    isDone = true;
    await Promise.all(writing);
    expect(tables.map(({ table, converted }) => [table, converted])).toEqual([
      ['events', true],
      ['run_steps', true],
      ['run_calls', true],
      ['webhook_deliveries_made', true],
      ['audit_entries', true],
    ]);
    expect(statuses.length).toBeGreaterThan(3);
    expect(new Set(statuses)).toEqual(new Set([201]));
    const cut = Date.parse(tables[0]?.from as string);
    const later: string[] = [];
    for (let n = 0; n < 20; n++) later.push(await addEvent(cut - 5 * dayMs + n * dayMs));
    expect(Object.keys(await rowsIn('events')).length).toBeGreaterThan(2);
    const listed = await listAll('/v1/events', 20);
    const stored = await ask<{ id: string }>(`SELECT id FROM events WHERE org_id = $1 AND mode = 'test'`, [
      server.orgId,
    ]);
    expect(listed).toEqual(
      stored
        .map(({ id }) => id)
        .sort()
        .reverse(),
    );
    expect(listed.filter((id) => later.includes(id))).toEqual(later.toReversed());
    const created = await ask<{ n: number }>(
      `SELECT count(*)::int AS n FROM events WHERE org_id = $1 AND mode = 'test' AND type = 'key.created'`,
      [server.orgId],
    );
    expect(created[0]?.n).toBe(statuses.length + 2 + 20);
    const audited = await ask<{ id: string }>(`SELECT id FROM audit_entries WHERE org_id = $1 AND mode = 'test'`, [
      server.orgId,
    ]);
    expect(new Set(await listAll('/v1/audit-log', 20))).toEqual(new Set(audited.map(({ id }) => id)));
    expect((await partition()).map(({ converted }) => converted)).toEqual([false, false, false, false, false]);
  });

  it('continues after kill -9 without a refused request [GROW-712]', async () => {
    await createKey(1);
    // The command reads the table and then waits for this transaction, because a foreign key refers to this table.
    const writer = new pg.Client({ connectionString: server.connectionString });
    await writer.connect();
    await writer.query('BEGIN; LOCK TABLE orgs IN ROW EXCLUSIVE MODE');
    const { child } = await startProgram('operator', ['partition', '--table', 'audit'], settings());
    const validated = () =>
      ask<{ ok: boolean }>(
        `SELECT convalidated AS ok FROM pg_constraint WHERE conname = 'audit_entries_before_partitions'`,
      ).then(([row]) => row?.ok);
    await expect.poll(validated).toBe(true);
    child.kill('SIGKILL');
    expect((await createKey(2)).status).toBe(201);
    expect(await namesOf('audit_entries')).toEqual([]);
    await writer.query('COMMIT');
    await writer.end();
    // PostgreSQL ends the session of the killed command by itself.
    await expect.poll(async () => (await admin('partition', '--table', 'audit')).code).toBe(0);
    expect((await createKey(3)).status).toBe(201);
    expect((await namesOf('audit_entries')).length).toBeGreaterThan(4);
    const stored = await ask<{ id: string }>(
      `SELECT id FROM audit_entries WHERE org_id = $1 AND mode = 'test' AND action = 'key.created'`,
      [server.orgId],
    );
    // The key of the org, and those of the test.
    expect(stored.length).toBe(5);
    const listed = await listAll('/v1/audit-log');
    expect(stored.filter(({ id }) => !listed.includes(id))).toEqual([]);
  });

  it('leaves no check behind that would refuse later rows [GROW-712]', async () => {
    await ask(`ALTER TABLE events ADD CONSTRAINT events_before_partitions CHECK (id < 'evt_0') NOT VALID`);
    await ask(`COMMENT ON CONSTRAINT events_before_partitions ON events IS '2026-01-05T00:00:00.000Z'`);
    await expect(addEvent(Date.now())).rejects.toThrow('events_before_partitions');
    await extendPartitions(db, [eventPartitions]);
    await addEvent(Date.now());
  });

  it('refuses the DELETE by which version 0.2.0 removes expired rows [GROW-716]', async () => {
    await partition('--table', 'events');
    await addEvent(Date.now());
    const byPlace = `DELETE FROM "events" WHERE ctid IN (SELECT ctid FROM "events" LIMIT 1)`;
    await expect(ask(byPlace)).rejects.toThrow('cannot delete expired rows');
  });
});

describe('a table with partitions', () => {
  it('drops a partition once all of its rows have expired, and no other row [GROW-713]', async () => {
    await addEvent(Date.now() - 5 * dayMs);
    const [{ from = '' } = {}] = (await partition('--table', 'events')) as { from: string }[];
    const cut = Date.parse(from);
    const old = await addEvent(cut + dayMs);
    const kept = await addEvent(cut + 8 * dayMs);
    const lateRow = await addEvent(cut + 15 * dayMs, cut + 60 * dayMs);
    const first = `events_${new Date(cut).toISOString().slice(0, 10).replaceAll('-', '')}`;
    expect((await namesOf('events')).includes(first)).toBe(true);

    // The week of `old` ended thirty days ago, and that of `kept` did not.
    const at = (days: number) => ({ now: new Date(cut + days * dayMs) });
    await pruneOld(db, [eventRule], at(7 + 29));
    expect((await listAll('/v1/events')).includes(old)).toBe(true);
    await pruneOld(db, [eventRule], at(7 + 30.5));
    const left = await listAll('/v1/events');
    expect([left.includes(old), left.includes(kept), left.includes(lateRow)]).toEqual([false, true, true]);
    expect((await namesOf('events')).includes(first)).toBe(false);
    // The former table is replaced by an empty one, so that an old id still has a place.
    expect((await rowsIn('events')).events_past).toBeUndefined();
    const imported = await addEvent(cut - 20 * dayMs, cut + 50 * dayMs);
    expect((await listAll('/v1/events')).includes(imported)).toBe(true);
    // A partition with a row that was written late stays until that row has expired.
    await pruneOld(db, [eventRule], at(80));
    expect((await listAll('/v1/events')).includes(lateRow)).toBe(true);
  });

  it('removes what could not be dropped row by row, and only that [GROW-713]', async () => {
    // Not expired yet, because the server removes expired rows too, at any time.
    const expired = await addEvent(Date.now() - 20 * dayMs);
    await partition('--table', 'events');
    const places = () =>
      ask<{ place: string; part: string; id: string }>(
        `SELECT ctid::text AS place, tableoid::regclass::text AS part, id FROM events WHERE id = ANY($1)`,
        [[...added]],
      );
    // Rows of other partitions at the same place.
    const others: string[] = [];
    for (let n = 0; n < 40; n++) others.push(await addEvent(Date.now() + 14 * dayMs));
    const [gone] = (await places()).filter(({ id }) => id === expired);
    expect((await places()).filter(({ place }) => place === gone?.place).length).toBe(2);
    await pruneOld(db, [eventRule], { now: new Date(Date.now() + 18 * dayMs) });
    expect((await places()).map(({ id }) => id).sort()).toEqual(others.sort());
  });

  it('drops the steps of ended runs with their calls, and none of an open run [GROW-714]', async () => {
    const [{ from = '' } = {}] = (await partition('--table', 'steps')) as { from: string }[];
    const cut = Date.parse(from);
    const at = (days: number) => ({ now: new Date(cut + days * dayMs) });
    const [turn, task] = [idAt('turn', cut + dayMs), idAt('task', cut + dayMs)];
    for (const run of [turn, task]) await addStep(run, cut + dayMs);
    const conversation = newId('conv');
    await ask(
      `INSERT INTO tasks (id, org_id, mode, conversation_id, turn_id, deployment_id, deployment_version, status, title, fence)
       VALUES ($1, $2, 'test', $3, 'turn_0', 'dep_0', 1, 'waiting', 'Look', 'fence')`,
      [task, server.orgId, conversation],
    );
    await pruneOld(db, [traceRule], at(7 + 91));
    expect(Object.values(await rowsIn('run_steps'))).toEqual([1]);
    expect((await ask(`SELECT run_id FROM run_steps`))[0]).toEqual({ run_id: task });
    expect((await ask(`SELECT run_id FROM run_calls`)).length).toBe(1);
  });

  it('stores rows after two months without its job, and then in proper partitions [GROW-715]', async () => {
    await partition('--table', 'events');
    // As after two months: only the partition for later ids is left.
    const parts = (await namesOf('events')).filter((name) => /_\d{8}$/.test(name));
    for (const name of parts) await ask(`DROP TABLE ${name}`);
    await ask('ALTER TABLE events DETACH PARTITION events_later');
    const start = idOfTime('evt', Date.now() - 60 * dayMs);
    await ask('ALTER TABLE events DETACH PARTITION events_past');
    await ask(`ALTER TABLE events ATTACH PARTITION events_later FOR VALUES FROM ('${start}') TO (MAXVALUE)`);
    await ask('CREATE TABLE events_default PARTITION OF events DEFAULT');
    await ask('INSERT INTO events SELECT * FROM events_past');
    await ask('DROP TABLE events_past');
    await ask('ALTER TABLE events_default RENAME TO events_past');
    const before = (await rowsIn('events')).events_later as number;
    const ids = [
      await addEvent(Date.now() - 3 * dayMs),
      await addEvent(Date.now()),
      await addEvent(Date.now() + 20 * dayMs),
    ];
    expect(await rowsIn('events')).toEqual({ events_later: before + 3 });
    // Several processes at once.
    const other = await openDatabase({ connectionString: server.connectionString, max: 2 });
    await Promise.all([db, other, db, other].map((each) => extendPartitions(each, [eventPartitions])));
    await closeDatabase(other);
    await extendPartitions(db, [eventPartitions]);
    const where = await rowsIn('events');
    expect(where.events_later).toBeUndefined();
    expect(Object.values(where).toSorted()).toEqual([1, before + 2]);
    expect((await listAll('/v1/events')).filter((id) => ids.includes(id))).toEqual(ids.toReversed());
    const far = await addEvent(Date.now() + 400 * dayMs);
    expect(await rowsIn('events')).toMatchObject({ events_later: 1 });
    expect((await listAll('/v1/events'))[0]).toBe(far);
  });

  it('counts the uses of a key in one entry per minute, also by several processes [GROW-711]', async () => {
    await partition('--table', 'audit');
    const indexes = await ask<{ n: number }>(
      `SELECT count(*)::int AS n FROM pg_indexes WHERE indexdef LIKE '%UNIQUE%(actor_id, used_minute)'`,
    );
    expect(indexes[0]?.n).toBe((await namesOf('audit_entries')).length);
    const log = { warn: (fields: { err: Error }) => expect(fields.err).toBeUndefined() } as unknown as Parameters<
      typeof createKeyUse
    >[1];
    const processes = [1, 2, 3].map(() => createKeyUse(db, log));
    const caller = { orgId: server.orgId, mode: 'test', actor: { type: 'key', id: newId('key'), name: 'k' } };
    for (const { used } of processes) for (let n = 0; n < 5; n++) used(caller as unknown as Caller);
    await Promise.all(processes.map(({ stop }) => stop()));
    const entries = await ask<{ count: string }>(
      `SELECT details ->> 'count' AS count FROM audit_entries WHERE actor_id = $1 AND action = 'key.used'`,
      [caller.actor.id],
    );
    expect(entries.reduce((sum, { count }) => sum + Number(count), 0)).toBe(15);
    // Two, if the minute ended meanwhile.
    expect(entries.length).toBeLessThanOrEqual(2);
  });

  it('is described by the doctor [GROW-718]', async () => {
    await partition();
    const { output } = await admin('doctor', '--json');
    const said = JSON.parse(output).findings.map(({ what }: { what: string }) => what);
    const described = said.filter((what: string) => /have a partition per week, until 20/.test(what));
    expect(described.map((what: string) => what.split(' ')[0])).toEqual(['events', 'steps', 'deliveries', 'audit']);
  });

  it('is in a backup [GROW-717]', async () => {
    const { before } = await partitionedContent();
    const file = join(folder, 'backup.tar');
    expect(await admin('backup', file)).toMatchObject({ code: 0 });
    const restored = await createTestDatabase();
    const there = { ...settings(), DATABASE_URL: restored.connectionString, VESTRA_DATA_DIR: join(folder, 'restored') };
    expect(await runProgram('operator', ['restore', file], there)).toMatchObject({ code: 0 });
    expect(await contentOf(restored.connectionString)).toEqual(before);
    await restored.drop();
  }, 600_000);

  it('moves with its org, into an installation with partitions [GROW-717]', async () => {
    const { before } = await partitionedContent();
    const archive = join(folder, 'org.tar');
    const keyFile = ['--key-file', join(folder, 'org.key')];
    expect(await admin('org', 'export', server.orgId, archive, ...keyFile)).toMatchObject({ code: 0 });
    const target = await createTestDatabase();
    const there = { ...settings(), DATABASE_URL: target.connectionString, VESTRA_DATA_DIR: join(folder, 'target') };
    expect(await runProgram('operator', ['partition'], there)).toMatchObject({ code: 0 });
    expect(await runProgram('operator', ['org', 'import', archive, ...keyFile], there)).toMatchObject({ code: 0 });
    const arrived = await contentOf(target.connectionString);
    expect(arrived.events).toEqual(expect.arrayContaining(before.events));
    expect(arrived.audited).toEqual(expect.arrayContaining(before.audited));
    await target.drop();
  }, 600_000);
});

/** Rows in the former table and in a partition. */
async function partitionedContent() {
  const [{ from = '' } = {}] = (await partition()) as { from: string }[];
  await addEvent(Date.parse(from) + dayMs);
  const before = await contentOf(server.connectionString);
  expect(Object.keys(await rowsIn('events')).length).toBe(2);
  return { before };
}

const contentOf = async (url: string) => ({
  events: await query(url, `SELECT id, data FROM events WHERE org_id = $1 ORDER BY id`, [server.orgId]),
  audited: await query(url, `SELECT id FROM audit_entries WHERE org_id = $1 AND used_minute IS NULL ORDER BY id`, [
    server.orgId,
  ]),
});
