import { z } from 'zod';
import { deploymentParams } from './deployment-params.ts';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { deleted } from './page.ts';
import { modes, route } from './route.ts';
import { text } from './text.ts';
import { time } from './time.ts';
import { userId } from './user-id.ts';
import { webAddress } from './web-address.ts';

/** A function that the deployment declares, as the agent is offered it. */
const declaredFunction = z.object({
  name: z.string(),
  description: z.string(),
  input_schema: z.record(z.string(), z.unknown()).meta({ description: 'What its arguments fit, as a JSON Schema.' }),
  timeout_s: z.int(),
  read_only: z.boolean(),
  run_without_asking: z.boolean(),
});

const claimId = text(1, 64).meta({ description: 'Tells who has taken the call, from `take`.' });

/** A call that was taken: whoever has it carries it out, and answers it as the interaction with this id. */
const takenCall = z.object({
  object: z.literal('tool_call'),
  call_id: id('call').meta({
    description: 'The same however often the call is taken: the key by which its effect happens once.',
  }),
  name: z.string(),
  arguments: z.unknown(),
  deployment_id: id('dep'),
  conversation_id: id('conv'),
  task_id: id('task').nullable(),
  user_id: userId().nullable(),
  claim_id: claimId,
  attempt: z.int().meta({ description: 'Above 1: somebody took it before and may have carried it out.' }),
  taken_until: time.meta({ description: 'Others may take it from then on, unless it is renewed.' }),
  expires_at: time.nullable().meta({ description: 'The agent goes on without an answer then.' }),
});

const leaseSeconds = z
  .int()
  .min(5)
  .max(600)
  .default(30)
  .meta({ description: 'How long nobody else takes the call, from now on.' });

const callParams = z.strictObject({ call_id: failsWith('interaction_not_found', id('call')) });

const functionEndpoint = z.object({
  object: z.literal('function_endpoint'),
  deployment_id: id('dep'),
  mode: z.enum(modes),
  url: z.string(),
  last_failure: z.object({ message: z.string(), at: time }).nullable(),
  created_at: time,
  updated_at: time,
});

const withSecret = functionEndpoint.extend({ secret: z.string() });

export const functions = {
  list: route({
    method: 'GET',
    path: '/v1/deployments/{deployment_id}/functions',
    auth: 'key',
    scopes: ['runtime', 'setup'],
    summary: 'List the functions that the company’s own code answers, of the version that the key’s mode runs.',
    params: deploymentParams,
    status: 200,
    response: z.object({ deployment_id: id('dep'), version: z.int(), data: z.array(declaredFunction) }),
    errors: ['deployment_not_found', 'deployment_archived', 'deployment_not_live'],
    command: 'functions list',
  }),
  take: route({
    method: 'POST',
    path: '/v1/deployments/{deployment_id}/tool-calls/take',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Take calls of functions that wait, of any conversation of the deployment; waits until there are some.',
    params: deploymentParams,
    body: z.strictObject({
      functions: z
        .array(text(1, 64))
        .min(1, 'Name at least one function.')
        .max(200, 'At most 200 functions.')
        .meta({ description: 'The functions whose calls are taken.' }),
      limit: z.int().min(1).max(100).default(1),
      lease_s: leaseSeconds,
      wait_s: z.int().min(0).max(60).default(0).meta({ description: 'How long to wait where no call is open.' }),
    }),
    status: 200,
    response: z.object({ data: z.array(takenCall) }),
    errors: ['deployment_not_found'],
    command: null,
  }),
  renew: route({
    method: 'POST',
    path: '/v1/tool-calls/{call_id}/renew',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Keep a call that was taken for longer, and say how far it is.',
    params: callParams,
    body: z.strictObject({
      claim_id: claimId,
      lease_s: leaseSeconds,
      progress: text(1, 200).optional().meta({ description: 'Shown to the person while they wait.' }),
    }),
    status: 200,
    response: z.object({ call_id: id('call'), taken_until: time }),
    errors: ['already_answered', 'interaction_expired', 'tool_call_taken'],
    command: null,
  }),
  release: route({
    method: 'POST',
    path: '/v1/tool-calls/{call_id}/release',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Give back a call that was taken: others may take it at once.',
    params: callParams,
    body: z.strictObject({ claim_id: claimId }),
    status: 200,
    response: z.object({ call_id: id('call'), released: z.literal(true) }),
    errors: ['already_answered', 'interaction_expired', 'tool_call_taken'],
    command: null,
  }),
  endpoint: route({
    method: 'GET',
    path: '/v1/deployments/{deployment_id}/function-endpoint',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Show the https address that answers the deployment’s functions in the key’s mode.',
    params: deploymentParams,
    status: 200,
    response: functionEndpoint,
    errors: ['deployment_not_found', 'function_endpoint_not_found'],
    command: 'functions endpoint',
  }),
  setEndpoint: route({
    method: 'PUT',
    path: '/v1/deployments/{deployment_id}/function-endpoint',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Name the https address that answers the deployment’s functions; its signing secret is shown once.',
    showsSecret: true,
    params: deploymentParams,
    body: z.strictObject({ url: webAddress }),
    status: 200,
    response: functionEndpoint.extend({ secret: z.string().optional() }),
    errors: ['deployment_not_found'],
    command: 'functions set-endpoint',
  }),
  deleteEndpoint: route({
    method: 'DELETE',
    path: '/v1/deployments/{deployment_id}/function-endpoint',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Call that address no more.',
    params: deploymentParams,
    status: 200,
    response: deleted('function_endpoint'),
    errors: ['deployment_not_found', 'function_endpoint_not_found'],
    command: 'functions delete-endpoint',
  }),
  rollEndpointSecret: route({
    method: 'POST',
    path: '/v1/deployments/{deployment_id}/function-endpoint/roll-secret',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Give that address a new signing secret; the old one is accepted for 24 hours.',
    idempotent: true,
    showsSecret: true,
    params: deploymentParams,
    status: 200,
    response: withSecret,
    errors: ['deployment_not_found', 'function_endpoint_not_found'],
    command: 'functions roll-secret',
  }),
};
