import { z } from 'zod';
import { failsWith } from './fault.ts';

export const secretName = failsWith(
  'invalid_secret_name',
  z
    .string()
    .regex(
      /^[A-Z][A-Z0-9_]{0,63}$/,
      'A secret name is a capital letter, then capitals, digits and underscores, at most 64.',
    ),
);

/** `${NAME}` or `${secret:NAME}`: a secret of the company. */
export const companySecretReference = failsWith(
  'raw_secret_in_header',
  z
    .string()
    .regex(
      /^\$\{(secret:)?[A-Z][A-Z0-9_]{0,63}\}$/,
      'Store the credential as a secret and write its name here as ${NAME}.',
    ),
);

/** A secret of the company, or `${user_secret:NAME}`: each user's own. */
export const secretReference = failsWith(
  'raw_secret_in_header',
  z
    .string()
    .regex(
      /^\$\{(secret:|user_secret:)?[A-Z][A-Z0-9_]{0,63}\}$/,
      'Store the credential as a secret and write its name here as ${NAME} or ${user_secret:NAME}.',
    ),
);
