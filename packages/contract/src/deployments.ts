import { z } from 'zod';
import { deployment, deploymentVersion, promotion, versionParams, webhookSecrets } from './deployment.ts';
import { deploymentFile } from './deployment-file.ts';
import { deploymentParams } from './deployment-params.ts';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { manifest } from './manifest.ts';
import { deleted, page, pageQuery } from './page.ts';
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
      'For settings sent as JSON; to apply a whole file with its folders use `PUT`, the CLI or an SDK. Its first version is the draft that test keys run; nothing is live yet.',
    idempotent: true,
    body: z.strictObject({
      name: text(1, 120).describe('What people call it, 1 to 120 characters.'),
      slug: deploymentSlug.optional().describe('Its name in addresses; absent: made from `name`.'),
      description: text(0, 2000)
        .default('')
        .describe('What it is for, at most 2,000 characters; the agent card shows it.'),
      manifest: manifest.prefault({}).describe('Settings of its first version; a key left out takes its default.'),
      note: text(0, 500).optional().describe('A note on the version, at most 500 characters.'),
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
    description:
      'With `format=yaml` the answer is `application/yaml`, a file that changes nothing when it is applied again.',
    params: deploymentParams,
    query: z.strictObject({
      format: z
        .enum(['json', 'yaml'])
        .default('json')
        .describe('`yaml` answers the newest version as a deployment file.'),
    }),
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
    description:
      'Send the file as JSON; its `name` must equal the path. Registers MCP servers, replaces the file’s tests, routines and webhooks, and saves a version where something changed. Local folders cannot be read over HTTP: the CLI and the SDKs upload them first. All faults of the file come together in `errors`.',
    showsSecret: true,
    params: deploymentParams,
    query: z.strictObject({
      promote: z
        .enum(['after_tests', 'now', 'no'])
        .default('after_tests')
        .describe('`after_tests`: it runs once the file’s tests pass; `now`: at once; `no`: it is only saved.'),
      expected_version: z
        .string()
        .regex(/^(0|[1-9][0-9]{0,8})$/, 'A version is a whole number from 1; 0 stands for none.')
        .transform(Number)
        .optional()
        .describe(
          'The `newest_version` that the file was written from, 0 for a deployment that is not there yet. Where another is the newest by then, nothing is applied (409 `deployment_changed`).',
        ),
    }),
    body: deploymentFile,
    checkedBy: 'handler',
    status: 200,
    response: deployment.extend({
      ...promotion,
      changed: z
        .array(z.string())
        .describe('The keys of the file that changed; empty where nothing did and no version was made.'),
      created: z.boolean().describe('Whether this call made the deployment.'),
      warnings: z
        .array(
          z.object({
            param: z.string().describe('The dotted path of the field in the file.'),
            message: z.string().describe('What may be wrong with it, in a sentence.'),
          }),
        )
        .describe('What was taken and may not be what was meant.'),
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
    summary: 'Change the name or description, which the agent card shows too; needs a live key once a version is live.',
    description: 'Settings are not changed here but by a new version.',
    params: deploymentParams,
    body: z.strictObject({
      name: text(1, 120).optional().describe('What people call it from now on; the slug stays.'),
      description: text(0, 2000).optional().describe('What it is for; an empty text clears it.'),
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
    description: 'Each says what it changed, who saved it and how its tests went.',
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
    summary: 'Compare the documents and the files of skills of two versions.',
    description:
      'What `manifest` does not show: the texts that each version fixes. At most 500 changes, with about 1 MB of text; what is beyond is counted, or listed without its text.',
    params: versionParams,
    query: z.strictObject({
      from: z
        .string()
        .regex(/^[1-9][0-9]{0,8}$/, 'A version is a whole number from 1.')
        .transform(Number)
        .optional()
        .describe('The version to compare with; absent: the one before, and for version 1 nothing.'),
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
              of_name: z.string().describe('What that notebook or skill is called.'),
              name: z.string().describe('The title of the document, or the path of the file.'),
              change: z
                .enum(['added', 'removed', 'changed'])
                .describe('What became of it from the one version to the other.'),
              before: z
                .string()
                .nullable()
                .describe('Its text in `from`; null where it was not in it, or is left out.'),
              after: z
                .string()
                .nullable()
                .describe('Its text in `version`; null where it is not in it, or is left out.'),
              text_left_out: z.boolean().describe('Whether its texts are left out, because all together are too much.'),
            }),
          )
          .describe('Documents first, then files of skills, each in the order of their names.'),
        left_out: z.int().min(0).describe('How many more changes there are.'),
      })
      .describe('How the content of two versions differs.'),
    errors: ['deployment_not_found', 'version_not_found'],
    command: 'versions content-changes',
  }),
  promote: route({
    method: 'POST',
    path: '/v1/deployments/{deployment_id}/promote',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Let a version become the one that the key’s mode runs, at once or when its tests pass.',
    description:
      'With a live key live users get it from their next message on; with a test key the draft moves to it. Secrets, notebooks and skills that it needs are checked first. `after_tests` answers at once and promotes when the run has passed.',
    idempotent: true,
    showsSecret: true,
    params: deploymentParams,
    body: z.strictObject({
      version: z.int().min(1).optional().describe('Which version, older ones included; absent: the newest.'),
      when: z
        .enum(['now', 'after_tests'])
        .default('now')
        .describe('`now`: at once; `after_tests`: when its scenarios have passed.'),
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
    description: 'Promotions form a stack: calling it again goes one further back.',
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
    description:
      'Conversations that are going on are refused further messages. Needs a live key once a version is live.',
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
    description: 'Its pointers are as they were. Needs a live key once a version is live.',
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
    description:
      'Versions, scenarios and test runs go with it; conversations, usage and the audit log stay. Refused with `deployment_live` while a version is live.',
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
    description:
      '201 begins, 200 goes on; five to eight questions at most. Nothing is saved: apply the file once it is `ready`.',
    idempotent: true,
    body: z
      .strictObject({
        deployment: text(1, 120).optional().describe('The name that the new deployment will have; to begin.'),
        describe: text(1, 8000).optional().describe('The job, in your own words; to begin.'),
        conversation: failsWith('invalid_conversation_id', id('conv'))
          .optional()
          .describe('The `conversation_id` of the answer before; to go on.'),
        answer: text(1, 8000).optional().describe('The answer to the last question; to go on.'),
      })
      .refine(beginsOrGoesOn, {
        error: 'Send `deployment` with `describe` to begin, or `conversation` with `answer` to go on.',
        params: { code: 'describe_or_answer' },
      }),
    status: 201,
    alsoStatus: [200],
    response: z.object({
      object: tag('interview'),
      conversation_id: id('conv'),
      deployment: z.string().describe('The slug that the file names.'),
      status: z.enum(['asking', 'ready']).describe('`asking` until it knows enough, then `ready`.'),
      question: z.string().nullable().describe('What it wants to know next; null once it is ready.'),
      file: z
        .looseObject({ name: z.string().describe('The slug of the deployment.') })
        .nullable()
        .describe('The deployment file so far, as JSON; null before there is one.'),
      yaml: z
        .string()
        .nullable()
        .describe('The same file as YAML, to save as `service.yaml`; null before there is one.'),
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
