import { z } from 'zod';
import { deployment, deploymentVersion, promotion, versionParams, webhookSecrets } from './deployment.ts';
import { deploymentFile } from './deployment-file.ts';
import { deploymentParams, pinnedDeploymentParams, versionInput } from './deployment-params.ts';
import { id } from './ids.ts';
import { interview } from './interview.ts';
import { manifest } from './manifest.ts';
import { deleted, page, pageQuery } from './page.ts';
import { fileWarnings, plan, uploadKeys } from './plan.ts';
import { route } from './route.ts';
import { deploymentSlug } from './slug.ts';
import { tag } from './tag.ts';
import { text } from './text.ts';

const settingsErrors = [
  'invalid_manifest',
  'invalid_language',
  'invalid_repo',
  'invalid_tool_input',
  'duplicate_name',
  'memory_endpoint_required',
  'mcp_server_not_listed',
  'raw_secret_in_header',
  'secret_missing',
  'tool_name_reserved',
] as const;

const uploadList = new RegExp(`^(${uploadKeys.join('|')})(,(${uploadKeys.join('|')})){0,2}$`);

export const deployments = {
  list: route({
    method: 'GET',
    path: '/v1/deployments',
    auth: 'key',
    scopes: ['setup'],
    summary: 'List the deployments.',
    description: 'Needs scope `setup`; newest first, archived ones included. Both modes see the same deployments.',
    query: z.strictObject(pageQuery),
    status: 200,
    response: page(deployment),
    errors: [],
    command: 'deployments list',
  }),
  create: route({
    method: 'POST',
    path: '/v1/deployments',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Create a deployment with a first draft version.',
    description:
      'For settings as JSON; to apply a whole file with its folders use `PUT`, the CLI or an SDK. Its first version is the draft that test keys run; nothing is live yet.',
    idempotent: true,
    body: z.strictObject({
      name: text(1, 120).describe('The display name, 1 to 120 characters.'),
      slug: deploymentSlug.optional().describe('Its name in URLs; absent: derived from `name`.'),
      description: text(0, 2000)
        .default('')
        .describe('Its purpose, at most 2,000 characters; the agent card shows it.'),
      manifest: manifest.prefault({}).describe('Settings of its first version; omitted keys get their default.'),
      note: text(0, 500).optional().describe('A note about the version, at most 500 characters.'),
    }),
    status: 201,
    response: deployment,
    errors: [...settingsErrors, 'slug_taken'],
    command: 'deployments create',
  }),
  get: route({
    method: 'GET',
    path: '/v1/deployments/{deployment_id}',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Read one deployment, or a version of it as a deployment file in YAML.',
    description:
      'With `format=yaml` the response is `application/yaml`: the newest version, or the one named as `slug@version`. The newest one changes nothing when it is applied again.',
    params: pinnedDeploymentParams,
    query: z.strictObject({
      format: z
        .enum(['json', 'yaml'])
        .default('json')
        .describe('`yaml` returns the newest version, or the one that the path names, as a deployment file.'),
    }),
    status: 200,
    response: deployment,
    produces: ['application/yaml'],
    errors: ['deployment_not_found', 'version_not_found'],
    command: 'deployments get',
  }),
  put: route({
    method: 'PUT',
    path: '/v1/deployments/{deployment_id}',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Apply a deployment file; the first call for a name creates the deployment.',
    description:
      'Send the file as JSON; its `name` must equal the path. Registers MCP servers, replaces the file’s tests, routines and webhooks, and saves a version if something changed. The API cannot read local folders: the CLI and the SDKs upload them first. `errors` lists all faults of the file together. With `dry_run=true` it answers the plan and writes nothing.',
    showsSecret: true,
    params: deploymentParams,
    query: z.strictObject({
      promote: z
        .enum(['after_tests', 'now', 'no'])
        .default('after_tests')
        .describe('`after_tests`: it runs once the file’s tests pass; `now`: at once; `no`: it is only saved.'),
      expected_version: z
        .string()
        .regex(/^(0|[1-9][0-9]{0,8})$/, 'A version must be a whole number from 1; 0 stands for none.')
        .transform(Number)
        .optional()
        .describe(
          'The `newest_version` that the file was written from, 0 for a new deployment. If another version is the newest, nothing is applied (409 `deployment_changed`).',
        ),
      dry_run: z
        .enum(['true', 'false'])
        .transform((given) => given === 'true')
        .optional()
        .describe('`true` answers what would change, with all faults and warnings, and writes nothing.'),
      uploads: z
        .string()
        .regex(uploadList, `Write keys of the file with a comma between them: ${uploadKeys.join(', ')}.`)
        .optional()
        .describe(
          'With `dry_run`: keys whose local files a client would upload first, such as `skills,knowledge`. The plan counts them as changed.',
        ),
    }),
    body: deploymentFile,
    checkedBy: 'handler',
    status: 200,
    response: deployment.extend({
      ...promotion,
      changed: z
        .array(z.string())
        .describe('The changed keys of the file; empty if nothing changed and no version was created.'),
      created: z.boolean().describe('Whether this call created the deployment.'),
      warnings: fileWarnings.describe('Accepted values that may not be intended, and lines that have no effect.'),
    }),
    dryRun: plan,
    errors: [
      ...settingsErrors,
      'auth_twice',
      'invalid_schedule',
      'invalid_trigger',
      'invalid_user_timezone',
      'name_mismatch',
      'path_not_resolved',
      'schedule_too_frequent',
      'schedule_unreadable',
      'secret_in_url',
      'deployment_not_found',
      'deployment_archived',
      'deployment_changed',
      'mcp_server_live',
      'mcp_server_shared',
    ],
    command: 'deployments put',
  }),
  update: route({
    method: 'PATCH',
    path: '/v1/deployments/{deployment_id}',
    auth: 'key',
    scopes: ['setup'],
    summary:
      'Change the name or description, which the agent card also shows; needs a live key once a version is live.',
    description: 'To change settings, save a new version.',
    params: deploymentParams,
    body: z.strictObject({
      name: text(1, 120).optional().describe('The new display name; the slug stays.'),
      description: text(0, 2000).optional().describe('Its purpose; an empty text clears it.'),
    }),
    status: 200,
    response: deployment,
    errors: ['deployment_not_found', 'live_key_required'],
    command: 'deployments update',
  }),
  listVersions: route({
    method: 'GET',
    path: '/v1/deployments/{deployment_id}/versions',
    auth: 'key',
    scopes: ['setup'],
    summary: 'List the versions of a deployment, newest first.',
    description: 'Each shows its changes, its author and its test result.',
    params: deploymentParams,
    query: z.strictObject(pageQuery),
    status: 200,
    response: page(deploymentVersion),
    errors: ['deployment_not_found'],
    command: 'versions list',
  }),
  getVersion: route({
    method: 'GET',
    path: '/v1/deployments/{deployment_id}/versions/{version}',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Read one version of a deployment.',
    description: 'A version never changes; its `manifest` can be sent to create another deployment.',
    params: versionParams,
    status: 200,
    response: deploymentVersion,
    errors: ['deployment_not_found'],
    command: 'versions get',
  }),
  contentChanges: route({
    method: 'GET',
    path: '/v1/deployments/{deployment_id}/versions/{version}/content-changes',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Compare the documents and skill files of two versions.',
    description:
      'Shows what `manifest` does not: the texts that each version contains. At most 500 changes, with about 1 MB of text; further changes are counted, or listed without text.',
    params: versionParams,
    query: z.strictObject({
      from: z
        .string()
        .regex(/^[1-9][0-9]{0,8}$/, 'A version must be a whole number from 1.')
        .transform(Number)
        .optional()
        .describe('The version to compare with; absent: the previous one, and for version 1 nothing.'),
    }),
    status: 200,
    response: z
      .object({
        object: tag('content_changes'),
        deployment_id: id('dep'),
        from: z.int().nullable().describe('The version it was compared with; null: nothing.'),
        version: z.int().describe('The version whose content is compared.'),
        changes: z
          .array(
            z.object({
              kind: z.enum(['document', 'skill_file']).describe('A document of a notebook, or a file of a skill.'),
              of_id: z.string().describe('The id of that notebook or skill.'),
              of_name: z.string().describe('The name of that notebook or skill.'),
              name: z.string().describe('The title of the document, or the path of the file.'),
              change: z.enum(['added', 'removed', 'changed']).describe('Whether it was added, removed or changed.'),
              before: z.string().nullable().describe('Its text in `from`; null if it did not exist or is omitted.'),
              after: z.string().nullable().describe('Its text in `version`; null if it does not exist or is omitted.'),
              text_left_out: z.boolean().describe('Whether its texts are omitted, because the total is too large.'),
            }),
          )
          .describe('Documents first, then skill files, each sorted by name.'),
        left_out: z.int().min(0).describe('The number of further changes.'),
      })
      .describe('The differences in content between two versions.'),
    errors: ['deployment_not_found', 'version_not_found'],
    command: 'versions content-changes',
  }),
  promote: route({
    method: 'POST',
    path: '/v1/deployments/{deployment_id}/promote',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Promote a version in the key’s mode, at once or when its tests pass.',
    description:
      'With a live key, live users get it from their next message on; with a test key, it becomes the draft. Its secrets, notebooks and skills are checked first. `after_tests` returns at once and promotes when the run has passed.',
    idempotent: true,
    showsSecret: true,
    params: deploymentParams,
    body: z.strictObject({
      version: versionInput.optional().describe('The version, also an older one; absent: the newest.'),
      when: z
        .enum(['now', 'after_tests'])
        .default('after_tests')
        .describe(
          '`after_tests`: when the tests of the file it was saved from, and the scenarios of the API, have passed; `now`: at once.',
        ),
    }),
    bodyOptional: true,
    status: 200,
    response: deployment.extend(promotion),
    errors: [
      'deployment_not_found',
      'version_not_found',
      'deployment_archived',
      'version_incomplete',
      'invalid_manifest',
      'secret_missing',
      'memory_endpoint_required',
    ],
    command: 'deployments promote',
  }),
  rollback: route({
    method: 'POST',
    path: '/v1/deployments/{deployment_id}/rollback',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Make the previous live version live again at once; needs a live key.',
    description: 'Promotions form a stack: each further call goes back one more.',
    idempotent: true,
    showsSecret: true,
    params: deploymentParams,
    status: 200,
    response: deployment.extend({ webhook_secrets: webhookSecrets }),
    errors: [
      'live_key_required',
      'deployment_not_found',
      'deployment_archived',
      'nothing_to_roll_back',
      'version_incomplete',
      'invalid_manifest',
      'secret_missing',
      'memory_endpoint_required',
    ],
    command: 'deployments rollback',
  }),
  archive: route({
    method: 'POST',
    path: '/v1/deployments/{deployment_id}/archive',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Archive a deployment: it accepts no new conversation or version.',
    description: 'Existing conversations accept no further messages. Needs a live key once a version is live.',
    params: deploymentParams,
    status: 200,
    response: deployment,
    errors: ['deployment_not_found', 'live_key_required'],
    command: 'deployments archive',
  }),
  unarchive: route({
    method: 'POST',
    path: '/v1/deployments/{deployment_id}/unarchive',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Restore an archived deployment.',
    description: 'Its draft and live versions are unchanged. Needs a live key once a version is live.',
    params: deploymentParams,
    status: 200,
    response: deployment,
    errors: ['deployment_not_found', 'live_key_required'],
    command: 'deployments unarchive',
  }),
  delete: route({
    method: 'DELETE',
    path: '/v1/deployments/{deployment_id}',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Delete a deployment that has no live version.',
    description:
      'Deletes its versions, scenarios and test runs; conversations, usage and the audit log stay. A deployment that is or was live must be archived first (409 `deployment_live`), and needs a live key.',
    params: deploymentParams,
    status: 200,
    response: deleted('deployment'),
    errors: ['deployment_not_found', 'deployment_live', 'live_key_required'],
    command: 'deployments delete',
  }),
  interview,
};
