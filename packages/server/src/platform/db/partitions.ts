import { type IdPrefix, idOfTime, timeOfId } from '@vestra/contract/ids';
import pg from 'pg';
import { sharedNow } from './clock.ts';
import type { Database } from './pool.ts';
import { sqlState } from './sql.ts';

/**
 * Tables that the operator may split into a partition per week or month. Ids begin with their time, so the key is the
 * range of the partitions, and every statement stays as it is.
 */
export type PartitionGroup = {
  /** As in `vestra admin partition --table`. */
  name: string;
  /** The prefixes of the ids in the key, in order. Each has separate partitions. */
  prefixes: readonly IdPrefix[];
  /** They are partitioned and dropped together. The first has an index on `created_at`, by which rows expire. */
  tables: readonly [PartitionedTable, ...PartitionedTable[]];
  /** Whether rows with a key from `from` up to `to` must stay although they have expired. */
  isInUse?: (db: Database, from: string, to: string) => Promise<boolean>;
};

export type PartitionedTable = {
  table: string;
  key: string;
  /** Set if the table is a partition itself. */
  within?: { parent: string; column: string; values: readonly string[] };
};

export type Period = 'week' | 'month';
const dayMs = 86_400_000;
export const longestMs: Readonly<Record<Period, number>> = { week: 7 * dayMs, month: 31 * dayMs };

/** How far ahead partitions exist. Later ids are stored in the partition `_later`. */
const aheadMs: Readonly<Record<Period, number>> = { week: 35 * dayMs, month: 70 * dayMs };

/** Other statements on the table wait behind a statement that waits for this lock. */
export const lockTimeout = '500ms';

/** The first moment of a week (Monday) or month, in UTC, after this one. */
export function borderAfter(time: number, period: Period): number {
  const at = new Date(time);
  if (period === 'month') return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1);
  const day = Math.floor(time / dayMs);
  // 1 January 1970 was a Thursday.
  return (day - ((day + 3) % 7) + 7) * dayMs;
}

/** A partition: rows with a key from `from` up to `to`. Without both it is the one for all other keys. */
type Partition = { name: string; from: string | null; to: string | null };
export type Partitions = { period: Period; all: Partition[] };

/** The check that lets PostgreSQL attach the former table without reading it. */
export const checkOf = (table: string): string => `${table}_before_partitions`;
/** The former table, and after it was dropped an empty one for keys of that time. */
export const pastOf = (table: string): string => `${table}_past`;
const stemOf = (group: PartitionGroup, table: string, prefix: IdPrefix) =>
  group.prefixes.length > 1 ? `${table}_${prefix}` : table;
const laterOf = (group: PartitionGroup, table: string, prefix: IdPrefix): string =>
  `${stemOf(group, table, prefix)}_later`;

export const quoted = (name: string): string => pg.escapeIdentifier(name);
export const literal = (text: string): string => pg.escapeLiteral(text);

/** The exclusive end of the keys with this prefix. */
function endOfPrefix(group: PartitionGroup, prefix: IdPrefix): string {
  const next = group.prefixes[group.prefixes.indexOf(prefix) + 1];
  return next === undefined ? 'MAXVALUE' : literal(`${next}_`);
}

/** Reads the form of a table from the catalogue. Null: it has no partitions. */
export async function partitionsOf(client: Queries, table: string): Promise<Partitions | null> {
  const { rows } = await client.query<{ comment: string | null; name: string | null; bound: string | null }>(
    `SELECT obj_description(t.oid, 'pg_class') AS comment, c.relname AS name, pg_get_expr(c.relpartbound, c.oid) AS bound
       FROM pg_class t LEFT JOIN pg_inherits i ON i.inhparent = t.oid LEFT JOIN pg_class c ON c.oid = i.inhrelid
      WHERE t.oid = to_regclass($1) AND t.relkind = 'p' ORDER BY c.relname`,
    [quoted(table)],
  );
  if (rows.length === 0) return null;
  return {
    period: rows[0]?.comment?.includes('month') ? 'month' : 'week',
    all: rows.flatMap(({ name, bound }) => (name === null ? [] : [{ name, ...boundsIn(bound ?? '') }])),
  };
}

type Queries = { query: pg.ClientBase['query'] };

function boundsIn(bound: string): { from: string | null; to: string | null } {
  const [, from = null, to = null] = /^FOR VALUES FROM \('([^']*)'\) TO \((?:'([^']*)'|MAXVALUE)\)$/.exec(bound) ?? [];
  return { from, to };
}

