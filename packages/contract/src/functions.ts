import { z } from 'zod';
import { deploymentParams } from './deployment-params.ts';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { deleted } from './page.ts';
import { modes, route } from './route.ts';
import { tag } from './tag.ts';
import { text } from './text.ts';
import { createdAt, time, updatedAt } from './time.ts';
import { userId } from './user-id.ts';
import { webAddress } from './web-address.ts';

/** A function that the deployment declares, as offered to the agent. */
const declaredFunction = z.object({
  name: z.string().describe('The name of the function.'),
  description: z.string().describe('The description by which the agent decides when to call it.'),
  input_schema: z.record(z.string(), z.unknown()).describe('A JSON Schema for its arguments.'),
  timeout_s: z.int().describe('Seconds the agent waits for your answer, 5 to 600.'),
  read_only: z.boolean().describe('Whether it is a lookup that changes nothing, and so never needs approval.'),
  run_without_asking: z.boolean().describe('Whether it changes something and still needs no approval.'),
});

const claimId = text(1, 64).describe('Identifies the claim on the call, from `take`.');

/** A claimed call: its owner runs it and answers the interaction with this id. */
const takenCall = z
  .object({
    object: tag('tool_call'),
    call_id: id('call').describe(
      'The same however often the call is taken: use it as the idempotency key of the effect.',
    ),
    name: z.string().describe('The function to run.'),
    arguments: z.unknown().describe('Its arguments; checked against the function’s schema.'),
    deployment_id: id('dep'),
    conversation_id: id('conv'),
    task_id: id('task').nullable().describe('The task that calls it; null if a reply calls it.'),
    user_id: userId().nullable().describe('The user of the call; null: the org’s own agent.'),
    claim_id: claimId,
    attempt: z.int().describe('Above 1: another worker took it before and may have run it.'),
    taken_until: time.describe('Others may take it after this time, unless it is renewed.'),
    expires_at: time.nullable().describe('When the agent continues without an answer.'),
  })
  .describe('A call of a function that you have taken: run it, and answer the interaction with this id.');

const leaseSeconds = z
  .int()
  .min(5)
  .max(600)
  .default(30)
  .describe('How long nobody else may take the call, from now on.');

const callParams = z.strictObject({ call_id: failsWith('interaction_not_found', id('call')) });

