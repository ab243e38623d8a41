import { stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { refuse } from './fault.ts';

/** Resolves a deployment's folder and file from a path to either. */
export async function folderMeant(
  cwd: string,
  given: string | undefined,
  file: string | undefined,
): Promise<{ folder: string; file: string | undefined }> {
  const path = resolve(cwd, given ?? '.');
  const found = await stat(path).catch(() => null);
  if (!found) throw refuse(`There is no folder or file ${given}. Write one with \`vestra init\`, or name another.`);
  if (found.isDirectory()) return { folder: path, file };
  if (file !== undefined) throw refuse(`${given} is a file: name the folder of ${file}, or omit --file.`);
  return { folder: dirname(path), file: basename(path) };
}
