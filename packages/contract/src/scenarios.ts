import { z } from 'zod';
import { deploymentParams } from './deployment-params.ts';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { deleted, page, pageQuery } from './page.ts';
import { route } from './route.ts';
import { goal, mustNever, persona, scenarioName, successCriteria, toolResults } from './scenario-fields.ts';
import { time } from './time.ts';

const drafted = z.object({
  name: z.string(),
  persona: z.string(),
  goal: z.string(),
  success_criteria: z.array(z.string()),
  must_never: z.array(z.string()),
  tool_results: z.record(z.string(), z.unknown()).optional(),
  approves: z.boolean().optional(),
});

const scenario = z.object({
  object: z.literal('scenario'),
  id: id('scn'),
  deployment_id: id('dep'),
  ...drafted.shape,
  managed_by: z.literal('file').nullable(),
  created_at: time,
  updated_at: time,
});

const scenarioParams = deploymentParams.extend({ scenario_id: failsWith('scenario_not_found', id('scn')) });

export const scenarios = {
  list: route({
    method: 'GET',
    path: '/v1/deployments/{deployment_id}/scenarios',
    auth: 'key',
    scopes: ['setup'],
    summary: 'List the scenarios of a deployment.',
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
    idempotent: true,
    params: deploymentParams,
    body: z.strictObject({
      name: scenarioName,
      persona,
      goal,
      success_criteria: successCriteria,
      must_never: mustNever.default([]),
      tool_results: toolResults.optional(),
      approves: z.boolean().optional(),
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
    idempotent: true,
    params: deploymentParams,
    body: z.strictObject({
      count: z.int().min(1).max(10).default(5),
      /** Absent: the newest. */
      version: z.int().min(1).optional(),
    }),
    bodyOptional: true,
    status: 200,
    response: z.object({ object: z.literal('list'), data: z.array(drafted) }),
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
    params: scenarioParams,
    body: z.strictObject({
      name: scenarioName.optional(),
      persona: persona.optional(),
      goal: goal.optional(),
      success_criteria: successCriteria.optional(),
      must_never: mustNever.optional(),
      tool_results: toolResults.optional(),
      approves: z.boolean().optional(),
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
    params: scenarioParams,
    status: 200,
    response: deleted('scenario'),
    errors: ['deployment_not_found', 'managed_by_file'],
    command: 'scenarios delete',
  }),
};
