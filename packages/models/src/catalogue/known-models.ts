import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Entry } from './entry.ts';

const file: { models: unknown } = JSON.parse(readFileSync(join(import.meta.dirname, 'models.json'), 'utf8'));

/**
 * The built-in models, in the order of preference for a default. A test validates the file against its schema. It is
 * read as data, because code of this size would slow down every start.
 */
export const knownModels = file.models as readonly Entry[];

/** The model name on the wire if none is configured: the id without everything before its first slash. */
export const wireNameOf = (id: string) => id.slice(id.indexOf('/') + 1);
