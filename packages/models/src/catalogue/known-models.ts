import type { Entry } from './entry.ts';
import file from './models.json' with { type: 'json' };

/** The built-in models, in the order of preference for a default. A test validates the file against its schema. */
export const knownModels = file.models as readonly unknown[] as readonly Entry[];

/** The model name on the wire if none is configured: the id without everything before its first slash. */
export const wireNameOf = (id: string) => id.slice(id.indexOf('/') + 1);
