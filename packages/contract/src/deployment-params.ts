import { z } from 'zod';
import { failsWith } from './fault.ts';

/**
 * A `dep_` id, a slug or a name. A value that begins with `dep_` must be an id, because no slug contains an underscore.
 */
const deploymentReference = failsWith(
  'invalid_deployment_id',
  z
    .string()
    .regex(
      /^(dep_[0-9a-hjkmnp-tv-z]{24}|(?!dep_)\P{Cc}{1,120})$/u,
      'Name the deployment by its dep_ id, its slug or its name.',
    ),
);

/** A version in a body. A path takes nine digits as well, and PostgreSQL's integer holds them. */
export const versionInput = z.int().min(1).max(999_999_999);

export const deploymentParams = z.strictObject({
  deployment_id: deploymentReference.describe('The deployment’s `dep_` id, its slug or its name.'),
});

/** The same with an optional `@version`, for reads that can show one version. */
export const pinnedDeploymentParams = z.strictObject({
  deployment_id: failsWith(
    'invalid_deployment_id',
    z
      .string()
      .regex(
        /^(dep_[0-9a-hjkmnp-tv-z]{24}(@[1-9][0-9]{0,8})?|(?!dep_)\P{Cc}{1,120}(@[1-9][0-9]{0,8})?)$/u,
        'Name the deployment by its dep_ id, its slug or its name; `@version` after it names a version.',
      ),
  ).describe('The deployment’s `dep_` id, its slug or its name; `@version` after it names one version.'),
});
