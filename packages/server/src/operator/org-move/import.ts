import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { idPattern } from '@vestra/contract/ids';
import pg from 'pg';
import { unpackHome } from '../../computers/index.ts';
import { migrationsFolder } from '../../main/postgres.ts';
import { addRows, columnList, type DumpedTable, quoted, withSession } from '../../platform/db/dump.ts';
import { countBaseline, readMigrations } from '../../platform/db/migrate.ts';
import { send } from '../../platform/db/pipeline.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { StartFailure } from '../../platform/db/start-failure.ts';
import { withFiles } from '../../platform/files/open-files.ts';
import { VaultFailure } from '../../platform/secrets/vault.ts';
import { version } from '../../platform/version.ts';
import { type Manifest, manifestName, type Opening, openingName } from '../archive/format.ts';
import { partsOf, readOpening, verifyArchive } from '../archive/reader.ts';
import type { Operator } from '../operator.ts';
import { formatBytes, type Progress } from '../progress.ts';
import { sealScope } from './export.ts';
import { readTransportKey, rewrapVault } from './keys.ts';
import { lockMove, putMove } from './moves.ts';
import { removeRows } from './remove.ts';
import { columnsOfMoved, forOrg, movedTables } from './tables.ts';

export type ImportReport = {
  org_id: string;
  move_id: string;
  /** `imported`: by this command. Otherwise nothing was changed. */
  outcome: 'imported' | 'imported_before' | 'active';
  receipt: string | null;
  rows: number;
  files: number;
  homes: number;
};

type OrgArchive = {
  path: string;
  opening: Opening;
  manifest: Manifest;
  orgId: string;
  move: NonNullable<Manifest['move']>;
};

/**
 * Imports an org in one transaction, frozen. Files are written before the commit, so that an import that was cut off
 * leaves no row, and the repeated command completes it.
 */
export async function importOrg(
  operator: Operator,
  { file, keyFile }: { file: string; keyFile: string },
  progress: Progress,
): Promise<ImportReport> {
  const archive = await openOrgArchive(resolve(file), progress);
  const wrapped = await unsealed(operator, archive, keyFile);
  return withSession(operator.connectionString, async (client) => {
    await client.query('BEGIN');
    const tx: Transaction = { send: (statements) => send(client, statements) };
    const { orgId, manifest, move } = archive;
    const report = {
      ...{ org_id: orgId, move_id: move.move_id, files: manifest.files.count, homes: move.homes.length },
      rows: manifest.tables.reduce((sum, { rows }) => sum + rows, 0),
    };
    // Two imports of the same org must not overlap, and neither has a row to lock yet.
    await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`org import ${orgId}`]);
    const before = await lockMove(tx, orgId);
    if (before?.move_id === move.move_id && (before.state === 'arriving' || before.state === 'arrived')) {
      const outcome = before.state === 'arriving' ? 'imported_before' : 'active';
      return { ...report, outcome, receipt: before.state === 'arriving' ? before.receipt : null } as const;
    }
    // A copy that was never active holds nothing that the newer archive lacks.
    if (before?.state === 'arriving') await removeRows(client, orgId);
    else await assertAbsent(client, orgId);
    const receipt = `receipt_${randomBytes(18).toString('hex')}`;
    await fill(client, archive, progress);
    await client.query('UPDATE orgs SET wrapped_data_key = $2 WHERE id = $1', [orgId, wrapped]);
    await putMove(tx, {
      ...{ org_id: orgId, move_id: move.move_id, state: 'arriving', receipt, snapshot: null },
      ...{ sealed_signing_key: null, verify_key: Buffer.from(move.verify_key, 'base64') },
    });
    await putContents(operator, client, archive, progress);
    await client.query('COMMIT');
    return { ...report, outcome: 'imported', receipt } as const;
  });
}

