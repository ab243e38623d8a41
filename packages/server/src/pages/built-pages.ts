import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';

/** Where the pages are built to: by `npm install` in a clone, and part of the package. */
export const builtPages = resolve(import.meta.dirname, '../../../web/dist');

/** A file that lies packed, since few ever ask for it and everybody installs it. */
export const readPacked = async (file: string): Promise<Buffer> => promisify(zstdDecompress)(await readFile(file));

/** A built file, which the package holds packed where it is large. */
export const readBuilt = (file: string): Promise<Buffer> => readFile(file).catch(() => readPacked(`${file}.zst`));

/** A sentence for the operator; null where the pages are there. */
export const missingPages = (folder = builtPages): string | null =>
  existsSync(join(folder, 'session.html'))
    ? null
    : `the session page and the API reference are not built and cannot be shown: install the package vestra, or in a clone run npm install with its development dependencies (looked in ${folder})`;
