import type { Schemas } from './schemas.ts';

/** With the first schema that is looked at: the validator and its patterns are three megabytes that a server at rest does without. */
export function schemasOnDemand(): () => Promise<Schemas> {
  let opened: Promise<Schemas> | undefined;
  return () => {
    opened ??= import('./schemas.ts').then(({ createSchemas }) => createSchemas());
    return opened;
  };
}
