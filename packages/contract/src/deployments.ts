import { z } from 'zod';
import { deploymentFile } from './deployment-file.ts';
import { deploymentParams } from './deployment-params.ts';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { manifest, shownManifest } from './manifest.ts';
import { deleted, page, pageQuery } from './page.ts';
import { route } from './route.ts';
import { deploymentSlug } from './slug.ts';
import { testRun, testRunStatuses } from './test-runs.ts';
import { text } from './text.ts';
import { time } from './time.ts';

export const deployment = z.object({
  object: z.literal('deployment'),
  id: id('dep'),
  name: z.string(),
  slug: z.string(),
  description: z.string(),
  base: z.literal('agent'),
  status: z.enum(['active', 'archived']),
  /** What test keys run. */
  draft_version: z.int().min(1),
  /** What live keys run; null until one is promoted. */
  live_version: z.int().min(1).nullable(),
  created_at: time,
  updated_at: time,
});

const deploymentVersion = z.object({
  object: z.literal('deployment_version'),
  deployment_id: id('dep'),
  version: z.int().min(1),
  note: z.string().nullable(),
  manifest: shownManifest,
  /** The keys that differ from the version before; `knowledge` and `skills` also where only their content does. */
  changed: z.array(z.string()),
  /** Ids of its notebooks and skills that have been deleted since. With any of them it does not run again. */
  missing: z.array(z.string()),
  tests: z.object({ run_id: id('trun'), status: z.enum(testRunStatuses) }).nullable(),
  is_draft: z.boolean(),
  is_live: z.boolean(),
  created_by: z.object({ type: z.enum(['key', 'member', 'system']), id: z.string(), name: z.string() }),
  created_at: time,
});

/** Endpoints of the file that this call made; each secret shows once. */
const webhookSecrets = z.array(z.object({ endpoint_id: id('whk'), url: z.string(), secret: z.string() }));

const promotion = {
  version: deploymentVersion,
  promoted: z.boolean(),
  became_default: z.boolean(),
  test_run: testRun.nullable(),
  webhook_secrets: webhookSecrets,
};

const versionParams = deploymentParams.extend({
  version: failsWith(
    'version_not_found',
    z
      .string()
      .regex(/^[1-9][0-9]{0,8}$/, 'A version is a whole number from 1.')
      .transform(Number),
  ),
});

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

export const deployments = {
  list: route({
    method: 'GET',
    path: '/v1/deployments',
    auth: 'key',
    scopes: ['setup'],
    summary: 'List the deployments.',
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
    idempotent: true,
    body: z.strictObject({
      name: text(1, 120),
      slug: deploymentSlug.optional(),
      description: text(0, 2000).default(''),
      manifest: manifest.prefault({}),
      note: text(0, 500).optional(),
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
    summary: 'Read one deployment, or its newest version as a deployment file in YAML.',
    params: deploymentParams,
    query: z.strictObject({ format: z.enum(['json', 'yaml']).default('json') }),
    status: 200,
    response: deployment,
    produces: ['application/yaml'],
    errors: ['deployment_not_found'],
    command: 'deployments get',
  }),
  put: route({
    method: 'PUT',
    path: '/v1/deployments/{deployment_id}',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Apply a deployment file; the first call for a name creates the deployment.',
    showsSecret: true,
    params: deploymentParams,
    query: z.strictObject({ promote: z.enum(['after_tests', 'now', 'no']).default('after_tests') }),
    body: deploymentFile,
    checkedBy: 'handler',
    status: 200,
    response: deployment.extend({
      ...promotion,
      changed: z.array(z.string()),
      created: z.boolean(),
      /** What was taken and may not be what was meant. */
      warnings: z.array(z.object({ param: z.string(), message: z.string() })),
    }),
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
    summary: 'Change the name or description, which the agent card shows too; needs a live key once a version is live.',
    params: deploymentParams,
    body: z.strictObject({ name: text(1, 120).optional(), description: text(0, 2000).optional() }),
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
    params: versionParams,
    status: 200,
    response: deploymentVersion,
    errors: ['deployment_not_found'],
    command: 'versions get',
  }),
  promote: route({
    method: 'POST',
    path: '/v1/deployments/{deployment_id}/promote',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Let a version become the one that the key’s mode runs, at once or when its tests pass.',
    idempotent: true,
    showsSecret: true,
    params: deploymentParams,
    body: z.strictObject({
      /** Absent: the newest. */
      version: z.int().min(1).optional(),
      when: z.enum(['now', 'after_tests']).default('now'),
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
    summary: 'Make the version that was live before live again at once; needs a live key.',
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
    summary: 'Put a deployment away: no new conversation or version reaches it.',
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
    summary: 'Bring an archived deployment back.',
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
    summary: 'Delete a deployment of which no version is live.',
    params: deploymentParams,
    status: 200,
    response: deleted('deployment'),
    errors: ['deployment_not_found', 'deployment_live'],
    command: 'deployments delete',
  }),
  interview: route({
    method: 'POST',
    path: '/v1/deployments/interview',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Describe a job and answer a few questions; the answer carries the deployment file so far.',
    idempotent: true,
    body: z
      .strictObject({
        deployment: text(1, 120).optional(),
        describe: text(1, 8000).optional(),
        conversation: failsWith('invalid_conversation_id', id('conv')).optional(),
        answer: text(1, 8000).optional(),
      })
      .refine(beginsOrGoesOn, {
        error: 'Send `deployment` with `describe` to begin, or `conversation` with `answer` to go on.',
        params: { code: 'describe_or_answer' },
      }),
    status: 201,
    alsoStatus: [200],
    response: z.object({
      object: z.literal('interview'),
      conversation_id: id('conv'),
      deployment: z.string(),
      status: z.enum(['asking', 'ready']),
      question: z.string().nullable(),
      file: z.looseObject({ name: z.string() }).nullable(),
      yaml: z.string().nullable(),
    }),
    errors: [
      'describe_or_answer',
      'invalid_conversation_id',
      'wallet_empty',
      'org_cap_reached',
      'conversation_not_found',
      'deployment_archived',
      'slug_taken',
      'model_error',
      'model_unavailable',
      'timeout',
    ],
    command: 'init',
  }),
};

function beginsOrGoesOn(body: { deployment?: string; describe?: string; conversation?: string; answer?: string }) {
  const { deployment, describe, conversation, answer } = body;
  const begins = deployment !== undefined && describe !== undefined;
  const goesOn = conversation !== undefined && answer !== undefined;
  const mixes = (deployment ?? describe) !== undefined && (conversation ?? answer) !== undefined;
  return (begins || goesOn) && !mixes;
}
