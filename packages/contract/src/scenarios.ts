import { z } from 'zod';
import { deploymentParams, versionInput } from './deployment-params.ts';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { deleted, page, pageQuery } from './page.ts';
import { route } from './route.ts';
import {
  approves,
  goal,
  mustNever,
  persona,
  recordedCalls,
  runs,
  scenarioName,
  successCriteria,
  toolResults,
} from './scenario-fields.ts';
import { tag } from './tag.ts';
import { createdAt, updatedAt } from './time.ts';

const drafted = z.object({
  name: z.string().describe('The name of the test.'),
  persona: z.string().describe('The simulated user and how they talk.'),
  goal: z.string().describe('The simulated user’s goal, in their own words.'),
  success_criteria: z.array(z.string()).describe('What must be true at the end; every line must be met.'),
  must_never: z.array(z.string()).describe('What must never happen; any line fails the test.'),
  tool_results: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Tool results in this test, by the name of the tool or `<server slug>.<tool>`.'),
  recorded_calls: z
    .array(
      z.object({
        tool: z.string().describe('The tool, as named in `tool_results`.'),
        arguments: z.record(z.string(), z.unknown()).describe('The arguments of the call.'),
        result: z.unknown().describe('The tool’s result for them: text, or any JSON.'),
        is_error: z.boolean().optional().describe('True: the tool fails with this result.'),
      }),
    )
    .optional()
    .describe('Tool results for specific arguments, which take precedence over `tool_results`.'),
  approves: z
    .boolean()
    .optional()
    .describe('Whether the simulated user approves functions and tools of the deployment’s MCP servers; absent: no.'),
  runs: z.int().optional().describe('How often the test is played; absent: once.'),
});

const scenario = z
  .object({
    object: tag('scenario'),
    id: id('scn'),
    deployment_id: id('dep'),
    ...drafted.shape,
    as: z
      .object({
        user_id: z.string().optional().describe('The user whose notebooks the test reads.'),
        secrets: z
          .record(z.string(), z.string())
          .optional()
          .describe('References to secrets of the company, by the name of the user’s secret.'),
      })
      .optional()
      .describe('The user that the test is played as. Only the deployment file sets it.'),
    managed_by: z
      .literal('file')
      .nullable()
      .describe('`file` if the deployment file declares it and only the file changes it; else null.'),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .describe('A simulated user with a goal, and the success criteria.');

export const scenarioDraft = z
  .object({
    object: tag('scenario_draft'),
    deployment_id: id('dep').describe('The deployment of the test.'),
    deployment_version: z.int().min(1).describe('The version that gave the last answer of the conversation.'),
    conversation_id: id('conv'),
    user_id: z.string().nullable().describe('The user of the conversation; null: the org’s own agent.'),
    task_id: id('task').nullable().describe('The task it was drafted from; null: the whole conversation.'),
    scenario: drafted.describe('Can be sent to `POST …/scenarios` unchanged.'),
    drafted_by: z
      .string()
      .nullable()
      .describe('The model that wrote name, persona and criteria; null: they were copied from the conversation.'),
    personal: z
      .array(
        z.object({
          kind: z
            .enum(['user', 'email', 'phone', 'card', 'iban', 'other'])
            .describe('The kind of data; `user`: your data about the user, `other`: found by the model.'),
          value: z.string().describe('The value in the draft.'),
          fields: z.array(z.string()).describe('The fields of the draft that contain it.'),
        }),
      )
      .describe(
        'Personal data in the draft. A scenario is stored and readable in both modes: replace these before you save it.',
      ),
    notes: z.array(z.string()).describe('Parts of the conversation that the draft omits, and why.'),
  })
  .describe('A scenario drafted from a conversation; not saved.');

const scenarioParams = deploymentParams.extend({ scenario_id: failsWith('scenario_not_found', id('scn')) });

export const scenarios = {
  list: route({
    method: 'GET',
    path: '/v1/deployments/{deployment_id}/scenarios',
    auth: 'key',
    scopes: ['setup'],
    summary: 'List the scenarios of a deployment.',
    description: 'Needs scope `setup`; newest first. Includes those that the file declares.',
    params: deploymentParams,
    query: z.strictObject(pageQuery),
    status: 200,
    response: page(scenario),
    errors: ['deployment_not_found'],
    command: 'scenarios list',
  }),
  create: route({
    method: 'POST',
    path: '/v1/deployments/{deployment_id}/scenarios',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Add a scenario: a simulated user, a goal and success criteria.',
    description:
      'It runs with the next test run. A tool without an entry in `tool_results` returns an error: a test never changes anything outside.',
    idempotent: true,
    params: deploymentParams,
    body: z.strictObject({
      name: scenarioName,
      persona,
      goal,
      success_criteria: successCriteria,
      must_never: mustNever.default([]),
      tool_results: toolResults.optional(),
      recorded_calls: recordedCalls.optional(),
      approves: approves.optional(),
      runs: runs.optional(),
    }),
    status: 201,
    response: scenario,
    errors: ['deployment_not_found'],
    command: 'scenarios create',
  }),
  generate: route({
    method: 'POST',
    path: '/v1/deployments/{deployment_id}/scenarios/generate',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Draft scenarios for a version; nothing is saved.',
    description:
      'A model reads the version’s instructions and tools and writes them; the call is billed. Save the good ones with `POST …/scenarios`.',
    idempotent: true,
    params: deploymentParams,
    body: z.strictObject({
      count: z.int().min(1).max(10).default(5).describe('The number of drafts, 1 to 10.'),
      version: versionInput.optional().describe('The version to draft them for; absent: the newest.'),
    }),
    bodyOptional: true,
    status: 200,
    response: z.object({
      object: tag('list'),
      data: z.array(drafted).describe('Drafts, to be reviewed and created one by one.'),
    }),
    errors: [
      'deployment_not_found',
      'version_not_found',
      'wallet_empty',
      'org_cap_reached',
      'model_error',
      'model_unavailable',
      'timeout',
    ],
    command: 'scenarios generate',
  }),
  get: route({
    method: 'GET',
    path: '/v1/deployments/{deployment_id}/scenarios/{scenario_id}',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Read one scenario.',
    description: 'The contents of a test, with its tool results.',
    params: scenarioParams,
    status: 200,
    response: scenario,
    errors: ['deployment_not_found'],
    command: 'scenarios get',
  }),
  update: route({
    method: 'PATCH',
    path: '/v1/deployments/{deployment_id}/scenarios/{scenario_id}',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Change a scenario; omitted fields stay.',
    description: 'Started runs use the earlier state. A scenario of a file is changed there (409 `managed_by_file`).',
    params: scenarioParams,
    body: z.strictObject({
      name: scenarioName.optional(),
      persona: persona.optional(),
      goal: goal.optional(),
      success_criteria: successCriteria.optional(),
      must_never: mustNever.optional(),
      tool_results: toolResults.optional(),
      recorded_calls: recordedCalls.optional(),
      approves: approves.optional(),
      runs: runs.optional(),
    }),
    status: 200,
    response: scenario,
    errors: ['deployment_not_found', 'managed_by_file'],
    command: 'scenarios update',
  }),
  delete: route({
    method: 'DELETE',
    path: '/v1/deployments/{deployment_id}/scenarios/{scenario_id}',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Delete a scenario.',
    description: 'Results of earlier runs stay. A scenario of a file is removed there (409 `managed_by_file`).',
    params: scenarioParams,
    status: 200,
    response: deleted('scenario'),
    errors: ['deployment_not_found', 'managed_by_file'],
    command: 'scenarios delete',
  }),
};
