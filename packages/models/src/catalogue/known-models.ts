import type { Entry } from './entry.ts';
import file from './models.json' with { type: 'json' };

/** What comes with the service, in the order in which a default is looked for. A test holds the file against its schema. */
export const knownModels = file.models as readonly unknown[] as readonly Entry[];

/** What its endpoint calls a model, where nobody says: its id, without what stands before its first slash. */
export const wireNameOf = (id: string) => id.slice(id.indexOf('/') + 1);
