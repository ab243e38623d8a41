import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type pg from 'pg';
import { packHome } from '../../computers/index.ts';
import { usedContents } from '../../engine/files/index.ts';
import { copyRows, quoted, type Snapshot, withSession, withSnapshot } from '../../platform/db/dump.ts';
import { run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { StartFailure } from '../../platform/db/start-failure.ts';
import type { FileStore } from '../../platform/files/file-store.ts';
import { withFiles } from '../../platform/files/open-files.ts';
import { type MasterKeys, sharedSecret } from '../../platform/secrets/vault.ts';
import { version } from '../../platform/version.ts';
import { memorySecretsToMove } from '../../users/index.ts';
import { format, type Manifest, type Opening } from '../archive/format.ts';
import { type ArchiveWriter, writeArchive } from '../archive/writer.ts';
import { readIntact } from '../backup.ts';
import type { Operator } from '../operator.ts';
import { formatBytes, type Progress } from '../progress.ts';
import { drain, freeze } from './freeze.ts';
import { rewrapVault, writeTransportKey } from './keys.ts';
import { columnsOfMoved, forOrg, movedTables } from './tables.ts';

export type ExportReport = {
  org_id: string;
  move_id: string;
  file: string;
  key_file: string;
  bytes: number;
  rows: number;
  files: number;
  files_missing: number;
  homes: number;
};

/** Freezes an org and writes everything of it to one file, as of one moment. The org stays frozen. */
export async function exportOrg(
  operator: Operator,
  { orgId, file, keyFile, waitMs }: { orgId: string; file: string; keyFile: string; waitMs: number },
  progress: Progress,
): Promise<ExportReport> {
  const path = resolve(file);
  if (await stat(path).catch(() => null)) throw new StartFailure(`${path} is there already: name a new file.`);
  const transport = await writeTransportKey(keyFile);
  const move = await freeze(operator, orgId);
  try {
    await drain(operator.db, orgId, waitMs, progress);
    return await writeFrozen(operator, { orgId, path, keyFile, transport, ...move }, progress);
  } catch (error) {
    if (!(error instanceof StartFailure)) throw error;
    throw new StartFailure(
      `${error.message} ${orgId} stays frozen: repeat the command with new files, or run vestra admin org release ${orgId}.`,
    );
  }
}

type FrozenOrg = {
  orgId: string;
  path: string;
  keyFile: string;
  transport: MasterKeys;
  moveId: string;
  verifyKey: Buffer;
};

function writeFrozen(
  operator: Operator,
  { orgId, path, keyFile, transport, moveId, verifyKey }: FrozenOrg,
  progress: Progress,
): Promise<ExportReport> {
  return withSession(operator.connectionString, async (client) => {
    const done = await withSnapshot(client, 'of this server', async (snapshot) => {
      const { rows } = await client.query<{ taken: string; name: string; wrapped: Buffer }>(
        'SELECT pg_current_snapshot()::text AS taken, name, wrapped_data_key AS wrapped FROM orgs WHERE id = $1',
        [orgId],
      );
      const [org] = rows;
      if (!org) throw new StartFailure(`There is no org ${orgId} in this database.`);
      const { migrations } = snapshot;
      const opening: Opening = {
        ...{ format, version, created_at: new Date().toISOString(), migrations },
        org: { id: orgId, name: org.name },
      };
      const { manifest, size } = await writeArchive(path, opening, async (writer) => {
        const parts = await writeParts(writer, client, snapshot, operator, orgId, progress);
        const move = {
          move_id: moveId,
          verify_key: verifyKey.toString('base64'),
          wrapped_data_key: rewrapVault(operator.masterKeys, transport).rewrap(org.wrapped, orgId).toString('base64'),
          homes: parts.homes,
        };
        const { homes: _, ...rest } = { ...parts, sequences: [], key_check: null };
        const seal = operator.vault.seal(
          { orgId, wrapped: org.wrapped },
          Buffer.alloc(0),
          sealScope(opening, rest, move),
        );
        return { ...rest, move: { ...move, seal: seal.toString('base64') } };
      });
      return { manifest, size, taken: org.taken };
    });
    // Without it the org cannot be handed over: an export that was cut off has no complete archive.
    await run(
      operator.db,
      sql`UPDATE org_moves SET snapshot = ${done.taken} WHERE org_id = ${orgId} AND move_id = ${moveId}`,
    );
    const { tables, files, move } = done.manifest;
    return {
      ...{ org_id: orgId, move_id: moveId, file: path, key_file: resolve(keyFile), bytes: done.size },
      rows: tables.reduce((sum, table) => sum + table.rows, 0),
      ...{ files: files.count, files_missing: files.missing, homes: move?.homes.length ?? 0 },
    };
  });
}

/** The seal of an archive is bound to everything that an import reads, so that nobody without the data key changes it. */
export function sealScope(
  { org, version, migrations }: Opening,
  { tables, files, parts }: Pick<Manifest, 'tables' | 'files' | 'parts'>,
  { move_id, verify_key, wrapped_data_key, homes }: Omit<NonNullable<Manifest['move']>, 'seal'>,
): string[] {
  const named = [
    ...[org?.id, version, ...migrations.flatMap(({ name, sha256 }) => [name, sha256])],
    ...tables.flatMap(({ name, columns, rows, part }) => [name, columns.join(), rows, part]),
    ...[files.count, files.bytes, files.missing],
    ...parts.flatMap(({ name, bytes, sha256 }) => [name, bytes, sha256]),
    ...[move_id, verify_key, wrapped_data_key, ...homes.flatMap(({ mode, user_key, part }) => [mode, user_key, part])],
  ];
  return ['org-archive', createHash('sha256').update(JSON.stringify(named)).digest('hex')];
}

type Written = Pick<Manifest, 'tables' | 'files' | 'parts'> & { homes: NonNullable<Manifest['move']>['homes'] };

async function writeParts(
  writer: ArchiveWriter,
  client: pg.Client,
  snapshot: Snapshot,
  { config, db, vault }: Operator,
  orgId: string,
  progress: Progress,
): Promise<Written> {
  const written: Written = { tables: [], parts: [], homes: [], files: { count: 0, bytes: 0, missing: 0 } };
  const showProgress = (what: string) => progress.show(`${what} (${formatBytes(writer.size())})`);
  const signingSecret = await sharedSecret(db, vault, 'signing-secret');
  const secrets = await memorySecretsToMove({ db, vault, signingSecret }, orgId);
  const memorySecrets = `CASE t.mode WHEN 'test' THEN '\\x${secrets.test.toString('hex')}'
    ELSE '\\x${secrets.live.toString('hex')}' END::bytea`;
  for (const { name, columns } of await columnsOfMoved(client)) {
    showProgress(`Table ${name}`);
    const { rows: condition, from, as = {} } = movedTables[name] as (typeof movedTables)[string];
    const replaced: Record<string, string> =
      name === 'org_settings' ? { ...as, sealed_memory_secrets: memorySecrets } : as;
    const values = columns.map((column) => replaced[column] ?? `t.${quoted(column)}`);
    const select = `SELECT ${values.join(', ')} FROM ${from ?? `${quoted(name)} AS t WHERE ${condition}`}`;
    const rows = copyRows(client, forOrg(select, orgId));
    const part = `database/${name}.copy.gz`;
    written.parts.push(await pipeline(rows, createGzip(), (packed) => writer.addStream(part, packed)));
    written.tables.push({ name, columns, rows: rows.rowCount, part });
  }
  await withFiles(config, async (store) => {
    const homes = config.computer.savesHomes
      ? savedHomes(client, store, orgId)
      : localHomes(client, config.dataDir, orgId);
    for await (const { mode, user_key, content } of homes) {
      const part = `homes/${String(written.homes.length).padStart(9, '0')}.home`;
      written.parts.push(await writer.addStream(part, content));
      written.homes.push({ mode, user_key, part });
      showProgress(`${written.homes.length} homes of computers`);
    }
    for await (const { sha256 } of usedContents(snapshot.tx, orgId)) {
      const content = await readIntact(store, orgId, sha256);
      if (!content) {
        written.files.missing += 1;
        continue;
      }
      await writer.add(`files/${orgId}/${sha256}`, content);
      written.files.count += 1;
      written.files.bytes += content.byteLength;
      showProgress(`${written.files.count} files`);
    }
  });
  return written;
}

type Home = { mode: string; user_key: string; content: AsyncIterable<Uint8Array> };

async function* savedHomes(client: pg.Client, store: FileStore, orgId: string): AsyncGenerator<Home> {
  const { rows } = await client.query<{ mode: string; user_key: string; name: string }>(
    'SELECT mode, user_key, saved_name AS name FROM computers WHERE org_id = $1 AND saved_name IS NOT NULL',
    [orgId],
  );
  for (const { mode, user_key, name } of rows) {
    const opened = await store.open(orgId, name);
    if (!opened) {
      throw new StartFailure(`The saved home of a computer (${mode}, user ${user_key}) is not in the file store.`);
    }
    yield { mode, user_key, content: opened.chunks };
  }
}

async function* localHomes(client: pg.Client, dataDir: string, orgId: string): AsyncGenerator<Home> {
  const { rows } = await client.query<{ mode: string; user_key: string; number: string }>(
    'SELECT mode, user_key, number FROM computers WHERE org_id = $1',
    [orgId],
  );
  for (const { mode, user_key, number } of rows) {
    yield { mode, user_key, content: await packHome(dataDir, Number(number)) };
  }
}
