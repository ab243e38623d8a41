import { idOfTime } from '@vestra/contract/ids';
import type pg from 'pg';
import { auditPartitions, eventPartitions } from '../account/tables.ts';
import { deliveryPartitions } from '../automation/webhooks/tables.ts';
import { stepPartitions } from '../engine/records/run-steps.ts';
import { sharedNow } from '../platform/db/clock.ts';
import { withSession } from '../platform/db/dump.ts';
import {
  borderAfter,
  checkOf,
  createPartitions,
  endOfCheck,
  literal,
  lockTimeout,
  PARTITIONS_LOCK,
  type PartitionedTable,
  type PartitionGroup,
  type Period,
  partitionsOf,
  pastOf,
  quoted,
} from '../platform/db/partitions.ts';
import { sqlState } from '../platform/db/sql.ts';
import { StartFailure } from '../platform/db/start-failure.ts';
import type { Operator, Values } from './operator.ts';
import { createProgress, formatBytes } from './progress.ts';

export const partitionGroups: readonly PartitionGroup[] = [
  eventPartitions,
  stepPartitions,
  deliveryPartitions,
  auditPartitions,
];

export type PartitionReport = {
  tables: { table: string; by: Period; converted: boolean; from: string | null; bytes: number; seconds: number }[];
};

const dayMs = 86_400_000;
/** New ids are admitted by the check for at least this long. The server removes the check of a dead command before. */
const admitMs = 3 * dayMs;

/**
 * Splits tables into partitions while servers run. No row is copied: the former table becomes the partition of the past.
 * Every step can be repeated, so an interrupted command continues.
 */
export async function partition(
  { connectionString }: Pick<Operator, 'connectionString'>,
  values: Values,
): Promise<PartitionReport> {
  const chosen = readGroups(values);
  const period = readPeriod(values);
  const progress = createProgress(process.stderr);
  return withSession(connectionString, async (client) => {
    // Without this, PostgreSQL finishes a long statement of a dead command before the next one may begin.
    await client.query(`SET client_connection_check_interval = '1s'`).catch(() => {});
    const { rows } = await client.query(`SELECT pg_try_advisory_lock(${PARTITIONS_LOCK}) AS is_ours`);
    if (!rows[0]?.is_ours) {
      throw new StartFailure('Another command or a server changes partitions right now: try again in a minute.');
    }
    await assertOrderOfIds(client);
    const tables = [];
    for (const group of chosen) tables.push(...(await convert(client, group, period, progress.show)));
    return { tables };
  }).finally(progress.end);
}

function readGroups({ table = 'all' }: Values): readonly PartitionGroup[] {
  const chosen = partitionGroups.filter(({ name }) => table === 'all' || name === table);
  if (chosen.length > 0) return chosen;
  const names = partitionGroups.map(({ name }) => name).join(', ');
  throw new StartFailure(`--table must be one of ${names} or all, not ${table}.`);
}

function readPeriod({ by = 'week' }: Values): Period {
  if (by !== 'week' && by !== 'month') throw new StartFailure(`--by must be week or month, not ${by}.`);
  return by;
}

/** The ranges hold what they promise only if the database sorts ids by time. */
async function assertOrderOfIds(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ is_sorted: boolean }>(
    `SELECT bool_and('evt_' || a < 'evt_' || b) AND 'task_zz' < 'turn_' AND 'turn_' < 'turn_00' AND 'evt_1010' < 'evt_102' AS is_sorted
       FROM (SELECT substr(s, n, 1) AS a, substr(s, n + 1, 1) AS b
               FROM (SELECT '0123456789abcdefghjkmnpqrstvwxyz' AS s) AS alphabet, generate_series(1, 31) AS n) AS pairs`,
  );
  if (rows[0]?.is_sorted) return;
  throw new StartFailure(
    'The collation of this database does not sort ids by time, which partitions need: move to a database with the locale C.UTF-8 (vestra admin move).',
  );
}

async function convert(client: pg.Client, group: PartitionGroup, period: Period, show: (line: string) => void) {
  const startedAt = performance.now();
  const known = await partitionsOf(client, group.tables[0].table);
  const report = (converted: boolean, by: Period, cut: number | null) =>
    Promise.all(
      group.tables.map(async ({ table }) => ({
        table,
        by,
        converted,
        from: cut === null ? null : new Date(cut).toISOString(),
        bytes: await sizeOf(client, cut === null ? table : pastOf(table)),
        seconds: Math.round((performance.now() - startedAt) / 100) / 10,
      })),
    );
  if (known !== null) return report(false, known.period, null);
  const cut = await chooseCut(client, group, period);
  for (const each of group.tables) await addCheck(client, group, each, cut);
  for (const each of group.tables) await validate(client, each, show);
  show(`Attaching ${group.name}`);
  await swap(client, group, period, cut);
  return report(true, period, cut);
}

