import { randomBytes } from 'node:crypto';
import { access, mkdir, open, opendir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { assertNamed, checked, counted, isHash, isName, partsOf, readWhole, storeFailure } from './content.ts';
import type { FileStore, Listed } from './file-store.ts';

/** A folder: `<org>/<first two characters>/<name>`. */
export function createDiskStore(folder: string): FileStore {
  const pathOf = (orgId: string, name: string) => join(folder, ...partsOf(orgId, name));

  const store: FileStore = {
    async put(orgId, name, content) {
      const path = pathOf(orgId, name);
      const there = isHash(name) ? await stat(path).catch(nothing) : null;
      if (there) return { sha256: name, bytes: there.size };
      const beside = `${path}-${randomBytes(6).toString('hex')}`;
      const { chunks, kept } = counted(content);
      try {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        await writeThrough(beside, chunks);
        const what = kept();
        assertNamed(name, what);
        await rename(beside, path);
        await syncFolder(dirname(path));
        return what;
      } catch (error) {
        await rm(beside, { force: true });
        throw isFull(error) ? storeFailure('full') : error;
      }
    },
    async open(orgId, name, range) {
      const file = await open(pathOf(orgId, name), 'r').catch(nothing);
      if (!file) return null;
      const { size: bytes } = await file.stat();
      if (range) return { bytes, chunks: file.createReadStream({ start: range.first, end: range.last }) };
      return { bytes, chunks: checked(name, file.createReadStream()) };
    },
    read: (orgId, name) => readWhole(store, orgId, name),
    has: (orgId, name) =>
      access(pathOf(orgId, name)).then(
        () => true,
        (error: NodeJS.ErrnoException) => nothing(error) !== null,
      ),
    async remove(orgId, name) {
      await rm(pathOf(orgId, name), { force: true });
    },
    list: () => listIn(folder),
    link: () => null,
  };
  return store;
}

async function* listIn(folder: string): AsyncGenerator<Listed> {
  for await (const org of entriesOf(folder)) {
    for await (const group of entriesOf(join(folder, org))) {
      for await (const name of entriesOf(join(folder, org, group))) {
        // What is still being written has a name that nothing kept can have.
        if (!isName(name)) continue;
        const found = await stat(join(folder, org, group, name)).catch(nothing);
        if (found) yield { orgId: org, name, bytes: found.size };
      }
    }
  }
}

async function* entriesOf(folder: string): AsyncGenerator<string> {
  const opened = await opendir(folder).catch(nothing);
  for await (const { name } of opened ?? []) yield name;
}

function nothing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  throw error;
}

const isFull = (error: unknown) => ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');

async function writeThrough(path: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(chunks);
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
