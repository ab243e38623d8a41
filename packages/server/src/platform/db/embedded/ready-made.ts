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
 * The ready-made cluster is one compressed file with all migrations applied and no rows. Unpacking it is faster than initdb.
 * It contains no valid secret: each copy gets its own password before it is used.
 */
const folder = join(import.meta.dirname, '../../../../dist');
const migrations = join(import.meta.dirname, '../migrations');

/** An entry of the header. A folder has no size. */
type Entry = { path: string; size?: number };

/**
 * The path for these programs and migrations, whether the file exists or not. It includes the platform, because the files
 * of a cluster are valid for one architecture only.
 */
export function readyMadeFor({ version, platform }: { version: string; platform: string }): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(migrations).sort()) {
    // Git may check out other line endings, which is not a change.
    hash.update(name).update(readFileSync(join(migrations, name), 'utf8').replaceAll('\r\n', '\n'));
  }
  return join(folder, `cluster-${version}-${platform}-${hash.digest('hex').slice(0, 12)}.zst`);
}

/** The file, if it exists. Node before 22.15 cannot decompress it. */
export const usable = (file: string | null): string | undefined =>
  file !== null && 'zstdDecompress' in zlib && existsSync(file) ? file : undefined;

/** Packs the folder of a stopped cluster. Renames the file at the end, so that it is always complete. */
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
    // A window over all three nearly identical databases compresses them to the size of one.
    params: { [zlib.constants.ZSTD_c_compressionLevel]: 9, [zlib.constants.ZSTD_c_windowLog]: 25 },
  });
  mkdirSync(dirname(file), { recursive: true });
  for (const name of readdirSync(dirname(file))) {
    if (/^cluster-.*\.zst/.test(name)) rmSync(join(dirname(file), name), { force: true });
  }
  writeFileSync(`${file}.${process.pid}`, packed);
  renameSync(`${file}.${process.pid}`, file);
}

/** Unpacks into the empty folder `cluster` with the modes that PostgreSQL requires. */
export function unpackCluster(file: string, cluster: string, runner: Runner): void {
  // Decompress in one chunk: thousands of small ones take four times as long.
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
