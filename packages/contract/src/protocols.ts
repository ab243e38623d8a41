import { z } from 'zod';
import { deploymentParams } from './deployment-params.ts';
import { route } from './route.ts';
import { userId } from './user-id.ts';

/** Left to the protocol's own parser: its errors must be JSON-RPC errors. */
const jsonRpc = z.unknown().meta({
  title: 'JSON-RPC 2.0 message',
  type: 'object',
  description: 'A request, an answer or a notification of JSON-RPC 2.0, as the protocol defines them.',
  properties: {
    jsonrpc: { const: '2.0', description: 'Always `2.0`: the version of JSON-RPC.' },
    id: { type: ['string', 'integer', 'null'], description: 'Names the request; its answer says it again.' },
    method: { type: 'string', description: 'What is asked for; absent in an answer.' },
    params: { type: 'object', description: 'What it is asked with, as the method takes it.' },
    result: { description: 'What came of it; in an answer that succeeded.' },
    error: { type: 'object', description: 'What went wrong; in an answer that failed.' },
  },
  required: ['jsonrpc'],
});

const mediaTypes = z.array(z.string());

const agentCard = z
  .object({
    name: z.string().describe('What the agent is called.'),
    description: z.string().describe('What the agent is for.'),
    supportedInterfaces: z
      .array(
        z.object({
          url: z.string().describe('The address that takes its messages.'),
          protocolBinding: z.literal('JSONRPC').describe('Always JSON-RPC over HTTP.'),
          protocolVersion: z.string().describe('The version of A2A that is spoken.'),
        }),
      )
      .describe('Where and how it is spoken to.'),
    provider: z
      .object({
        url: z.string().describe('A page of theirs.'),
        organization: z.string().describe('What they are called.'),
      })
      .optional()
      .describe('Who runs the agent.'),
    version: z.string().describe('The live version.'),
    documentationUrl: z.string().optional().describe('Where more is written about it.'),
    capabilities: z
      .object({
        streaming: z.literal(true).describe('Always true: messages and tasks can be followed.'),
        pushNotifications: z.literal(false).describe('Always false: use webhooks.'),
        extendedAgentCard: z.literal(false).describe('Always false: this card is all there is.'),
      })
      .describe('What of A2A it can do.'),
    securitySchemes: z.record(z.string(), z.unknown()).describe('How to show who you are, by name.'),
    securityRequirements: z.array(z.record(z.string(), z.unknown())).optional().describe('Which of these is needed.'),
    defaultInputModes: mediaTypes.describe('Media types that it takes.'),
    defaultOutputModes: mediaTypes.describe('Media types that it answers with.'),
    skills: z
      .array(
        z.object({
          id: z.string().describe('Tells skills apart.'),
          name: z.string().describe('What the skill is called.'),
          description: z.string().describe('What the skill is good for.'),
          tags: z.array(z.string()).describe('Words to find it by.'),
          examples: z.array(z.string()).describe('What one may say to it.'),
          inputModes: mediaTypes.describe('Media types that it takes.'),
          outputModes: mediaTypes.describe('Media types that it answers with.'),
        }),
      )
      .describe('What it can be asked for: one skill, talking to it.'),
  })
  .describe('What an A2A agent says of itself.');

export const protocols = {
  mcp: route({
    method: 'POST',
    path: '/v1/mcp',
    auth: 'key',
    scopes: ['runtime'],
    takesGrants: true,
    summary: 'Speak MCP over streamable HTTP: the CLI’s commands as tools.',
    description:
      'Takes a key, or the access token of a client that a member has let in. `tools/list` shows what the scopes allow. Keys and secrets are never handled through it. Faults of the protocol come as JSON-RPC errors.',
    headers: z.object({
      Accept: z.string().describe('Lists both `application/json` and `text/event-stream`.'),
    }),
    body: jsonRpc,
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
    summary: 'Speak A2A with a deployment: an exchange is a conversation, an A2A task its work.',
    description:
      '`SendMessage`, `SendStreamingMessage`, `GetTask`, `ListTasks`, `CancelTask` and `SubscribeToTask` of A2A 1.0. `contextId` is the conversation. No push notifications: use webhooks.',
    params: deploymentParams,
    headers: z.object({
      'Service-User': userId().optional().describe('The user the agent works for.'),
    }),
    body: jsonRpc,
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
    description: 'Open to everybody. Shows the live version.',
    params: deploymentParams,
    status: 200,
    response: agentCard,
    errors: ['deployment_not_found', 'deployment_not_live'],
    command: null,
  }),
};
