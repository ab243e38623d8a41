import { createHash } from 'node:crypto';
import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import * as zlib from 'node:zlib';
import type { Runner } from './runner.ts';

/**
 * A cluster with every migration in it and no rows, packed into one file, so that a new data folder is unpacked instead of
 * made. It holds no secret that counts: its password is thrown away, and each copy gets one of its own before it is used.
 */
const folder = join(import.meta.dirname, '../../../../dist');
const migrations = join(import.meta.dirname, '../migrations');

/** What stands in front of the packed files. A folder has no size. */
type Entry = { path: string; size?: number };

/**
 * The one for these programs and migrations, whether it is there or not. Only for the machine it was made on: PostgreSQL
 * promises the files of a cluster for the same architecture alone.
 */
export function readyMadeFor({ version, platform }: { version: string; platform: string }): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(migrations).sort()) {
    // Git may write other line ends on another machine; that is no change.
    hash.update(name).update(readFileSync(join(migrations, name), 'utf8').replaceAll('\r\n', '\n'));
  }
  return join(folder, `cluster-${version}-${platform}-${hash.digest('hex').slice(0, 12)}.zst`);
}

/** The file, if it is there. Node before 22.15 cannot read it. */
export const usable = (file: string | null): string | undefined =>
  file !== null && 'zstdDecompress' in zlib && existsSync(file) ? file : undefined;

/** Packs the folder of a cluster that was stopped. Under its own name the file is always whole. */
export function packCluster(cluster: string, file: string, leaveOut: (path: string) => boolean): void {
  const entries: Entry[] = [];
  const contents: Buffer[] = [];
  for (const path of (readdirSync(cluster, { recursive: true }) as string[]).sort()) {
    if (leaveOut(path)) continue;
    if (statSync(join(cluster, path)).isDirectory()) entries.push({ path });
    else {
      const content = readFileSync(join(cluster, path));
      entries.push({ path, size: content.length });
      contents.push(content);
    }
  }
  const packed = zlib.zstdCompressSync(Buffer.concat([Buffer.from(`${JSON.stringify(entries)}\n`), ...contents]), {
    // Three databases that are nearly the same lie one after the other: seen at once they take the room of one.
    params: { [zlib.constants.ZSTD_c_compressionLevel]: 9, [zlib.constants.ZSTD_c_windowLog]: 25 },
  });
  mkdirSync(dirname(file), { recursive: true });
  for (const name of readdirSync(dirname(file))) {
    if (/^cluster-.*\.zst/.test(name)) rmSync(join(dirname(file), name), { force: true });
  }
  writeFileSync(`${file}.${process.pid}`, packed);
  renameSync(`${file}.${process.pid}`, file);
}

/** Writes the packed cluster into `cluster`, which is there and empty, with the rights that PostgreSQL asks for. */
export function unpackCluster(file: string, cluster: string, runner: Runner): void {
  // In one piece: thousands of small ones take four times as long.
  const content = zlib.zstdDecompressSync(readFileSync(file), { chunkSize: 2 ** 26 });
  let at = content.indexOf('\n') + 1;
  for (const { path, size } of JSON.parse(content.toString('utf8', 0, at)) as Entry[]) {
    const target = join(cluster, path);
    if (size === undefined) mkdirSync(target, { mode: 0o700 });
    else {
      const descriptor = openSync(target, 'wx', 0o600);
      for (const end = at + size; at < end; ) at += writeSync(descriptor, content, at, end - at);
      closeSync(descriptor);
    }
    if (runner.isLent) chownSync(target, runner.uid, runner.gid);
  }
}
