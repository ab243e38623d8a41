import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The files below a folder that have the text in their name or their content. */
export async function filesWith(folder: string, text: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    // A file may be removed while the folder is read.
    const content = entry.isFile() ? await readFile(path).catch(() => null) : null;
    if (entry.name.includes(text) || content?.includes(text)) found.push(path);
  }
  return found;
}
