import { stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { Failure } from '@vestra/contract/errors';
import { packHomes } from '../computers/index.ts';
import { usedContents } from '../engine/files/index.ts';
import type { Config } from '../platform/config/config.ts';
import type { Snapshot } from '../platform/db/dump.ts';
import { withSession, withSnapshot } from '../platform/db/dump.ts';
import { findSetting } from '../platform/db/server-settings.ts';
import { StartFailure } from '../platform/db/start-failure.ts';
import type { FileStore } from '../platform/files/file-store.ts';
import { isHash } from '../platform/files/file-store.ts';
import { withFiles } from '../platform/files/open-files.ts';
import { formatMasterKeys } from '../platform/secrets/vault.ts';
import { version } from '../platform/version.ts';
import type { ArchivePartEntry } from './archive/format.ts';
import { format, homesPart, type Manifest, savedFolder } from './archive/format.ts';
import { type ArchiveWriter, writeArchive } from './archive/writer.ts';
import { openDatabaseInUse } from './database-transfer.ts';
import { formatBytes, type Progress } from './progress.ts';

export type BackupReport = {
  file: string;
  bytes: number;
  rows: number;
  files: number;
  /**
   * Files that were removed during the backup, or that are damaged in the store. The archive has their rows but not
   * their bytes.
   */
  files_missing: number;
  master_key_file: string | null;
};

/**
 * Writes one file with everything that a second machine needs except the master key, as of one moment. The server may
 * keep running.
 */
export async function backup(
  { config, progress }: { config: Config; progress: Progress },
  target: string,
  masterKeyFile: string | undefined,
): Promise<BackupReport> {
  const now = new Date();
  const path = await pathOf(target, now);
  if (masterKeyFile) await writeMasterKey(config, resolve(masterKeyFile));
  const postgres = await openDatabaseInUse(config);
  try {
    return await withSession(postgres.connectionString, (client) =>
      withSnapshot(client, postgres.name, async (snapshot) => {
        const opening = { format, version, created_at: now.toISOString(), migrations: snapshot.migrations };
        const { manifest, size } = await writeArchive(path, opening, (writer) =>
          writeParts(writer, snapshot, config, progress),
        );
        return {
          file: path,
          bytes: size,
          rows: manifest.tables.reduce((sum, { rows }) => sum + rows, 0),
          files: manifest.files.count,
          files_missing: manifest.files.missing,
          master_key_file: masterKeyFile ? resolve(masterKeyFile) : null,
        };
      }),
    );
  } finally {
    await postgres.stop();
  }
}

async function pathOf(target: string, now: Date): Promise<string> {
  const path = resolve(target);
  const found = await stat(path).catch(() => null);
  if (found && !found.isDirectory()) throw new StartFailure(`${path} is there already: name a new file, or a folder.`);
  if (!found) return path;
  const stamp = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
  return join(path, `vestra-${stamp}.tar`);
}

async function writeMasterKey(config: Config, path: string): Promise<void> {
  await writeFile(path, formatMasterKeys(config), { mode: 0o600, flag: 'wx', flush: true }).catch((error) => {
    throw new StartFailure(`The master key cannot be written to ${path} (${error.code}): name a new file.`);
  });
}

async function writeParts(
  writer: ArchiveWriter,
  snapshot: Snapshot,
  config: Config,
  progress: Progress,
): Promise<Manifest> {
  const tables: Manifest['tables'] = [];
  const parts: ArchivePartEntry[] = [];
  const showProgress = (what: string) => progress.show(`${what} (${formatBytes(writer.size())})`);
  for (const table of snapshot.tables) {
    showProgress(`Table ${table.name}`);
    const name = `database/${table.name}.copy.gz`;
    const rows = snapshot.rowsOf(table);
    parts.push(await pipeline(rows, createGzip(), (packed) => writer.addStream(name, packed)));
    tables.push({ ...table, rows: rows.rowCount, part: name });
  }
  const sealed = await findSetting(snapshot.tx, 'signing-secret');
  const files = await withFiles(config, async (store) => {
    for await (const part of writeSaved(writer, store)) parts.push(part);
    return writeFiles(writer, snapshot, store, (count) => showProgress(`${count} files`));
  });
  showProgress('Computers');
  const homes = await packHomes(config.dataDir);
  if (homes) parts.push(await pipeline(homes, createGzip(), (packed) => writer.addStream(homesPart, packed)));
  return { tables, sequences: snapshot.sequences, files, key_check: sealed?.toString('base64') ?? null, parts };
}

/**
 * Content never changes under its hash, so files can be read after the snapshot. A file that is gone by then was
 * deleted after the snapshot.
 */
async function writeFiles(
  writer: ArchiveWriter,
  snapshot: Snapshot,
  store: FileStore,
  onCount: (count: number) => void,
): Promise<Manifest['files']> {
  const files = { count: 0, bytes: 0, missing: 0 };
  for await (const { orgId, sha256 } of usedContents(snapshot.tx)) {
    const bytes = await readIntact(store, orgId, sha256);
    if (!bytes) {
      files.missing += 1;
      continue;
    }
    await writer.add(`files/${orgId}/${sha256}`, bytes);
    files.count += 1;
    files.bytes += bytes.byteLength;
    onCount(files.count);
  }
  return files;
}

/** Returns null if the content is missing or damaged: one damaged file would make the whole archive invalid. */
export async function readIntact(store: FileStore, orgId: string, sha256: string): Promise<Uint8Array | null> {
  try {
    return await store.read(orgId, sha256);
  } catch (error) {
    if (error instanceof Failure || (error as NodeJS.ErrnoException).code !== undefined) throw error;
    return null;
  }
}

/** Adds the files whose name is not a hash, such as saved homes. They never change either. */
async function* writeSaved(writer: ArchiveWriter, store: FileStore): AsyncGenerator<ArchivePartEntry> {
  for await (const { orgId, name } of store.list()) {
    const opened = isHash(name) ? null : await store.open(orgId, name);
    if (opened) yield await writer.addStream(`${savedFolder}/${orgId}/${name}`, opened.chunks);
  }
}
