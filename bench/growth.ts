/**
 * Measures what a large installation costs: `node bench/growth.ts 5000000` fills that many rows by SQL and prints the
 * times of the usage report, of lists, of retention and of vacuum. Fifty million rows need tens of gigabytes. A second
 * word measures one part: `usage`, `events` or `lists`.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { idOfTime, newId } from '@vestra/contract/ids';
import { usageGroups } from '@vestra/contract/usage';
import { startEmbeddedPostgres } from '@vestra/server/platform/db/embedded';
import pg from 'pg';
import { findEvent, listEvents, pruneEvents } from '../packages/server/src/account/events/events.ts';
import { insertOrg } from '../packages/server/src/account/orgs/store.ts';
import { eventPartitions } from '../packages/server/src/account/tables.ts';
import { sumUsageDays } from '../packages/server/src/billing/sum-usage.ts';
import { sumUsage } from '../packages/server/src/billing/usage-sums.ts';
import { type ConversationFilter, listConversations } from '../packages/server/src/engine/records/conversations.ts';
import { listTasks, type TaskFilter } from '../packages/server/src/engine/records/tasks.ts';
import { openOperator } from '../packages/server/src/operator/operator.ts';
import { partition } from '../packages/server/src/operator/partition.ts';
import { readConfig } from '../packages/server/src/platform/config/config.ts';
import { migrate } from '../packages/server/src/platform/db/migrate.ts';
import { closeDatabase, openDatabase } from '../packages/server/src/platform/db/pool.ts';
import { pruneOld } from '../packages/server/src/platform/jobs/retention.ts';
import { listUsers, type UserFilter } from '../packages/server/src/users/store.ts';
import { fillRows, withoutIndexes } from '../tests/support/many-rows.ts';

const rows = Number(process.argv[2] ?? 1_000_000);
const only = process.argv[3];
const dayMs = 86_400_000;
const tenant = { orgId: 'org_growth', mode: 'test' as const };
const folder = mkdtempSync(join(process.env.VESTRA_BENCH_FOLDER ?? tmpdir(), 'growth-'));
// PostgreSQL runs as another user where this runs as root.
chmodSync(folder, 0o711);
const postgres = await startEmbeddedPostgres({
  dataDir: join(folder, 'database'),
  log: () => {},
  settings: { shared_preload_libraries: 'pg_stat_statements' },
});
const db = await openDatabase({ connectionString: postgres.connectionString, max: 2 });
const client = new pg.Client({ connectionString: postgres.connectionString });

try {
  await client.connect();
  await client.query('CREATE EXTENSION pg_stat_statements');
  await migrate(db, join(import.meta.dirname, '../packages/server/src/platform/db/migrations'));
  await insertOrg(db, { id: tenant.orgId, name: 'Growth', wrapped_data_key: Buffer.alloc(1) }, {});
  if (only === undefined || only === 'usage') await measureUsage();
  if (only === undefined || only === 'events') await measureEvents();
  if (only === undefined || only === 'lists') await measureLists();
} finally {
  await client.end();
  await closeDatabase(db);
  await postgres.stop();
  rmSync(folder, { recursive: true });
}

/** A charge is three rows: the wallet, the tokens read and the tokens written. One in ten belongs to a task. */
async function measureUsage(): Promise<void> {
  const charges = Math.round(rows / 3);
  const parts = `(VALUES ('wallet', -30, NULL, NULL, NULL), ('spend', 10, 'orchestrator', 10, 'input_tokens'),
    ('spend', 20, 'orchestrator', 20, 'output_tokens')) AS part(account, micros, kind, quantity, unit)`;
  await timed(`fill ${rows} ledger rows`, async () => {
    await withoutIndexes(client, 'ledger_entries', async () => {
      for (let from = 0; from < charges; from += 100_000) {
        await client.query(
          `INSERT INTO ledger_entries (id, transfer_id, org_id, mode, account, amount_micros, kind, model, quantity, unit,
           unit_price_micros, user_id, deployment_id, conversation_id, task_id, created_at)
         SELECT 'li_' || lpad((n * 3 + CASE unit WHEN 'input_tokens' THEN 0 WHEN 'output_tokens' THEN 1 ELSE 2 END)::text, 24, '0'),
           'li_' || lpad((n * 3 + 2)::text, 24, '0'), $1, $2, account, micros, kind, 'model-' || n % 3, quantity, unit, 1,
           'user-' || n / 10 % 2000, 'dep_' || n / 10 % 10, 'conv_' || lpad((n / 10)::text, 24, '0'),
           CASE WHEN n / 10 % 10 = 0 THEN 'task_' || lpad((n / 10)::text, 24, '0') END,
           date_trunc('day', now()) - interval '29 days' + n * interval '29 days' / $3::int
         FROM generate_series($4::int, $5::int) AS n CROSS JOIN ${parts}`,
          [tenant.orgId, tenant.mode, charges, from, Math.min(from + 100_000, charges) - 1],
        );
      }
    });
    await client.query(
      `INSERT INTO spend_days (org_id, mode, user_id, day, spend_micros)
       SELECT org_id, mode, COALESCE(user_id, '*'), (created_at AT TIME ZONE 'UTC')::date, sum(amount_micros)
       FROM ledger_entries WHERE account = 'spend'
       GROUP BY GROUPING SETS ((org_id, mode, user_id, (created_at AT TIME ZONE 'UTC')::date),
         (org_id, mode, (created_at AT TIME ZONE 'UTC')::date))`,
    );
    await client.query('VACUUM ANALYZE ledger_entries, spend_days');
  });
  await report('without sums', ['day']);
  await timed('sum all days', () => sumUsageDays(db));
  await client.query('VACUUM ANALYZE usage_days, usage_work_days');
  await report('with sums', usageGroups);
}

