import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Where the pages are built to: by `npm install` in a clone, and part of the package. */
export const builtPages = resolve(import.meta.dirname, '../../../web/dist');

/** A sentence for the operator; null where the pages are there. */
export const missingPages = (folder = builtPages): string | null =>
  existsSync(join(folder, 'session.html'))
    ? null
    : `the session page and the API reference are not built and cannot be shown: install the package vestra, or in a clone run npm install with its development dependencies (looked in ${folder})`;
