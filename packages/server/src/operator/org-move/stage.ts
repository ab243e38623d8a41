import type { Readable } from 'node:stream';
import pg from 'pg';
import { addRows, columnList, type DumpedTable, quoted } from '../../platform/db/dump.ts';
import { StartFailure } from '../../platform/db/start-failure.ts';
import { forOrg } from './schema.ts';
import { movedTables } from './tables.ts';

/** Text of these columns names rows of other tables by their ids. */
const textWithIds: Readonly<Record<string, readonly string[]>> = {
  org_settings: ['default_deployment'],
  users: ['default_deployment'],
  deployment_versions: ['uses', 'manifest', 'content', 'file_objects'],
  messages: ['sources'],
  run_calls: ['sources', 'passages'],
  jobs: ['key', 'payload'],
};

/** Ids that the org chooses itself, or that name no row. */
const freeIds: ReadonlySet<string> = new Set(['user_id', 'org_id', 'request_id', 'client_id', 'credential_id']);

/** The rows of an archive are written under the eyes of these checks. Nothing of them is trusted. */
export type Stage = {
  /** Adds the rows of one table, after the tables that they refer to. Returns how many came. */
  add: (table: DumpedTable, rows: Readable) => Promise<number>;
  /** Throws if any row names a row of another org. */
  assertNoneForeign: () => Promise<void>;
};

export async function openStage(client: pg.Client, orgId: string): Promise<Stage> {
  await client.query('CREATE TEMP TABLE named_ids (id text, named_by text) ON COMMIT DROP');
  return {
    async add(table, rows) {
      const { name } = table;
      const { rows: condition, must = 'true', isShared } = movedTables[name] as (typeof movedTables)[string];
      await client.query(
        `CREATE TEMP TABLE staged_rows ON COMMIT DROP AS SELECT ${columnList(table)} FROM ${quoted(name)} WITH NO DATA`,
      );
      const count = await addRows(client, { name: 'staged_rows', columns: table.columns }, rows);
      const foreign = await client.query(
        forOrg(`SELECT FROM staged_rows AS staged WHERE ((${condition}) AND (${must})) IS NOT TRUE LIMIT 1`, orgId),
      );
      if (foreign.rowCount) throw refused(`a row of ${name} does not belong to ${orgId}`);
      await noteIds(client, table);
      await insert(client, table, isShared === true);
      await client.query('DROP TABLE staged_rows');
      return count;
    },

    async assertNoneForeign() {
      for (const table of await tablesById(client)) {
        const { rows } = await client.query<{ id: string; named_by: string }>(
          `SELECT n.id, n.named_by FROM named_ids n JOIN ${quoted(table)} AS t ON t.id = n.id WHERE t.org_id <> $1 LIMIT 1`,
          [orgId],
        );
        const [found] = rows;
        if (found) throw refused(`${found.named_by} names ${found.id}, which belongs to another org`);
      }
    },
  };
}

async function insert(client: pg.Client, table: DumpedTable, isShared: boolean): Promise<void> {
  const columns = columnList(table);
  try {
    await client.query(
      `INSERT INTO ${quoted(table.name)} (${columns}) SELECT ${columns} FROM staged_rows ${isShared ? 'ON CONFLICT DO NOTHING' : ''}`,
    );
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || !isOfTheRows(error)) throw error;
    throw refused(
      error.code === uniqueViolation
        ? `a row of ${table.name} has an id that this installation uses already`
        : `a row of ${table.name} breaks the rule ${error.constraint ?? error.column}`,
    );
  }
}

const uniqueViolation = '23505';
/** Violations of constraints. */
const isOfTheRows = ({ code }: pg.DatabaseError) => code?.startsWith('23') === true;

/** Notes the ids that the staged rows name. Ids of the rows themselves are checked by their key. */
async function noteIds(client: pg.Client, { name, columns }: DumpedTable): Promise<void> {
  const { rows } = await client.query<{ column: string }>(
    `SELECT attname::text AS column FROM pg_attribute
      WHERE attrelid = 'staged_rows'::regclass AND attnum > 0 AND atttypid = 'text'::regtype`,
  );
  const plain = rows.map(({ column }) => column).filter((column) => column.endsWith('_id') && !freeIds.has(column));
  for (const column of plain) {
    await client.query(
      `INSERT INTO named_ids SELECT DISTINCT ${quoted(column)}, ${pg.escapeLiteral(`${name}.${column}`)}
        FROM staged_rows WHERE ${quoted(column)} IS NOT NULL`,
    );
  }
  for (const column of (textWithIds[name] ?? []).filter((each) => columns.includes(each))) {
    await client.query(
      `INSERT INTO named_ids SELECT DISTINCT found.match[1], ${pg.escapeLiteral(`${name}.${column}`)}
        FROM staged_rows, LATERAL regexp_matches(${quoted(column)}::text, '([a-z]{2,5}_[0-9a-hjkmnp-tv-z]{24})', 'g')
          AS found (match)`,
    );
  }
}

/** Tables whose rows are found by their id alone. Others are always read with their org. */
async function tablesById(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT DISTINCT c.relname AS name FROM pg_index i
       JOIN pg_class c ON c.oid = i.indrelid AND c.relnamespace = current_schema()::regnamespace
       JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
      WHERE i.indisunique AND i.indnkeyatts = 1 AND a.attname = 'id' AND a.atttypid = 'text'::regtype AND EXISTS (
        SELECT FROM pg_attribute o WHERE o.attrelid = c.oid AND o.attname = 'org_id' AND NOT o.attisdropped)`,
  );
  return rows.map(({ name }) => name);
}

export const refused = (what: string): StartFailure =>
  new StartFailure(`The archive was refused: ${what}. Nothing was changed.`);
