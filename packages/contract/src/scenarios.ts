import { z } from 'zod';
import { deploymentParams } from './deployment-params.ts';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { deleted, page, pageQuery } from './page.ts';
import { route } from './route.ts';
import {
  goal,
  mustNever,
  persona,
  recordedCalls,
  scenarioName,
  successCriteria,
  toolResults,
} from './scenario-fields.ts';
import { tag } from './tag.ts';
import { createdAt, updatedAt } from './time.ts';

const drafted = z.object({
  name: z.string().describe('What the test is called.'),
  persona: z.string().describe('Who the pretend user is and how they talk.'),
  goal: z.string().describe('What the pretend user wants, in their own words.'),
  success_criteria: z.array(z.string()).describe('What must be true at the end; every line must be met.'),
  must_never: z.array(z.string()).describe('What must never happen; any line fails the test.'),
  tool_results: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('What tools answer in this test, by the name of the tool or `<server slug>.<tool>`.'),
  recorded_calls: z
    .array(
      z.object({
        tool: z.string().describe('The tool, as `tool_results` names it.'),
        arguments: z.record(z.string(), z.unknown()).describe('The arguments of the call.'),
        result: z.unknown().describe('What the tool answers to them: text, or any JSON.'),
        is_error: z.boolean().optional().describe('True: the tool fails with this answer.'),
      }),
    )
    .optional()
    .describe('What tools answer to certain arguments, before `tool_results` is looked at.'),
  approves: z
    .boolean()
    .optional()
    .describe('Whether the pretend user says yes to tools of the deployment’s MCP servers; absent: no.'),
});

const scenario = z
  .object({
    object: tag('scenario'),
    id: id('scn'),
    deployment_id: id('dep'),
    ...drafted.shape,
    managed_by: z
      .literal('file')
      .nullable()
      .describe('`file` where the deployment file declares it and only the file changes it; else null.'),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .describe('A pretend user with a goal, and what success means.');

export const scenarioDraft = z
  .object({
    object: tag('scenario_draft'),
    deployment_id: id('dep').describe('The deployment whose tests it is for.'),
    deployment_version: z.int().min(1).describe('The version that gave the last answer of the talk.'),
    conversation_id: id('conv'),
    user_id: z.string().nullable().describe('Whose talk it was; null: the org’s own.'),
    task_id: id('task').nullable().describe('The task that it was drawn from; null: from the whole conversation.'),
    scenario: drafted.describe('Can be sent to `POST …/scenarios` as it is.'),
    drafted_by: z
      .string()
      .nullable()
      .describe(
        'The model that worded name, persona and criteria; null: they were taken from the talk as it was said.',
      ),
    personal: z
      .array(
        z.object({
          kind: z
            .enum(['user', 'email', 'phone', 'card', 'iban', 'other'])
            .describe(
              'What it looks like; `user`: what you have told of the user, `other`: what the model pointed out.',
            ),
          value: z.string().describe('The value as it stands in the draft.'),
          fields: z.array(z.string()).describe('The fields of the draft that hold it.'),
        }),
      )
      .describe(
        'What says who the person is. A scenario is kept, and read in both modes: replace these before you save it.',
      ),
    notes: z.array(z.string()).describe('What of the talk the draft does not hold, and why.'),
  })
  .describe('A scenario drawn from a talk; not saved.');

const scenarioParams = deploymentParams.extend({ scenario_id: failsWith('scenario_not_found', id('scn')) });

export const scenarios = {
  list: route({
    method: 'GET',
    path: '/v1/deployments/{deployment_id}/scenarios',
    auth: 'key',
    scopes: ['setup'],
    summary: 'List the scenarios of a deployment.',
    description: 'Needs scope `setup`; newest first. Those that the file declares are among them.',
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
    summary: 'Add a scenario: a pretend user, a goal and what success means.',
    description:
      'It is played at the next test run. A tool with no entry in `tool_results` answers an error: a test never changes anything outside.',
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
      approves: z
        .boolean()
        .optional()
        .describe(
          'True: the pretend user says yes to tools of the deployment’s MCP servers; any other yes is always declined.',
        ),
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
      'A model reads the version’s instructions and tools and invents them; the call is billed. Keep the good ones with `POST …/scenarios`.',
    idempotent: true,
    params: deploymentParams,
    body: z.strictObject({
      count: z.int().min(1).max(10).default(5).describe('How many to draft, 1 to 10.'),
      version: z.int().min(1).optional().describe('The version to draft them for; absent: the newest.'),
    }),
    bodyOptional: true,
    status: 200,
    response: z.object({
      object: tag('list'),
      data: z.array(drafted).describe('Drafts, to be looked at and created one by one.'),
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
    description: 'What a test run plays, with what its tools answer.',
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
    summary: 'Change a scenario; fields left out stay.',
    description:
      'Runs that have begun keep what they began with. One that the file declares is changed there (409 `managed_by_file`).',
    params: scenarioParams,
    body: z.strictObject({
      name: scenarioName.optional(),
      persona: persona.optional(),
      goal: goal.optional(),
      success_criteria: successCriteria.optional(),
      must_never: mustNever.optional(),
      tool_results: toolResults.optional(),
      recorded_calls: recordedCalls.optional(),
      approves: z
        .boolean()
        .optional()
        .describe('True: the pretend user says yes to tools of the deployment’s MCP servers.'),
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
    description: 'Results of earlier runs stay. One that the file declares is removed there (409 `managed_by_file`).',
    params: scenarioParams,
    status: 200,
    response: deleted('scenario'),
    errors: ['deployment_not_found', 'managed_by_file'],
    command: 'scenarios delete',
  }),
};
