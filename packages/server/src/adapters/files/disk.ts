import { randomBytes } from 'node:crypto';
import { access, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { FileStore } from './file-store.ts';

/** A folder: `<org>/<first two digits>/<hash>`, so that no folder grows too large to list. */
export function createDiskStore(folder: string): FileStore {
  const pathOf = (orgId: string, sha256: string) => join(folder, orgId, sha256.slice(0, 2), sha256);

  return {
    async put(orgId, sha256, bytes) {
      const path = pathOf(orgId, sha256);
      if (await isThere(path)) return;
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const beside = `${path}.${randomBytes(6).toString('hex')}`;
      try {
        await writeThrough(beside, bytes);
        await rename(beside, path);
      } catch (error) {
        await rm(beside, { force: true });
        throw error;
      }
      await syncFolder(dirname(path));
    },
    async read(orgId, sha256) {
      return readFile(pathOf(orgId, sha256)).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return null;
        throw error;
      });
    },
    async remove(orgId, sha256) {
      await rm(pathOf(orgId, sha256), { force: true });
    },
  };
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function writeThrough(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The name is in the folder only once the folder itself has been written. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