const sizeOf = async (client: pg.ClientBase, table: string): Promise<number> =>
  Number(
    (await client.query('SELECT pg_total_relation_size(to_regclass($1)) AS bytes', [quoted(table)])).rows[0].bytes ?? 0,
  );

/** Continues with the checks of an interrupted command, if they admit new ids for long enough. */
async function chooseCut(client: pg.ClientBase, group: PartitionGroup, period: Period): Promise<number> {
  const found = await Promise.all(group.tables.map(({ table }) => endOfCheck(client, table, table)));
  const [first] = found;
  if (first && found.every((each) => each === first) && first > sharedNow() + admitMs - dayMs) {
    if (first === borderAfter(first - 1, period)) return first;
  }
  for (const { table } of group.tables) {
    const drop = `ALTER TABLE ${quoted(table)} DROP CONSTRAINT IF EXISTS ${quoted(checkOf(table))}`;
    await withLocks(client, () => client.query(drop));
  }
  return borderAfter(sharedNow() + admitMs, period);
}

/** From here on, new rows are checked. Existing rows are read later. */
async function addCheck(client: pg.ClientBase, group: PartitionGroup, each: PartitionedTable, cut: number) {
  const { table, key, within } = each;
  if ((await endOfCheck(client, table, table)) === cut) return;
  const ranges = group.prefixes.map((prefix, at) => {
    const before = `${quoted(key)} < ${literal(idOfTime(prefix, cut))}`;
    return at === 0 ? before : `${quoted(key)} >= ${literal(`${prefix}_`)} AND ${before}`;
  });
  const values = within && `${quoted(within.column)} IN (${within.values.map(literal).join(', ')})`;
  const rule = `(${ranges.map((range) => `(${range})`).join(' OR ')})${values ? ` AND ${values}` : ''}`;
  const name = quoted(checkOf(table));
  await withLocks(client, async () => {
    await client.query(`ALTER TABLE ${quoted(table)} ADD CONSTRAINT ${name} CHECK (${rule}) NOT VALID`);
    await client.query(`COMMENT ON CONSTRAINT ${name} ON ${quoted(table)} IS ${literal(new Date(cut).toISOString())}`);
  });
}

const CHECK_VIOLATION = '23514';

/** Reads the table once. Reads and writes continue meanwhile. */
async function validate(client: pg.Client, { table, key }: PartitionedTable, show: (line: string) => void) {
  const bytes = await sizeOf(client, table);
  const seconds = bytes / (await bytesPerSecond(client, table));
  const startedAt = performance.now();
  const showTime = () => {
    const passed = Math.round((performance.now() - startedAt) / 1000);
    show(`Reading ${table} (${formatBytes(bytes)}): ${passed} s of about ${Math.ceil(seconds)} s`);
  };
  showTime();
  const timer = setInterval(showTime, 1000);
  try {
    await client.query(`ALTER TABLE ${quoted(table)} VALIDATE CONSTRAINT ${quoted(checkOf(table))}`);
  } catch (error) {
    if (sqlState(error) !== CHECK_VIOLATION) throw error;
    const drop = `ALTER TABLE ${quoted(table)} DROP CONSTRAINT ${quoted(checkOf(table))}`;
    await withLocks(client, () => client.query(drop));
    const { rows } = await client.query<{ newest: string }>(
      `SELECT max(${quoted(key)}) AS newest FROM ${quoted(table)}`,
    );
    throw new StartFailure(
      `The table ${table} has ids of a far future, such as ${rows[0]?.newest}: a clock was wrong. Nothing was changed. Delete these rows, and try again.`,
    );
  } finally {
    clearInterval(timer);
  }
}

const samplePages = 2_000;
const pageBytes = 8192;

/** Measured on the first pages of the table. */
async function bytesPerSecond(client: pg.ClientBase, table: string): Promise<number> {
  const startedAt = performance.now();
  await client.query(`SELECT count(*) FROM ${quoted(table)} WHERE ctid < '(${samplePages},0)'`);
  return (samplePages * pageBytes) / Math.max(0.001, (performance.now() - startedAt) / 1000);
}

/** Replaces the tables in one transaction, which reads no row. Statements that wait for it continue on the new tables. */
async function swap(client: pg.ClientBase, group: PartitionGroup, period: Period, cut: number): Promise<void> {
  await withLocks(client, async () => {
    for (const { table, within } of group.tables) {
      if (within) await client.query(`LOCK TABLE ONLY ${quoted(within.parent)} IN ACCESS EXCLUSIVE MODE`);
      await client.query(`LOCK TABLE ${quoted(table)} IN ACCESS EXCLUSIVE MODE`);
    }
    for (const each of group.tables) await swapTable(client, group, each, period, cut);
  });
}

type IndexRow = { name: string; definition: string; constraint: string | null; is_unique: boolean; has_key: boolean };

