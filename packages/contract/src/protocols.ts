import { z } from 'zod';
import { deploymentParams } from './deployment-params.ts';
import { route } from './route.ts';
import { userId } from './user-id.ts';

/** Left to the protocol's own parser: its errors must be JSON-RPC errors. */
const jsonRpc = z.unknown().meta({
  title: 'JSON-RPC 2.0 message',
  type: 'object',
  description: 'A request, response or notification of JSON-RPC 2.0.',
  properties: {
    jsonrpc: { const: '2.0', description: 'Always `2.0`: the version of JSON-RPC.' },
    id: { type: ['string', 'integer', 'null'], description: 'The id of the request, which its response repeats.' },
    method: { type: 'string', description: 'The called method; absent in a response.' },
    params: { type: 'object', description: 'The parameters of the method.' },
    result: { description: 'The result; in a successful response.' },
    error: { type: 'object', description: 'The error; in a failed response.' },
  },
  required: ['jsonrpc'],
});

const mediaTypes = z.array(z.string());

const agentCard = z
  .object({
    name: z.string().describe('The name of the agent.'),
    description: z.string().describe('The purpose of the agent.'),
    supportedInterfaces: z
      .array(
        z.object({
          url: z.string().describe('The address that accepts its messages.'),
          protocolBinding: z.literal('JSONRPC').describe('Always JSON-RPC over HTTP.'),
          protocolVersion: z.string().describe('The version of A2A.'),
        }),
      )
      .describe('Where and how to call it.'),
    provider: z
      .object({
        url: z.string().describe('The provider’s page.'),
        organization: z.string().describe('The provider’s name.'),
      })
      .optional()
      .describe('Who runs the agent.'),
    version: z.string().describe('The live version.'),
    documentationUrl: z.string().optional().describe('The address of its documentation.'),
    capabilities: z
      .object({
        streaming: z.literal(true).describe('Always true: messages and tasks can be followed.'),
        pushNotifications: z.literal(false).describe('Always false: use webhooks.'),
        extendedAgentCard: z.literal(false).describe('Always false: this card is all there is.'),
      })
      .describe('The supported features of A2A.'),
    securitySchemes: z.record(z.string(), z.unknown()).describe('The authentication methods, by name.'),
    securityRequirements: z.array(z.record(z.string(), z.unknown())).optional().describe('The required methods.'),
    defaultInputModes: mediaTypes.describe('Media types that it accepts.'),
    defaultOutputModes: mediaTypes.describe('Media types that it returns.'),
    skills: z
      .array(
        z.object({
          id: z.string().describe('The id of the skill.'),
          name: z.string().describe('The name of the skill.'),
          description: z.string().describe('The purpose of the skill.'),
          tags: z.array(z.string()).describe('Search words for the skill.'),
          examples: z.array(z.string()).describe('Example messages for the skill.'),
          inputModes: mediaTypes.describe('Media types that it accepts.'),
          outputModes: mediaTypes.describe('Media types that it returns.'),
        }),
      )
      .describe('What it can be asked for: one skill, chatting with it.'),
  })
  .describe('The description of an A2A agent.');

export const protocols = {
  mcp: route({
    method: 'POST',
    path: '/v1/mcp',
    auth: 'key',
    scopes: ['runtime'],
    takesGrants: true,
    summary: 'Call MCP over streamable HTTP: the CLI’s commands as tools.',
    description:
      'Accepts a key, or the access token of a client that a member has authorized. `tools/list` shows what the scopes allow. Keys and secrets are never handled through it. Protocol faults are returned as JSON-RPC errors.',
    query: z.strictObject({
      tools: z
        .enum(['all', 'core'], 'Write `tools=all` for every tool, or `tools=core` for the most used ones.')
        .optional()
        .describe('`all` lists every tool and is the default; `core` lists about 20, for clients with a limit.'),
    }),
    headers: z.object({
      Accept: z.string().describe('Lists both `application/json` and `text/event-stream`.'),
    }),
    body: jsonRpc,
    isJsonRpc: true,
    status: 200,
    alsoStatus: [202],
    response: jsonRpc,
    produces: ['text/event-stream'],
    streams: true,
    streamed: jsonRpc,
    errors: ['origin_not_allowed'],
    command: null,
  }),
  a2a: route({
    method: 'POST',
    path: '/v1/a2a/{deployment_id}',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Call a deployment through A2A: a context is a conversation, an A2A task its task.',
    description:
      '`SendMessage`, `SendStreamingMessage`, `GetTask`, `ListTasks`, `CancelTask` and `SubscribeToTask` of A2A 1.0. `contextId` is the conversation. No push notifications: use webhooks.',
    params: deploymentParams,
    headers: z.object({
      'Service-User': userId().optional().describe('The user the agent works for.'),
    }),
    body: jsonRpc,
    isJsonRpc: true,
    status: 200,
    response: jsonRpc,
    produces: ['text/event-stream'],
    streams: true,
    streamed: jsonRpc,
    errors: ['deployment_not_found', 'deployment_not_live', 'deployment_archived', 'user_disabled', 'user_required'],
    command: null,
  }),
  agentCard: route({
    method: 'GET',
    path: '/v1/a2a/{deployment_id}/.well-known/agent-card.json',
    auth: 'open',
    summary: 'Show the agent card of a deployment.',
    description: 'Public. Shows the live version.',
    params: deploymentParams,
    status: 200,
    response: agentCard,
    errors: ['deployment_not_found', 'deployment_not_live'],
    command: null,
  }),
};