async function report(what: string, groups: readonly (typeof usageGroups)[number][]): Promise<void> {
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  for (const groupBy of groups) {
    const read = () => sumUsage(db, tenant, { groupBy, from: day(29), to: day(0) }, { limit: 50, after: null });
    await read();
    await timed(`usage by ${groupBy} ${what}`, read);
    await client.query('SELECT pg_stat_statements_reset()');
    await timed('  again', read);
    await printBlocks();
  }
}

/** The blocks that PostgreSQL touched since the last reset. Their number does not depend on the machine. */
async function printBlocks(): Promise<void> {
  const { rows: found } = await client.query<{ blocks: string }>(
    `SELECT sum(shared_blks_hit + shared_blks_read) AS blocks FROM pg_stat_statements
     WHERE query NOT LIKE '%pg_stat_statements%'`,
  );
  console.log(`  blocks of 8 KB: ${Number(found[0]?.blocks).toLocaleString('en')}`);
}

async function measureLists(): Promise<void> {
  const deployments = { busy: 'dep_busy', rare: 'dep_rare' };
  await timed(`fill ${rows} rows of each list`, () => fillRows(client, { ...tenant, count: rows, deployments }));
  const page = { limit: 50, after: null };
  const month = new Date(Date.now() - 200 * 86_400_000);
  const filters: Record<string, ConversationFilter> = {
    'without a filter': {},
    'of a user': { userId: 'user-17' },
    'of a rare deployment': { deploymentId: 'dep_rare' },
    'of a deployment and version': { deploymentId: 'dep_busy', version: 4 },
    failed: { failed: true },
    'failed, of a rare deployment': { deploymentId: 'dep_rare', failed: true },
    working: { status: 'working' },
    'of an old period': { createdBefore: month },
    'of a rare deployment in an old period': { deploymentId: 'dep_rare', createdBefore: month },
    'with a word of all': { q: 'refund' },
    'with a word of one in a thousand': { q: 'word17' },
    'with a seldom word': { q: 'seldom4711' },
    'with one letter': { q: 'o' },
    'with no such word': { q: 'sourdough' },
    'with a word, of a rare deployment': { q: 'refund', deploymentId: 'dep_rare' },
    'with a word, of a user': { q: 'refund', userId: 'user-17' },
  };
  for (const [name, filter] of Object.entries(filters)) {
    await repeated(`conversations ${name}`, () => listConversations(db, tenant, filter, page));
  }
  const taskFilters: Record<string, TaskFilter> = {
    'without a filter': {},
    'of a user': { user_id: 'user-17' },
    'of a rare deployment': { deployment_id: 'dep_rare' },
    failed: { status: 'failed' },
    'failed, of a user': { status: 'failed', user_id: 'user-17' },
    working: { status: 'working' },
    'of an old period': { created_before: month },
    'with a word of all': { q: 'refund' },
    'with no such word': { q: 'sourdough' },
    'with ten words': { q: 'refund order please word seldom o r e p s' },
    'with a word, of a rare deployment': { q: 'refund', deployment_id: 'dep_rare' },
  };
  for (const [name, filter] of Object.entries(taskFilters)) {
    await repeated(`tasks ${name}`, () => listTasks(db, tenant, filter, page));
  }
  const userFilters: Record<string, UserFilter> = {
    'without a filter': {},
    disabled: { status: 'disabled' },
    'with an email': { email: 'ada17@shop.example' },
    'with a word of all': { q: 'ada' },
    'with no such word': { q: 'sourdough' },
    'with a whole id': { q: 'user-17' },
  };
  for (const [name, filter] of Object.entries(userFilters)) {
    await repeated(`users ${name}`, () => listUsers(db, tenant, filter, page));
  }
}

/** The middle of eleven reads. */
async function repeated(what: string, read: () => Promise<readonly unknown[]>): Promise<void> {
  const times: number[] = [];
  let found = 0;
  for (let n = 0; n < 11; n++) {
    const startedAt = performance.now();
    found = (await read()).length;
    times.push(performance.now() - startedAt);
  }
  times.sort((one, other) => one - other);
  console.log(`${what}: ${times[5]?.toFixed(1)} ms, at most ${times[10]?.toFixed(1)} ms, ${found} rows`);
}