/** Creates the partitions of `prefix` from `start` on, and the one for all later keys. */
export async function createPartitions(
  client: pg.ClientBase,
  { group, table, prefix, period }: { group: PartitionGroup; table: string; prefix: IdPrefix; period: Period },
  start: number,
): Promise<void> {
  const until = sharedNow() + aheadMs[period];
  let from = start;
  while (from < until) {
    const to = borderAfter(from, period);
    const day = new Date(from).toISOString().slice(0, 10).replaceAll('-', '');
    await createPartition(client, table, `${stemOf(group, table, prefix)}_${day}`, rangeOf(prefix, from, to));
    from = to;
  }
  const rest = `FOR VALUES FROM (${literal(idOfTime(prefix, from))}) TO (${endOfPrefix(group, prefix)})`;
  await createPartition(client, table, laterOf(group, table, prefix), rest);
}

const rangeOf = (prefix: IdPrefix, from: number, to: number) =>
  `FOR VALUES FROM (${literal(idOfTime(prefix, from))}) TO (${literal(idOfTime(prefix, to))})`;

/**
 * A unique index of the table must contain the key. Others are unique within each partition: they are copied from the
 * former table.
 */
async function createPartition(client: pg.ClientBase, table: string, name: string, bound: string) {
  const { rows } = await client.query<{ definition: string }>(
    `SELECT DISTINCT regexp_replace(pg_get_indexdef(x.indexrelid), '^CREATE UNIQUE INDEX .* USING ', '') AS definition
       FROM pg_index x JOIN pg_inherits i ON i.inhrelid = x.indrelid
      WHERE i.inhparent = to_regclass($1) AND x.indisunique
        AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = x.indexrelid)`,
    [quoted(table)],
  );
  await client.query(`CREATE TABLE ${quoted(name)} PARTITION OF ${quoted(table)} ${bound}`);
  for (const { definition } of rows) await client.query(`CREATE UNIQUE INDEX ON ${quoted(name)} USING ${definition}`);
}

/** Creates missing partitions ahead of time, and removes what an interrupted `vestra admin partition` left behind. */
export async function extendPartitions(db: Database, groups: readonly PartitionGroup[]): Promise<void> {
  for (const group of groups) {
    for (const { table } of group.tables) {
      const known = await partitionsOf(db.$client, table);
      if (known === null) await dropStaleCheck(db, table);
      else for (const prefix of group.prefixes) await extend(db, { group, table, prefix, period: known.period });
    }
  }
}

type Extension = { group: PartitionGroup; table: string; prefix: IdPrefix; period: Period };

async function extend(db: Database, extension: Extension): Promise<void> {
  const { group, table, prefix, period } = extension;
  const later = laterOf(group, table, prefix);
  const startOf = async (client: Queries) => {
    const found = (await partitionsOf(client, table))?.all.find(({ name }) => name === later);
    return found?.from ? timeOfId(found.from) : null;
  };
  const isDue = (start: number | null) => start !== null && start < sharedNow() + aheadMs[period];
  if (!isDue(await startOf(db.$client))) return;
  await exclusively(db, [table], async (client) => {
    const start = await startOf(client);
    if (start === null || !isDue(start)) return;
    const { rowCount } = await client.query(`SELECT FROM ${quoted(later)} LIMIT 1`);
    if (rowCount === 0) {
      await client.query(`DROP TABLE ${quoted(later)}`);
      return createPartitions(client, extension, start);
    }
    // No process has created partitions for a long time. Keep the rows in their table: moving them may take long.
    const end = borderAfter(Math.max(start, sharedNow() + dayMs), period);
    const day = new Date(start).toISOString().slice(0, 10).replaceAll('-', '');
    const name = `${stemOf(group, table, prefix)}_${day}`;
    await client.query(`ALTER TABLE ${quoted(table)} DETACH PARTITION ${quoted(later)}`);
    await client.query(`ALTER TABLE ${quoted(later)} RENAME TO ${quoted(name)}`);
    await createPartitions(client, extension, end);
    const key = quoted(keyOf(group, table));
    await client.query(
      `WITH moved AS (DELETE FROM ${quoted(name)} WHERE ${key} >= ${literal(idOfTime(prefix, end))} RETURNING *)
       INSERT INTO ${quoted(table)} SELECT * FROM moved`,
    );
    await client.query(`ALTER TABLE ${quoted(table)} ATTACH PARTITION ${quoted(name)} ${rangeOf(prefix, start, end)}`);
  });
}

const keyOf = (group: PartitionGroup, table: string) =>
  (group.tables.find((each) => each.table === table) as PartitionedTable).key;

/** The check would refuse ids of a later time, so it must not outlive the command by much. */
async function dropStaleCheck(db: Database, table: string): Promise<void> {
  const isStale = async (client: Queries) =>
    ((await endOfCheck(client, table, table)) ?? Infinity) < sharedNow() + dayMs;
  if (!(await isStale(db.$client))) return;
  await exclusively(db, [table], async (client) => {
    if (!(await isStale(client))) return;
    await client.query(`ALTER TABLE ${quoted(table)} DROP CONSTRAINT ${quoted(checkOf(table))}`);
  });
}

