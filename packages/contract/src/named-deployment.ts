import { failsWith } from './fault.ts';
import { text } from './text.ts';

/** The deployment in a request: a `dep_` id, a slug or a name of at most 120 characters, then `@version` to pin one. */
export const namedDeployment = failsWith(
  'invalid_deployment',
  text(1, 131)
    .regex(/^[^@\p{Cc}][^\p{Cc}]*$/u, 'Name the deployment by its dep_ id, its slug or its name.')
    .describe('A dep_ id, a slug or a name; `@version` after it pins a version.'),
);
