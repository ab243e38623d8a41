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
  name: z.string().describe('What the agent calls it by.'),
  description: z.string().describe('What the agent reads to decide when to call it.'),
  input_schema: z.record(z.string(), z.unknown()).describe('What its arguments fit, as a JSON Schema.'),
  timeout_s: z.int().describe('Seconds the agent waits for your answer, 5 to 600.'),
  read_only: z.boolean().describe('Whether it is a lookup that changes nothing, and so never waits for a yes.'),
  run_without_asking: z.boolean().describe('Whether it changes something and still needs no yes.'),
});

const claimId = text(1, 64).describe('Tells who has taken the call, from `take`.');

/** A claimed call: its owner runs it and answers the interaction with this id. */
const takenCall = z
  .object({
    object: tag('tool_call'),
    call_id: id('call').describe('The same however often the call is taken: the key by which its effect happens once.'),
    name: z.string().describe('The function to carry out.'),
    arguments: z.unknown().describe('What to call it with; checked against the function’s schema.'),
    deployment_id: id('dep'),
    conversation_id: id('conv'),
    task_id: id('task').nullable().describe('The work that calls it; null where a reply does.'),
    user_id: userId().nullable().describe('Whom it is called for; null: the org’s own agent.'),
    claim_id: claimId,
    attempt: z.int().describe('Above 1: somebody took it before and may have carried it out.'),
    taken_until: time.describe('Others may take it from then on, unless it is renewed.'),
    expires_at: time.nullable().describe('The agent goes on without an answer then.'),
  })
  .describe('A call of a function that you have taken: carry it out, and answer it as the interaction with this id.');

const leaseSeconds = z.int().min(5).max(600).default(30).describe('How long nobody else takes the call, from now on.');

const callParams = z.strictObject({ call_id: failsWith('interaction_not_found', id('call')) });

const functionEndpoint = z
  .object({
    object: tag('function_endpoint'),
    deployment_id: id('dep'),
    mode: z.enum(modes).describe('The mode whose calls it answers.'),
    url: z.string().describe('The https address that is called.'),
    last_failure: z
      .object({
        message: z.string().describe('What went wrong, in a sentence.'),
        at: time.describe('When that was, as ISO 8601 in UTC.'),
      })
      .nullable()
      .describe('What went wrong the last time it failed; null where it never has at this address.'),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .describe('The address that answers the functions of a deployment.');

const withSecret = functionEndpoint.extend({
  secret: z.string().describe('`whsec_…`: calls are signed with it as webhooks are; shown this once.'),
});

export const functions = {
  list: route({
    method: 'GET',
    path: '/v1/deployments/{deployment_id}/functions',
    auth: 'key',
    scopes: ['runtime', 'setup'],
    summary: 'List the functions that the company’s own code answers, of the version that the key’s mode runs.',
    description: 'Needs scope `runtime` or `setup`. What a worker needs to know before it takes calls.',
    params: deploymentParams,
    status: 200,
    response: z.object({
      deployment_id: id('dep'),
      version: z.int().describe('The version of the deployment that declares them.'),
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
    summary: 'Take calls of functions that wait, of any conversation of the deployment; waits until there are some.',
    description:
      'For workers behind a firewall: long-poll with `wait_s`, carry out what comes, and answer it with `POST /v1/interactions/{call_id}/answer`. A call that is neither renewed nor answered in `lease_s` goes to another worker with `attempt` counted up.',
    params: deploymentParams,
    body: z.strictObject({
      functions: z
        .array(text(1, 64))
        .min(1, 'Name at least one function.')
        .max(200, 'At most 200 functions.')
        .describe('The functions whose calls are taken.'),
      limit: z.int().min(1).max(100).default(1).describe('How many calls to take at most.'),
      lease_s: leaseSeconds,
      wait_s: z.int().min(0).max(60).default(0).describe('How long to wait where no call is open.'),
    }),
    status: 200,
    response: z.object({
      data: z.array(takenCall).describe('The calls that are yours now; empty where none was open in time.'),
    }),
    errors: ['deployment_not_found'],
    command: null,
  }),
  renew: route({
    method: 'POST',
    path: '/v1/tool-calls/{call_id}/renew',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Keep a call that was taken for longer, and say how far it is.',
    description:
      'Call it before `taken_until`. Answers `tool_call_taken` where another worker has the call by now: stop then.',
    params: callParams,
    body: z.strictObject({
      claim_id: claimId,
      lease_s: leaseSeconds,
      progress: text(1, 200).optional().describe('Shown to the person while they wait.'),
    }),
    status: 200,
    response: z.object({
      call_id: id('call'),
      taken_until: time.describe('Others may take it from then on, unless it is renewed again.'),
    }),
    errors: ['already_answered', 'interaction_expired', 'tool_call_taken'],
    command: null,
  }),
  release: route({
    method: 'POST',
    path: '/v1/tool-calls/{call_id}/release',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Give back a call that was taken: others may take it at once.',
    description: 'For a worker that shuts down. The attempt it took stays counted.',
    params: callParams,
    body: z.strictObject({ claim_id: claimId }),
    status: 200,
    response: z.object({
      call_id: id('call'),
      released: z.literal(true).describe('Always true: the call is open to others.'),
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
    description: 'Kept per mode. Where an address is set, calls go there and need not be taken.',
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
    description:
      'The address gets each call as a signed POST and answers it. Kept per mode: a live key sets the live one. Setting another address keeps the secret.',
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
        .describe('`whsec_…`, where this call made the endpoint; absent where it only changed the address.'),
    }),
    errors: ['deployment_not_found'],
    command: 'functions set-endpoint',
  }),
  deleteEndpoint: route({
    method: 'DELETE',
    path: '/v1/deployments/{deployment_id}/function-endpoint',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Call that address no more.',
    description: 'Calls then wait to be taken or answered over the API.',
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
    description: 'Calls carry a signature of each secret for 24 hours, so that nothing is refused meanwhile.',
    idempotent: true,
    showsSecret: true,
    params: deploymentParams,
    status: 200,
    response: withSecret,
    errors: ['deployment_not_found', 'function_endpoint_not_found'],
    command: 'functions roll-secret',
  }),
};
