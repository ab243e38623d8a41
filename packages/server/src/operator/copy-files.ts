import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { mapLimited } from '../platform/async/limiter.ts';
import type { Config } from '../platform/config/config.ts';
import { StartFailure } from '../platform/db/start-failure.ts';
import { createDiskStore, DamagedContent, type FileStore, type ListedFile } from '../platform/files/file-store.ts';
import { withFiles } from '../platform/files/open-files.ts';
import { formatBytes, type Progress } from './progress.ts';

export type CopyReport = {
  to: 'disk' | 'bucket';
  copied: number;
  bytes: number;
  /** Files that an earlier run copied. */
  there_already: number;
  /** Files whose content does not match their name. They are not copied. */
  damaged: number;
  /** Files that are missing in the source, such as those deleted since an earlier run. */
  only_there: number;
  removed: number;
};

const atOnce = 4;

/**
 * Copies files from the data folder to the bucket, or back. It skips existing files, so that it can be interrupted and
 * repeated while the server runs: a file is complete or absent, and never changes.
 */
export async function copyFiles(
  { config, progress }: { config: Config; progress: Progress },
  { to, extra = 'keep' }: { to: string; extra?: string },
): Promise<CopyReport> {
  if (to !== 'disk' && to !== 'bucket') throw new StartFailure(`--to must be disk or bucket, not ${to}.`);
  if (extra !== 'keep' && extra !== 'remove') throw new StartFailure(`--extra must be keep or remove, not ${extra}.`);
  if (config.files.s3 === null) {
    throw new StartFailure('Set VESTRA_FILES=s3://<bucket> and the keys, so that it is known which bucket is meant.');
  }
  const disk = createDiskStore(join(config.dataDir, 'files'));
  return withFiles(config, async (bucket) => {
    const [from, into] = to === 'bucket' ? [disk, bucket] : [bucket, disk];
    const done: CopyReport = { to, copied: 0, bytes: 0, there_already: 0, damaged: 0, only_there: 0, removed: 0 };
    const there = await contentsOf(into, (count) => progress.show(`${count} are there already`));
    const all = await contentsOf(from, (count) => progress.show(`${count} to be looked at`));
    await mapLimited(atOnce, [...all.values()], async (each) => {
      const found = there.get(keyOf(each));
      there.delete(keyOf(each));
      const outcome = found?.bytes === each.bytes ? 'there_already' : await copyOne(from, into, each);
      if (outcome !== 'gone') done[outcome] += 1;
      if (outcome === 'copied') done.bytes += each.bytes;
      const seen = done.there_already + done.copied;
      progress.show(`${seen} of ${all.size}, ${done.copied} copied (${formatBytes(done.bytes)})`);
    });
    done.only_there = there.size;
    if (extra === 'remove') {
      await mapLimited(atOnce, [...there.values()], async ({ orgId, name }) => {
        await into.remove(orgId, name);
        done.removed += 1;
      });
    }
    return done;
  });
}

const keyOf = ({ orgId, name }: ListedFile) => `${orgId}/${name}`;

async function contentsOf(store: FileStore, onCount: (count: number) => void): Promise<Map<string, ListedFile>> {
  const found = new Map<string, ListedFile>();
  for await (const each of store.list()) {
    found.set(keyOf(each), each);
    onCount(found.size);
  }
  return found;
}

/** Reads each copy again, because a store may confirm a write and store something else. */
async function copyOne(from: FileStore, into: FileStore, each: ListedFile): Promise<'copied' | 'damaged' | 'gone'> {
  const { orgId, name } = each;
  const opened = await from.open(orgId, name);
  if (!opened) return 'gone';
  // The store may skip a write if the name exists, and this file has other content.
  await into.remove(orgId, name);
  try {
    const { sha256 } = await into.put(orgId, name, opened.chunks);
    if ((await hashIn(into, each)) === sha256) return 'copied';
  } catch (error) {
    if (error instanceof DamagedContent) return 'damaged';
    throw error;
  }
  await into.remove(orgId, name);
  throw new StartFailure(`${keyOf(each)} was written and is something else when it is read again: it was removed.`);
}

async function hashIn(store: FileStore, { orgId, name }: ListedFile): Promise<string | null> {
  const opened = await store.open(orgId, name);
  if (!opened) return null;
  const digest = createHash('sha256');
  try {
    for await (const chunk of opened.chunks) digest.update(chunk);
  } catch (error) {
    if (error instanceof DamagedContent) return null;
    throw error;
  }
  return digest.digest('hex');
}
