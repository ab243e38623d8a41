import { mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/**
 * Creates a folder and its missing parents, and returns those that it created, outermost first. Node's own `recursive`
 * option never returns on file systems like /proc, which report a missing parent for each new name.
 */
export async function makeFolder(path: string, mode: number): Promise<string[]> {
  const missing: string[] = [];
  for (let folder = resolve(path); !(await isFolder(folder)); folder = dirname(folder)) missing.unshift(folder);
  const made: string[] = [];
  for (const folder of missing) {
    // Another process may create the same folder.
    const isMade = await mkdir(folder, { mode }).then(
      () => true,
      async (error) => {
        if (error.code === 'EEXIST' && (await isFolder(folder))) return false;
        throw error;
      },
    );
    if (isMade) made.push(folder);
  }
  return made;
}

async function isFolder(path: string): Promise<boolean> {
  try {
    const entry = await stat(path);
    if (entry.isDirectory()) return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  throw Object.assign(new Error(`${path} is a file`), { code: 'ENOTDIR', path });
}
