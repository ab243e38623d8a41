import { existsSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { forgetLostHomes, hasHomes, unpackHomes } from '../computers/index.ts';
import type { Config } from '../platform/config/config.ts';
import type { Load } from '../platform/db/dump.ts';
import { StartFailure } from '../platform/db/start-failure.ts';
import type { FileStore } from '../platform/files/file-store.ts';
import { makeFolder } from '../platform/files/make-folder.ts';
import { withFiles } from '../platform/files/open-files.ts';
import { createVault, formatMasterKeys, isSealedBy, masterKeyFile, openMasterKeys } from '../platform/secrets/vault.ts';
import { homesPart, type Manifest, savedFolder } from './archive/format.ts';
import { partsOf, readOpening, readWhole, verifyArchive } from './archive/reader.ts';
import { assertKnownMigrations, fillDatabase, openUnusedDatabase } from './database-transfer.ts';
import { formatBytes, type Progress } from './progress.ts';

export type RestoreReport = {
  made_by: string;
  made_at: string;
  rows: number;
  files: number;
  /** Computers whose saved home is not in the backup. */
  homes_lost: number;
  into: string;
};

/**
 * Restores a backup into an empty database and an empty data folder. It checks the whole backup before it writes
 * anything.
 */
export async function restore(
  { config, progress }: { config: Config; progress: Progress },
  archive: string,
  keyFile: string | undefined,
): Promise<RestoreReport> {
  const path = resolve(archive);
  const opening = await readOpening(path);
  if (opening.org) {
    throw new StartFailure(
      `${path} holds the org ${opening.org.id} alone: use vestra admin org import. Nothing was changed.`,
    );
  }
  await assertKnownMigrations(opening.migrations, `The backup ${path} was created by Vestra ${opening.version}`);
  const manifest = await verified(path, progress);
  const key = await readKey(config, keyFile);
  assertKey(key, manifest);

  // Bypass the pooler: the lock that keeps servers away belongs to the session.
  let homesLost = 0;
  const postgres = await openUnusedDatabase({ ...config, databaseUrl: config.pooler.directUrl ?? config.databaseUrl });
  try {
    await fillDatabase(postgres, {
      migrations: opening.migrations,
      sequences: manifest.sequences,
      check: async ({ isUnfinished }) => {
        if (isUnfinished || !(await hasHomes(config.dataDir))) return;
        throw new StartFailure(
          `The data folder ${config.dataDir} holds computers already: nothing was changed. Set VESTRA_DATA_DIR to a new one.`,
        );
      },
      fill: (load) => fillTables(path, manifest, load, progress),
      beside: async () => {
        await withFiles(config, (files) => putFiles(path, manifest, files, progress));
        await putHomes(path, config, progress);
        if (key.isNew) await putKey(config, key);
      },
      after: async (db) => {
        homesLost = await withFiles(config, (files) => forgetLostHomes(db, files));
      },
    });
  } finally {
    await postgres.stop();
  }
  return {
    made_by: opening.version,
    made_at: opening.created_at,
    rows: manifest.tables.reduce((sum, { rows }) => sum + rows, 0),
    files: manifest.files.count,
    homes_lost: homesLost,
    into: postgres.name,
  };
}

async function verified(path: string, progress: Progress): Promise<Manifest> {
  const { size } = await stat(path);
  let read = 0;
  return verifyArchive(path, (bytes) => {
    read += bytes;
    progress.show(`Checking the backup: ${formatBytes(read)} of ${formatBytes(size)}`);
  });
}

type Key = { text: string; isNew: boolean };

/** The key that the server will use: the setting, the existing file, or the given file, which is copied. */
async function readKey({ dataDir, masterKey }: Config, given: string | undefined): Promise<Key> {
  if (given === undefined) {
    if (!masterKey && !existsSync(masterKeyFile(dataDir))) {
      throw new StartFailure(
        'The backup does not hold the master key of its server: give it with --master-key-file <file> or VESTRA_MASTER_KEY. Without it no secret in the backup can be read.',
      );
    }
    return { text: formatMasterKeys({ dataDir, masterKey }), isNew: false };
  }
  if (masterKey) {
    throw new StartFailure('VESTRA_MASTER_KEY is set, which the server will use: leave --master-key-file out.');
  }
  const text = await readFile(given, 'utf8').catch((error) => {
    throw new StartFailure(`The master key ${given} cannot be read (${error.code}).`);
  });
  const file = masterKeyFile(dataDir);
  if (existsSync(file) && (await readFile(file, 'utf8')) !== text) {
    throw new StartFailure(`${file} is there already and is another key: set VESTRA_DATA_DIR to a new folder.`);
  }
  return { text, isNew: true };
}

async function putKey({ dataDir }: Config, { text }: Key): Promise<void> {
  try {
    await makeFolder(dataDir, 0o711);
    await writeFile(masterKeyFile(dataDir), text, { mode: 0o600, flush: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartFailure(
      `The master key cannot be written to ${dataDir} (${code}): fix that and run the command again.`,
    );
  }
}

function assertKey({ text }: Key, { key_check }: Manifest): void {
  const keys = openMasterKeys({ dataDir: '', masterKey: text.split('\n').filter(Boolean).join(',') });
  if (key_check === null || isSealedBy(createVault(keys), 'signing-secret', Buffer.from(key_check, 'base64'))) return;
  throw new StartFailure(
    'This is not the master key of the server that was backed up: nothing was restored. With it alone can the secrets in the backup be read.',
  );
}

export async function fillTables(path: string, { tables }: Manifest, load: Load, progress: Progress): Promise<void> {
  const byPart = new Map(tables.map((table) => [table.part, table]));
  for await (const { name, content } of partsOf(path, { isWanted: (part) => byPart.has(part) })) {
    const table = byPart.get(name) as Manifest['tables'][number];
    progress.show(`Table ${table.name} (${table.rows} rows)`);
    const rows = await load.fill(table, unpacked(content));
    if (rows === table.rows) continue;
    throw new StartFailure(`The table ${table.name} got ${rows} rows instead of ${table.rows}: nothing was stored.`);
  }
}

export async function putFiles(path: string, { files }: Manifest, store: FileStore, progress: Progress): Promise<void> {
  let count = 0;
  const isStored = (part: string) => part.startsWith('files/') || part.startsWith(`${savedFolder}/`);
  for await (const { name, content } of partsOf(path, { isWanted: isStored })) {
    const [folder, orgId, stored] = name.split('/') as [string, string, string];
    // The store may skip content that it has, but the archive must be read to the end of each part.
    await store.put(orgId, stored, folder === savedFolder ? content : await readWhole(content));
    if (folder === savedFolder) continue;
    count += 1;
    progress.show(`${count} of ${files.count} files`);
  }
}

/** The reader of the result sees any error of the input. */
function unpacked(content: AsyncIterable<Buffer>): Readable {
  const gunzip = createGunzip();
  pipeline(content, gunzip).catch(() => {});
  return gunzip;
}

async function putHomes(path: string, { dataDir }: Config, progress: Progress): Promise<void> {
  for await (const { content } of partsOf(path, { isWanted: (part) => part === homesPart })) {
    progress.show('Computers');
    await unpackHomes(dataDir, unpacked(content));
  }
}