async function openOrgArchive(path: string, progress: Progress): Promise<OrgArchive> {
  const opening = await readOpening(path);
  const orgId = opening.org?.id;
  if (orgId === undefined) {
    throw new StartFailure(
      `${path} is a backup of a whole installation: use vestra admin restore. Nothing was changed.`,
    );
  }
  if (!idPattern('org').test(orgId)) throw refused('it names no org id');
  await assertSameSchema(opening);
  let read = 0;
  const manifest = await verifyArchive(path, (bytes) => {
    read += bytes;
    progress.show(`Checking the archive: ${formatBytes(read)}`);
  });
  const { move } = manifest;
  if (!move) throw refused('it lacks the description of the move');
  assertNames(manifest, orgId);
  for await (const { name, content } of partsOf(path, { isWanted: (part) => !isListed(manifest, part) })) {
    if (!isFileOf(orgId, name)) throw refused(`it has a part ${JSON.stringify(name.slice(0, 200))}`);
    for await (const _ of content);
  }
  return { path, opening, manifest, orgId, move };
}

const isListed = ({ parts }: Manifest, name: string) =>
  name === manifestName || name === 'end' || parts.some((part) => part.name === name);

const isFileOf = (orgId: string, name: string) => {
  const [folder, owner, sha256, ...more] = name.split('/');
  return folder === 'files' && owner === orgId && /^[0-9a-f]{64}$/.test(sha256 ?? '') && more.length === 0;
};

/** Both installations must have the same tables and columns: rows are not translated between versions. */
async function assertSameSchema({ migrations, version: theirs }: Opening): Promise<void> {
  const known = await readMigrations(migrationsFolder);
  const applied = new Map(countBaseline(known, migrations).map(({ name, sha256 }) => [name, sha256]));
  const isSame = applied.size === known.length && known.every(({ name }) => applied.has(name));
  if (isSame) return;
  throw new StartFailure(
    `The archive was written by Vestra ${theirs} with another database schema than that of this Vestra ${version}: bring both installations to the same version and export again. Nothing was changed.`,
  );
}

function assertNames({ tables, parts, move }: Manifest, orgId: string): void {
  const homes = new Set(move?.homes.map(({ part }) => part));
  const tableParts = new Set(tables.map(({ name }) => `database/${name}.copy.gz`));
  for (const { name } of parts) {
    const isKnown =
      name === openingName || tableParts.has(name) || (homes.has(name) && /^homes\/\d{9}\.home$/.test(name));
    if (!isKnown) throw refused(`it has a part ${JSON.stringify(name.slice(0, 200))}`);
  }
  const names = tables.map(({ name }) => name);
  if (names.join() !== Object.keys(movedTables).join()) throw refused('its tables are not those of an org');
  if (tables.some(({ name, part }) => part !== `database/${name}.copy.gz`))
    throw refused(`a table of ${orgId} has another part`);
}

/** Seals the data key under the master key of this installation. Returns it only if the archive is unchanged. */
async function unsealed({ vault, masterKeys }: Operator, archive: OrgArchive, keyFile: string): Promise<Buffer> {
  const { orgId, opening, manifest, move } = archive;
  const transport = await readTransportKey(keyFile);
  try {
    const wrapped = rewrapVault(transport, masterKeys).rewrap(Buffer.from(move.wrapped_data_key, 'base64'), orgId);
    const parts = manifest.parts.filter(({ name }) => name !== openingName);
    vault.open({ orgId, wrapped }, Buffer.from(move.seal, 'base64'), sealScope(opening, { ...manifest, parts }, move));
    return wrapped;
  } catch (error) {
    if (!(error instanceof VaultFailure)) throw error;
    throw new StartFailure(
      `The transport key ${keyFile} does not open this archive, or the archive was changed. Nothing was changed here.`,
    );
  }
}

async function assertAbsent(client: pg.Client, orgId: string): Promise<void> {
  const { rows } = await client.query<{ status: string }>('SELECT status FROM orgs WHERE id = $1', [orgId]);
  const [org] = rows;
  if (!org) return;
  throw new StartFailure(
    org.status === 'moved'
      ? `${orgId} was moved from here earlier. Remove the rest with vestra admin org remove ${orgId}, and import again. Nothing was changed.`
      : `${orgId} is in this installation already, and not from this archive. Nothing was changed.`,
  );
}