/** The moment up to which the check on the former table admits ids. Null: there is none. */
export async function endOfCheck(client: Queries, table: string, former: string): Promise<number | null> {
  const { rows } = await client.query<{ end: string | null }>(
    `SELECT obj_description(oid, 'pg_constraint') AS end FROM pg_constraint
      WHERE conrelid = to_regclass($1) AND conname = $2`,
    [quoted(former), checkOf(table)],
  );
  const end = Date.parse(rows[0]?.end ?? '');
  if (rows.length === 0) return null;
  // Interrupted before it was recorded.
  return Number.isNaN(end) ? 0 : end;
}

/**
 * Drops the partitions whose newest row is older than `before`. Returns how much longer a row may stay than in a table
 * without partitions.
 */
export async function dropExpired(db: Database, group: PartitionGroup, before: Date): Promise<number> {
  const [{ table }] = group.tables;
  const known = await partitionsOf(db.$client, table);
  if (known === null) return 0;
  for (const partition of known.all) {
    const isOver = (client: Queries) => hasExpired(client, table, partition, before);
    if (!(await isOver(db.$client))) continue;
    const names = await sameIn(db.$client, group, partition);
    if (names === null || (await isBlocked(db, group, partition))) continue;
    const tables = group.tables.map((each) => each.table);
    await exclusively(db, tables, async (client) => {
      if (!(await isOver(client))) return;
      for (const [at, name] of names.entries()) {
        await client.query(`DROP TABLE ${quoted(name)}`);
        const parent = tables[at] as string;
        if (name === pastOf(parent)) await createPartition(client, parent, name, 'DEFAULT');
      }
    });
  }
  return longestMs[known.period];
}

/** A former table is dropped once. The empty one that replaces it stays. */
async function hasExpired(client: Queries, table: string, { name, to }: Partition, before: Date): Promise<boolean> {
  if (name.endsWith('_later')) return false;
  const end = name === pastOf(table) ? await endOfCheck(client, table, name) : to && timeOfId(to);
  if (end === null || end === '' || end > before.getTime()) return false;
  const { rowCount } = await client.query('SELECT FROM pg_class WHERE oid = to_regclass($1)', [quoted(name)]);
  if (rowCount === 0) return false;
  // Rows may have been written long after their id was created.
  const { rows } = await client.query<{ is_over: boolean }>(
    `SELECT coalesce(max(created_at) < $1, true) AS is_over FROM ${quoted(name)}`,
    [before],
  );
  return rows[0]?.is_over === true;
}

/** The partitions of the group's tables with the same rows. Null: a table has no such partition. */
async function sameIn(client: Queries, group: PartitionGroup, { from, to }: Partition): Promise<string[] | null> {
  const names: string[] = [];
  for (const { table } of group.tables) {
    const found = (await partitionsOf(client, table))?.all.find((each) => each.from === from && each.to === to);
    if (!found) return null;
    names.push(found.name);
  }
  return names;
}

const blockedUntil = new Map<string, number>();
const askAgainMs = 3_600_000;

/** The question may read many rows, so it is asked at most once an hour. */
async function isBlocked(db: Database, group: PartitionGroup, { name, from, to }: Partition): Promise<boolean> {
  const { isInUse, prefixes, tables } = group;
  if (!isInUse) return false;
  const key = `${db.$client.options.connectionString} ${name}`;
  if ((blockedUntil.get(key) ?? 0) > performance.now()) return true;
  const end = from === null ? ((await endOfCheck(db.$client, tables[0].table, name)) ?? 0) : 0;
  const ranges =
    from === null || to === null ? prefixes.map((each) => [`${each}_`, idOfTime(each, end)] as const) : [[from, to]];
  for (const [first, last] of ranges) {
    if (!(await isInUse(db, first as string, last as string))) continue;
    blockedUntil.set(key, performance.now() + askAgainMs);
    return true;
  }
  return false;
}

const LOCK_NOT_AVAILABLE = '55P03';
/** Held while partitions change. */
export const PARTITIONS_LOCK = `hashtextextended('vestra partitions', 0)`;

/**
 * Changes partitions in one transaction of one process at a time. It has no effect if the locks are not free: the next
 * run of the job tries again.
 */
async function exclusively(db: Database, tables: readonly string[], work: (client: pg.ClientBase) => Promise<void>) {
  const client = await db.$client.connect();
  let failure: Error | undefined;
  try {
    await client.query(`BEGIN; SET LOCAL lock_timeout = '${lockTimeout}'`);
    const { rows } = await client.query(`SELECT pg_try_advisory_xact_lock(${PARTITIONS_LOCK}) AS is_ours`);
    if (rows[0]?.is_ours) {
      for (const table of tables) await client.query(`LOCK TABLE ONLY ${quoted(table)} IN ACCESS EXCLUSIVE MODE`);
      await work(client);
    }
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch((lost: Error) => {
      failure = lost;
    });
    if (sqlState(error) !== LOCK_NOT_AVAILABLE) throw error;
  } finally {
    client.release(failure);
  }
}
