import { z } from 'zod';
import { deploymentParams } from './deployment-params.ts';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { shownManifest } from './manifest.ts';
import { modes } from './route.ts';
import { tag } from './tag.ts';
import { testRun, testRunStatuses } from './test-runs.ts';
import { createdAt, updatedAt } from './time.ts';

export const deployment = z
  .object({
    object: tag('deployment'),
    id: id('dep'),
    name: z.string().describe('The display name.'),
    slug: z.string().describe('Its name in URLs and files; accepted wherever `{deployment_id}` is.'),
    description: z.string().describe('Its purpose; empty if none was given.'),
    base: z.literal('agent').describe('Always `agent`: the base of the configuration.'),
    status: z.enum(['active', 'archived']).describe('`archived`: it accepts no new conversation or version.'),
    draft_version: z.int().min(1).describe('The version that test keys run.'),
    live_version: z.int().min(1).nullable().describe('The version that live keys run; null until one is promoted.'),
    newest_version: z
      .int()
      .min(1)
      .describe('The version that `format=yaml` shows, and that a file is compared with when it is applied.'),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .describe('A named configuration of the agent, with the versions that test and live keys run.');

export const deploymentVersion = z
  .object({
    object: tag('deployment_version'),
    deployment_id: id('dep'),
    version: z.int().min(1).describe('Counts up from 1 with every saved change.'),
    note: z.string().nullable().describe('The note from when it was saved; null if there is none.'),
    manifest: shownManifest.describe('All its settings; they can be sent back unchanged.'),
    changed: z
      .array(z.string())
      .describe(
        'The keys that differ from the previous version; `knowledge` and `skills` also if only their content differs.',
      ),
    missing: z
      .array(z.string())
      .describe(
        'Ids of its notebooks, skills and tool servers that were deleted since. Such a version cannot be promoted or rolled back to.',
      ),
    tests: z
      .object({ run_id: id('trun'), status: z.enum(testRunStatuses).describe('The state or result of that run.') })
      .nullable()
      .describe('Its last test run; null if there is none.'),
    is_draft: z.boolean().describe('Whether test keys run it.'),
    is_live: z.boolean().describe('Whether live keys run it.'),
    created_by: z
      .object({
        type: z
          .enum(['key', 'member', 'mcp_grant', 'system'])
          .describe('Whether a key, a console member, a member’s MCP client or the service saved it.'),
        id: z.string().describe('The id of that key or member.'),
        name: z.string().describe('The name of that key or member.'),
      })
      .describe('Who saved it.'),
    created_at: createdAt,
  })
  .describe('One saved state of a deployment; it never changes.');

/** Endpoints of the file that this call created. Each secret is shown once. */
export const webhookSecrets = z
  .array(
    z.object({
      endpoint_id: id('whk'),
      url: z.string().describe('The address that events are posted to.'),
      mode: z.enum(modes).describe('The mode of its events. A live key creates the live endpoint before it is active.'),
      secret: z.string().describe('`whsec_…`: verify signatures with it; shown only once.'),
    }),
  )
  .describe('Endpoints of the file that this call created, each with its secret.');

export const promotion = {
  version: deploymentVersion.describe('The version of this call.'),
  promoted: z
    .boolean()
    .describe('Whether it now runs in the key’s mode; false while its tests run, or if they failed.'),
  became_default: z
    .boolean()
    .describe('Whether the deployment became the org’s default through this call, because there was none.'),
  test_run: testRun.nullable().describe('The test run that decides; null if none was needed.'),
  webhook_secrets: webhookSecrets.describe('Endpoints of the file that this call created, each with its secret.'),
};

export const versionParams = deploymentParams.extend({
  version: failsWith(
    'version_not_found',
    z
      .string()
      .regex(/^[1-9][0-9]{0,8}$/, 'A version must be a whole number from 1.')
      .transform(Number),
  ).describe('A version of the deployment: a whole number from 1.'),
});
