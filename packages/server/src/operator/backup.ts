import { stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { Failure } from '@vestra/contract/errors';
import { packHomes } from '../computers/index.ts';
import { usedContents } from '../engine/files/index.ts';
import { withFiles } from '../main/open-files.ts';
import type { Config } from '../platform/config/config.ts';
import type { Snapshot } from '../platform/db/dump.ts';
import { withSession, withSnapshot } from '../platform/db/dump.ts';
import { findSetting } from '../platform/db/server-settings.ts';
import { StartFailure } from '../platform/db/start-failure.ts';
import { isHash } from '../platform/files/content.ts';
import type { FileStore } from '../platform/files/file-store.ts';
import { writtenMasterKeys } from '../platform/secrets/master-key.ts';
import { version } from '../platform/version.ts';
import { format, homesPart, type Manifest, type Part, savedFolder } from './archive/manifest.ts';
import { type ArchiveWriter, writeArchive } from './archive/write.ts';
import { bytesInWords, type Progress } from './progress.ts';
import { reachInUse } from './reach-database.ts';

export type BackedUp = {
  file: string;
  bytes: number;
  rows: number;
  files: number;
  /** Removed while the backup was made, or damaged in the store: their rows are in it and their bytes are not. */
  files_missing: number;
  master_key_file: string | null;
};

/** One file with everything a second machine needs but the master key, as it was at one moment. The server may run. */
export async function backup(
  { config, progress }: { config: Config; progress: Progress },
  target: string,
  masterKeyFile: string | undefined,
): Promise<BackedUp> {
  const now = new Date();
  const path = await pathOf(target, now);
  if (masterKeyFile) await writeMasterKey(config, resolve(masterKeyFile));
  const postgres = await reachInUse(config);
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
  await writeFile(path, writtenMasterKeys(config), { mode: 0o600, flag: 'wx', flush: true }).catch((error) => {
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
  const parts: Part[] = [];
  const say = (what: string) => progress.show(`${what} (${bytesInWords(writer.size())})`);
  for (const table of snapshot.tables) {
    say(`Table ${table.name}`);
    const name = `database/${table.name}.copy.gz`;
    const rows = snapshot.rowsOf(table);
    parts.push(await pipeline(rows, createGzip(), (packed) => writer.addStream(name, packed)));
    tables.push({ ...table, rows: rows.rowCount, part: name });
  }
  const sealed = await findSetting(snapshot.tx, 'signing-secret');
  const files = await withFiles(config, async (store) => {
    for await (const part of writeSaved(writer, store)) parts.push(part);
    return writeFiles(writer, snapshot, store, (count) => say(`${count} files`));
  });
  say('Computers');
  const homes = await packHomes(config.dataDir);
  if (homes) parts.push(await pipeline(homes, createGzip(), (packed) => writer.addStream(homesPart, packed)));
  return { tables, sequences: snapshot.sequences, files, key_check: sealed?.toString('base64') ?? null, parts };
}

/**
 * Content never changes under its hash, so what the snapshot's rows name may be read after it. What is gone by then was
 * removed on purpose, with its row, after the snapshot.
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

/** Null where nothing is there, or something else: it would make all of the archive count as damaged. */
async function readIntact(store: FileStore, orgId: string, sha256: string): Promise<Uint8Array | null> {
  try {
    return await store.read(orgId, sha256);
  } catch (error) {
    if (error instanceof Failure || (error as NodeJS.ErrnoException).code !== undefined) throw error;
    return null;
  }
}

/** Whatever has another name than that of its content, such as the saved home of a computer. It never changes either. */
async function* writeSaved(writer: ArchiveWriter, store: FileStore): AsyncGenerator<Part> {
  for await (const { orgId, name } of store.list()) {
    const opened = isHash(name) ? null : await store.open(orgId, name);
    if (opened) yield await writer.addStream(`${savedFolder}/${orgId}/${name}`, opened.chunks);
  }
}