const functionEndpoint = z
  .object({
    object: tag('function_endpoint'),
    deployment_id: id('dep'),
    mode: z.enum(modes).describe('The mode whose calls it answers.'),
    url: z.string().describe('The https address that is called.'),
    last_failure: z
      .object({
        message: z.string().describe('The failure, in a sentence.'),
        at: time.describe('When it failed, as ISO 8601 in UTC.'),
      })
      .nullable()
      .describe('The last failure at this address; null if there was none.'),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .describe('The address that answers the functions of a deployment.');

const withSecret = functionEndpoint.extend({
  secret: z.string().describe('`whsec_…`: calls are signed with it like webhooks; shown only once.'),
});

export const functions = {
  list: route({
    method: 'GET',
    path: '/v1/deployments/{deployment_id}/functions',
    auth: 'key',
    scopes: ['runtime', 'setup'],
    summary: 'List the functions that the company’s code answers, for the version that the key’s mode runs.',
    description: 'Needs scope `runtime` or `setup`. A worker reads it before it takes calls.',
    params: deploymentParams,
    status: 200,
    response: z.object({
      deployment_id: id('dep'),
      version: z.int().describe('The version of the deployment that declares them.'),
      has_endpoint: z.boolean().describe('Whether an address answers them; see `GET …/function-endpoint`.'),
      data: z.array(declaredFunction).describe('The functions, in the order of the file.'),
    }),
    errors: ['deployment_not_found', 'deployment_archived', 'deployment_not_live'],
    command: 'functions list',
  }),
  take: route({
    method: 'POST',
    path: '/v1/deployments/{deployment_id}/tool-calls/take',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Take pending function calls from any conversation of the deployment; waits until there are some.',
    description:
      'For workers behind a firewall: long-poll with `wait_s`, run the calls, and answer them with `POST /v1/interactions/{call_id}/answer`. A call that is neither renewed nor answered within `lease_s` goes to another worker with a higher `attempt`.',
    params: deploymentParams,
    body: z.strictObject({
      functions: z
        .array(text(1, 64))
        .min(1, 'Name at least one function.')
        .max(200, 'At most 200 functions.')
        .describe('The functions whose calls to take.'),
      limit: z.int().min(1).max(100).default(1).describe('The maximum number of calls to take.'),
      lease_s: leaseSeconds,
      wait_s: z.int().min(0).max(60).default(0).describe('How long to wait if no call is pending.'),
    }),
    status: 200,
    response: z.object({
      data: z.array(takenCall).describe('The calls that you have taken; empty if none was pending in time.'),
    }),
    errors: ['deployment_not_found'],
    command: null,
  }),
  renew: route({
    method: 'POST',
    path: '/v1/tool-calls/{call_id}/renew',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Renew a taken call, and report progress.',
    description:
      'Call it before `taken_until`. Returns `tool_call_taken` if another worker has taken the call: stop then.',
    params: callParams,
    body: z.strictObject({
      claim_id: claimId,
      lease_s: leaseSeconds,
      progress: text(1, 200).optional().describe('Shown to the user while they wait.'),
    }),
    status: 200,
    response: z.object({
      call_id: id('call'),
      taken_until: time.describe('Others may take it after this time, unless it is renewed again.'),
    }),
    errors: ['already_answered', 'interaction_expired', 'tool_call_taken'],
    command: null,
  }),
  release: route({
    method: 'POST',
    path: '/v1/tool-calls/{call_id}/release',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Release a taken call: others may take it at once.',
    description: 'For a worker that shuts down. Its attempt remains counted.',
    params: callParams,
    body: z.strictObject({ claim_id: claimId }),
    status: 200,
    response: z.object({
      call_id: id('call'),
      released: z.literal(true).describe('Always true: others may take the call.'),
    }),
    errors: ['already_answered', 'interaction_expired', 'tool_call_taken'],
    command: null,
  }),
  endpoint: route({
    method: 'GET',
    path: '/v1/deployments/{deployment_id}/function-endpoint',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Show the https address that answers the deployment’s functions in the key’s mode.',
    description: 'Stored per mode. If an address is set, calls are sent there and need not be taken.',
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
    summary: 'Set the https address that answers the deployment’s functions; its signing secret is shown once.',
    description:
      'The address receives each call as a signed POST and answers it. Stored per mode: a live key sets the live one. Setting another address keeps the secret.',
    showsSecret: true,
    params: deploymentParams,
    body: z.strictObject({
      url: webAddress.describe('A public https address that answers calls within the function’s `timeout_s`.'),
    }),
    status: 200,
    response: functionEndpoint.extend({
      secret: z
        .string()
        .optional()
        .describe('`whsec_…`, if this call created the endpoint; absent if it only changed the address.'),
    }),
    errors: ['deployment_not_found'],
    command: 'functions set-endpoint',
  }),
  deleteEndpoint: route({
    method: 'DELETE',
    path: '/v1/deployments/{deployment_id}/function-endpoint',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Remove that address.',
    description: 'Calls must then be taken or answered over the API.',
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
    summary: 'Roll the signing secret of that address; the old one stays valid for 24 hours.',
    description: 'Calls carry a signature with each secret for 24 hours, so that none is rejected meanwhile.',
    idempotent: true,
    showsSecret: true,
    params: deploymentParams,
    status: 200,
    response: withSecret,
    errors: ['deployment_not_found', 'function_endpoint_not_found'],
    command: 'functions roll-secret',
  }),
};