async function fill(client: pg.Client, { path, manifest, orgId }: OrgArchive, progress: Progress): Promise<void> {
  const stage = await openStage(client, orgId);
  const expected = new Map((await columnsOfMoved(client)).map((table) => [table.name, table]));
  const byPart = new Map(manifest.tables.map((table) => [table.part, table]));
  for await (const { name, content } of partsOf(path, { isWanted: (part) => byPart.has(part) })) {
    const table = byPart.get(name) as Manifest['tables'][number];
    progress.show(`Table ${table.name} (${table.rows} rows)`);
    if (expected.get(table.name)?.columns.join() !== table.columns.join())
      throw refused(`${table.name} has other columns`);
    const rows = await stage.add(table, unpacked(content));
    if (rows !== table.rows) throw refused(`${table.name} has ${rows} rows instead of ${table.rows}`);
  }
  await stage.assertNoneForeign();
}

/** Writes files to the store, and homes to the store or the disk, as this installation keeps them. */
async function putContents(
  { config }: Operator,
  client: pg.Client,
  { path, orgId, move, manifest }: OrgArchive,
  progress: Progress,
): Promise<void> {
  const homes = new Map(move.homes.map((home) => [home.part, home]));
  const sums = new Map(manifest.parts.map(({ name, sha256 }) => [name, sha256]));
  let count = 0;
  await client.query(
    'UPDATE computers SET saved_name = NULL, saved_sha256 = NULL, saved_bytes = NULL WHERE org_id = $1',
    [orgId],
  );
  await withFiles(config, async (store) => {
    const isWanted = (part: string) => homes.has(part) || isFileOf(orgId, part);
    for await (const { name, content } of partsOf(path, { isWanted })) {
      const home = homes.get(name);
      if (!home) {
        const put = await store.put(orgId, name.split('/')[2] as string, content);
        // The store skips content that it has, but each part must be read to its end.
        for await (const _ of content);
        progress.show(`${++count} files (${formatBytes(put.bytes)})`);
        continue;
      }
      const owner = [orgId, home.mode, home.user_key];
      const sha256 = sums.get(name) as string;
      if (config.computer.savesHomes) {
        const stored = `${randomBytes(16).toString('hex')}.home`;
        const { bytes } = await store.put(orgId, stored, content);
        await client.query(
          `UPDATE computers SET saved_name = $4, saved_sha256 = $5, saved_bytes = $6, saved_at = coalesce(saved_at, now())
            WHERE org_id = $1 AND mode = $2 AND user_key = $3`,
          [...owner, stored, sha256, bytes],
        );
        continue;
      }
      const { rows } = await client.query<{ number: string }>(
        'SELECT number FROM computers WHERE org_id = $1 AND mode = $2 AND user_key = $3',
        owner,
      );
      if (!rows[0]) throw refused('it has a home without a computer');
      await unpackHome(config.dataDir, Number(rows[0].number), content, sha256);
    }
  });
}

/** The reader of the result sees any error of the input. */
function unpacked(content: AsyncIterable<Buffer>): Readable {
  const gunzip = createGunzip();
  pipeline(content, gunzip).catch(() => {});
  return gunzip;
}

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
type Stage = {
  /** Adds the rows of one table, after the tables that they refer to. Returns how many came. */
  add: (table: DumpedTable, rows: Readable) => Promise<number>;
  /** Throws if any row names a row of another org. */
  assertNoneForeign: () => Promise<void>;
};

async function openStage(client: pg.Client, orgId: string): Promise<Stage> {
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
      await insertTable(client, table, isShared === true);
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

async function insertTable(client: pg.Client, table: DumpedTable, isShared: boolean): Promise<void> {
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

const refused = (what: string): StartFailure =>
  new StartFailure(`The archive was refused: ${what}. Nothing was changed.`);
