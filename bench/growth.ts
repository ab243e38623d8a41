/**
 * Measures what a large installation costs: `node bench/growth.ts 5000000` fills that many rows by SQL and prints the
 * times of the usage report, of lists, of retention and of vacuum. Fifty million rows need tens of gigabytes. A second
 * word measures one part: `usage`, `events` or `lists`.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { usageGroups } from '@vestra/contract/usage';
import { startEmbeddedPostgres } from '@vestra/server/platform/db/embedded';
import pg from 'pg';
import { insertOrg } from '../packages/server/src/account/orgs/store.ts';
import { sumUsageDays } from '../packages/server/src/billing/sum-usage.ts';
import { sumUsage } from '../packages/server/src/billing/usage-sums.ts';
import { type ConversationFilter, listConversations } from '../packages/server/src/engine/records/conversations.ts';
import { listTasks, type TaskFilter } from '../packages/server/src/engine/records/tasks.ts';
import { migrate } from '../packages/server/src/platform/db/migrate.ts';
import { closeDatabase, openDatabase } from '../packages/server/src/platform/db/pool.ts';
import { listUsers, type UserFilter } from '../packages/server/src/users/store.ts';
import { fillRows, withoutIndexes } from '../tests/support/many-rows.ts';

const rows = Number(process.argv[2] ?? 1_000_000);
const only = process.argv[3];
const parts = 8;
const idOf = (n: number) => `evt_${String(n).padStart(24, '0')}`;
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

async function measureEvents(): Promise<void> {
  await timed(`fill ${rows} events`, async () => {
    await withoutIndexes(client, 'events', async () => {
      for (let from = 0; from < rows; from += 500_000) {
        await client.query(
          `INSERT INTO events (id, org_id, mode, type, data, created_at)
         SELECT 'evt_' || lpad(n::text, 24, '0'), $1, $2, 'turn.settled', jsonb_build_object('n', n, 'text', repeat('x', 300)),
           now() - interval '60 days' + n * interval '60 days' / $3::int
         FROM generate_series($4::int, $5::int) AS n`,
          [tenant.orgId, tenant.mode, rows, from, Math.min(from + 500_000, rows) - 1],
        );
      }
    });
    await client.query('VACUUM ANALYZE events');
  });
  await timed('copy them into eight partitions by id', async () => {
    await client.query(
      `CREATE TABLE parted (LIKE events INCLUDING DEFAULTS, PRIMARY KEY (org_id, mode, id)) PARTITION BY RANGE (id)`,
    );
    for (let part = 0; part < parts; part++) {
      const bound = (at: number) => (at === parts ? 'MAXVALUE' : `'${idOf(Math.round((rows * at) / parts))}'`);
      await client.query(
        `CREATE TABLE parted_${part} PARTITION OF parted FOR VALUES FROM (${bound(part)}) TO (${bound(part + 1)})`,
      );
    }
    await client.query('CREATE INDEX ON parted (org_id, mode, type, id DESC)');
    await client.query('INSERT INTO parted SELECT * FROM events');
    await client.query('VACUUM ANALYZE parted');
  });
  for (const table of ['events', 'parted']) {
    await list(table);
    await timed(`insert 10,000 rows one by one into ${table}`, async () => {
      await client.query('BEGIN');
      for (let n = 0; n < 10_000; n++) {
        const values = [idOf(rows + n), tenant.orgId, tenant.mode];
        await client.query({
          name: table,
          text: `INSERT INTO ${table} (id, org_id, mode, type, data) VALUES ($1, $2, $3, 'a', '{}')`,
          values,
        });
      }
      await client.query('ROLLBACK');
    });
  }
  await removing('delete half of the events in batches of 1,000', async () => {
    for (;;) {
      const { rowCount } = await client.query(
        `DELETE FROM events WHERE ctid IN (SELECT ctid FROM events
           WHERE created_at < now() - interval '30 days' LIMIT 1000 FOR UPDATE SKIP LOCKED)`,
      );
      if (!rowCount) return;
    }
  });
  await removing('drop half of the partitions', async () => {
    for (let part = 0; part < parts / 2; part++) await client.query(`DROP TABLE parted_${part}`);
  });
  for (const table of ['events', 'parted']) {
    await timed(`vacuum ${table}`, () => client.query(`VACUUM ${table}`));
    await list(table);
  }
}

async function list(table: string): Promise<void> {
  const read = () =>
    client.query({
      name: `list ${table}`,
      text: `SELECT * FROM ${table} WHERE org_id = $1 AND mode = $2 ORDER BY id DESC LIMIT 50`,
      values: [tenant.orgId, tenant.mode],
    });
  await read();
  await timed(`list 50 of ${table}, 100 times`, async () => {
    for (let n = 0; n < 100; n++) await read();
  });
}

async function removing(what: string, work: () => Promise<void>): Promise<void> {
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
