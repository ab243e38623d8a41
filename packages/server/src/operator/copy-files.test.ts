import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readConfig } from '../platform/config/config.ts';
import { createDiskStore, type FileStore } from '../platform/files/file-store.ts';
import { createS3Store } from '../platform/files/s3.ts';
import { type S3Fixture, startS3 } from '../platform/files/s3-server.fixture.ts';
import { copyFiles } from './copy-files.ts';

const lines: string[] = [];
const progress = { show: (line: string) => void lines.push(line), end: () => {} };
const [orgA, orgB] = ['org_a', 'org_b'];
const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

let s3: S3Fixture;
let bucket: FileStore & { close: () => Promise<void> };
let folder: string;
beforeAll(async () => {
  s3 = await startS3();
  bucket = createS3Store(s3.place, { warn: () => {} });
  folder = await mkdtemp(join(tmpdir(), 'vestra-copy-'));
});
afterAll(async () => {
  await bucket.close();
  await s3.stop();
  await rm(folder, { recursive: true, force: true });
});

const copy = (to: string, name = 'first', extra?: string) =>
  copyFiles(
    { config: readConfig({ ...s3.env, VESTRA_DATA_DIR: join(folder, name) }), progress },
    { to, ...(extra && { extra }) },
  );
const diskOf = (name: string) => createDiskStore(join(folder, name, 'files'));
async function listed(store: FileStore): Promise<string[]> {
  const names: string[] = [];
  for await (const { orgId, name, bytes } of store.list()) names.push(`${orgId} ${name} ${bytes}`);
  return names.sort();
}

it('copies everything to the bucket, resumes after an interruption, and copies back [OPS-282]', async () => {
  const disk = diskOf('first');
  const contents = Array.from({ length: 6 }, (_, at) => randomBytes(1000 + at));
  for (const bytes of contents) await disk.put(orgA, hashOf(bytes), bytes);
  await disk.put(orgB, 'ab12cd34.home', randomBytes(9 * 1024 * 1024));

  // The store fails after two writes.
  let puts = 0;
  s3.trouble(({ method }) => (method === 'PUT' && ++puts > 2 ? { answer: 403, code: 'AccessDenied' } : null));
  await expect(copy('bucket')).rejects.toThrow('403 AccessDenied');
  s3.trouble(() => null);
  expect(await listed(bucket)).toHaveLength(2);
  const rest = await copy('bucket');
  expect(rest).toMatchObject({ copied: 5, there_already: 2, damaged: 0, only_there: 0 });
  expect(await listed(bucket)).toEqual(await listed(disk));
  expect(lines.at(-1)).toMatch(/^7 of 7, 5 copied \(9\.4 MB\)$/);
  expect(await copy('bucket')).toMatchObject({ copied: 0, there_already: 7 });

  expect(await copy('disk', 'second')).toMatchObject({ copied: 7, there_already: 0 });
  expect(await listed(diskOf('second'))).toEqual(await listed(disk));
});

it('skips damaged files, and removes extra files with --extra remove [OPS-282]', async () => {
  const disk = diskOf('first');
  const [good, bad] = [randomBytes(100), randomBytes(200)];
  for (const bytes of [good, bad]) await disk.put(orgA, hashOf(bytes), bytes);
  await writeFile(join(folder, 'first/files', orgA, hashOf(bad).slice(0, 2), hashOf(bad)), randomBytes(200));
  const deleted = hashOf(Buffer.from('deleted meanwhile'));
  await bucket.put(orgA, deleted, Buffer.from('deleted meanwhile'));
  expect(await copy('bucket')).toMatchObject({ copied: 1, damaged: 1, only_there: 1, removed: 0 });
  expect([await bucket.has(orgA, hashOf(bad)), await bucket.has(orgA, deleted)]).toEqual([false, true]);
  expect(await copy('bucket', 'first', 'remove')).toMatchObject({ copied: 0, damaged: 1, only_there: 1, removed: 1 });
  expect([await bucket.has(orgA, hashOf(good)), await bucket.has(orgA, deleted)]).toEqual([true, false]);
});

it('copies files of another size again, and refuses invalid options [OPS-282]', async () => {
  const disk = diskOf('third');
  const bytes = randomBytes(300);
  await disk.put(orgB, hashOf(bytes), bytes);
  await bucket.put(orgB, 'ffff.home', randomBytes(10));
  await disk.put(orgB, 'ffff.home', randomBytes(11));
  expect(await copy('bucket', 'third')).toMatchObject({ copied: 2 });
  expect(await bucket.read(orgB, 'ffff.home')).toEqual(await disk.read(orgB, 'ffff.home'));
  await expect(copy('tape')).rejects.toThrow('--to must be disk or bucket, not tape.');
  const none = copyFiles({ config: readConfig({ VESTRA_DATA_DIR: folder }), progress }, { to: 'bucket' });
  await expect(none).rejects.toThrow('Set VESTRA_FILES=s3://<bucket>');
});