async function swapTable(
  client: pg.ClientBase,
  group: PartitionGroup,
  { table, key, within }: PartitionedTable,
  period: Period,
  cut: number,
): Promise<void> {
  const name = quoted(table);
  const past = quoted(pastOf(table));
  if (within) await client.query(`ALTER TABLE ${quoted(within.parent)} DETACH PARTITION ${name}`);
  const { rows: indexes } = await client.query<IndexRow>(
    `SELECT c.relname AS name, pg_get_indexdef(x.indexrelid) AS definition, x.indisunique AS is_unique,
        (SELECT pg_get_constraintdef(k.oid) FROM pg_constraint k WHERE k.conindid = c.oid AND k.contype IN ('p', 'u')
          AND k.conrelid = x.indrelid) AS constraint,
        EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = x.indrelid AND a.attnum = ANY (x.indkey) AND a.attname = $2) AS has_key
       FROM pg_index x JOIN pg_class c ON c.oid = x.indexrelid WHERE x.indrelid = to_regclass($1) ORDER BY c.relname`,
    [name, key],
  );
  const { rows: foreign } = await client.query<{ name: string; definition: string }>(
    `SELECT conname AS name, pg_get_constraintdef(oid) AS definition FROM pg_constraint
      WHERE conrelid = to_regclass($1) AND contype = 'f'`,
    [name],
  );
  const grants = await grantsOn(client, table);
  await client.query(`ALTER TABLE ${name} RENAME TO ${past}`);
  for (const index of indexes) {
    await client.query(`ALTER INDEX ${quoted(index.name)} RENAME TO ${quoted(`${index.name}_past`)}`);
  }
  await client.query(
    `CREATE TABLE ${name} (LIKE ${past} INCLUDING ALL EXCLUDING INDEXES EXCLUDING STATISTICS) PARTITION BY RANGE (${quoted(key)})`,
  );
  await client.query(`ALTER TABLE ${name} DROP CONSTRAINT ${quoted(checkOf(table))}`);
  await client.query(`COMMENT ON TABLE ${name} IS ${literal(`Partitions by ${period}.`)}`);
  for (const index of indexes) {
    // An index that is unique without the key can only exist in each partition.
    if (index.is_unique && !index.has_key) continue;
    await client.query(
      index.constraint === null
        ? index.definition.replace(/ ON \S+ USING /, ` ON ${name} USING `)
        : `ALTER TABLE ${name} ADD CONSTRAINT ${quoted(index.name)} ${index.constraint}`,
    );
  }
  for (const each of foreign) {
    await client.query(`ALTER TABLE ${name} ADD CONSTRAINT ${quoted(each.name)} ${each.definition}`);
  }
  for (const grant of grants) await client.query(grant);
  await client.query(`ALTER TABLE ${name} ATTACH PARTITION ${past} DEFAULT`);
  for (const prefix of group.prefixes) await createPartitions(client, { group, table, prefix, period }, cut);
  if (within) {
    const values = within.values.map(literal).join(', ');
    await client.query(`ALTER TABLE ${quoted(within.parent)} ATTACH PARTITION ${name} FOR VALUES IN (${values})`);
  }
  await client.query(
    `CREATE TRIGGER refuse_delete_by_place BEFORE DELETE ON ${name} EXECUTE FUNCTION refuse_delete_by_place()`,
  );
}

/** Other roles may read the table, for reports. */
async function grantsOn(client: pg.ClientBase, table: string): Promise<string[]> {
  const { rows } = await client.query<{ statement: string }>(
    `SELECT format('ALTER TABLE %s OWNER TO %I', $1::text, pg_get_userbyid(relowner)) AS statement
       FROM pg_class WHERE oid = to_regclass($1)
     UNION ALL
     SELECT format('GRANT %s ON %s TO %s', privilege_type, $1::text,
         CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END)
       FROM pg_class, aclexplode(relacl) AS a WHERE oid = to_regclass($1) AND a.grantee <> relowner`,
    [quoted(table)],
  );
  return rows.map(({ statement }) => statement);
}

const LOCK_NOT_AVAILABLE = '55P03';
const DEADLOCK = '40P01';
const maxAttempts = 240;

/** Waits half a second for its locks, because other statements wait behind it, and then tries again. */
async function withLocks(client: pg.ClientBase, work: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await client.query(`BEGIN; SET LOCAL lock_timeout = '${lockTimeout}'`);
      await work();
      await client.query('COMMIT');
      return;
    } catch (error) {
      await client.query('ROLLBACK');
      const isBusy = sqlState(error) === LOCK_NOT_AVAILABLE || sqlState(error) === DEADLOCK;
      if (!isBusy) throw error;
      if (attempt === maxAttempts) {
        throw new StartFailure('The tables are in use by long statements, such as a backup: try again afterwards.');
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}