/** Two months of events, then the costs of the plain table, and after `vestra admin partition` those of its partitions. */
async function measureEvents(): Promise<void> {
  await timed(`fill ${rows} events`, fillEvents);
  await measureTable('without partitions');
  await removing('delete 200,000 expired events in batches of 1,000', async () => {
    for (let batch = 0; batch < 200; batch++) await pruneEvents(db, new Date(Date.now() - 30 * dayMs), 1000);
  });
  await removing('vacuum', () => client.query('VACUUM events'));
  const env = { DATABASE_URL: postgres.connectionString, VESTRA_DATA_DIR: folder, VESTRA_MASTER_KEY: 'ab'.repeat(32) };
  const operator = await openOperator(readConfig(env));
  let cut = 0;
  await removing('vestra admin partition', async () => {
    const { tables } = await partition(operator, { table: 'events', by: 'week' });
    cut = Date.parse(tables[0]?.from ?? '');
  }).finally(operator.close);
  const perWeek = Math.round(rows / 40);
  await timed(`fill ${perWeek} events into each of four weeks`, async () => {
    for (let week = 0; week < 4; week++) await insertEvents(perWeek, cut + week * 7 * dayMs, 7 * dayMs);
    await client.query('ANALYZE events');
  });
  await measureTable('with partitions');
  const rule = { days: 30, prune: async () => false, partitions: eventPartitions };
  await removing('drop the former table', () => pruneOld(db, [rule], { now: new Date(cut + 31 * dayMs) }));
  await removing('drop the oldest week', () => pruneOld(db, [rule], { now: new Date(cut + 38 * dayMs) }));
  await removing('vacuum', () => client.query('VACUUM events'));
  await measureTable('with partitions, after both');
}

async function fillEvents(): Promise<void> {
  const from = Date.now() - 60 * dayMs;
  const million = 1_000_000;
  await withoutIndexes(client, 'events', async () => {
    for (let done = 0; done < rows; done += million) {
      const count = Math.min(million, rows - done);
      await insertEvents(count, from + (60 * dayMs * done) / rows, (60 * dayMs * count) / rows);
    }
  });
  await client.query('VACUUM ANALYZE events');
}

/** A thousand events share a moment: the time in an id is the slowest part of a row. */
async function insertEvents(count: number, from: number, lengthMs: number): Promise<void> {
  const moments = Array.from({ length: Math.ceil(count / 1000) }, (_, n) => from + (lengthMs * n * 1000) / count);
  await client.query(
    `INSERT INTO events (id, org_id, mode, type, data, created_at)
     SELECT prefix || lpad(n::text, 14, '0'), CASE WHEN n % 10 = 0 THEN 'org_other' ELSE $1 END, $2,
       (ARRAY['turn.settled', 'message.created', 'task.completed', 'task.created'])[n % 4 + 1],
       jsonb_build_object('n', n, 'text', repeat('x', 150)), at
     FROM unnest($3::text[], $4::timestamptz[]) AS moment(prefix, at) CROSS JOIN generate_series(1, 1000) AS n`,
    [
      tenant.orgId,
      tenant.mode,
      moments.map((at) => idOfTime('evt', Math.floor(at))),
      moments.map((at) => new Date(at).toISOString()),
    ],
  );
}

async function measureTable(what: string): Promise<void> {
  const page = { limit: 50, after: null };
  await repeated(`newest 50 events ${what}`, () => listEvents(db, tenant, {}, page));
  await repeated(`newest 50 of a type ${what}`, () => listEvents(db, tenant, { type: 'task.completed' }, page));
  const old = idOfTime('evt', Date.now() - 20 * dayMs);
  await repeated(`50 events of three weeks ago ${what}`, () => listEvents(db, tenant, {}, { limit: 50, after: [old] }));
  const [{ id = '' } = {}] = await listEvents(db, tenant, {}, page);
  await repeated(`one event ${what}`, async () => [await findEvent(db, tenant, id)]);
  await timed(`insert 2,000 events one by one ${what}`, async () => {
    await client.query('BEGIN');
    for (let n = 0; n < 2000; n++) {
      await client.query({
        name: 'insert',
        text: `INSERT INTO events (id, org_id, mode, type, data) VALUES ($1, $2, $3, 'a', '{}')`,
        values: [newId('evt'), tenant.orgId, tenant.mode],
      });
    }
    await client.query('ROLLBACK');
  });
}

async function removing(what: string, work: () => Promise<unknown>): Promise<void> {
  const written = async () =>
    Number((await client.query(`SELECT pg_current_wal_lsn() - '0/0' AS bytes`)).rows[0].bytes);
  const before = await written();
  await timed(what, work);
  console.log(`  ${((await written()) - before) / 1e6} MB of log`);
}

async function timed<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
  const startedAt = performance.now();
  const result = await work();
  console.log(`${what}: ${(performance.now() - startedAt).toFixed(1)} ms`);
  return result;
}
