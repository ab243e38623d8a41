import { z } from 'zod';
import { deploymentParams } from './deployment-params.ts';
import { route } from './route.ts';
import { userId } from './user-id.ts';

/** Left to the protocol's own reader: its faults must be answered as JSON-RPC errors, not as ours. */
const jsonRpc = z.unknown().meta({
  title: 'JSON-RPC 2.0 message',
  type: 'object',
  properties: { jsonrpc: { const: '2.0' }, method: { type: 'string' } },
  required: ['jsonrpc'],
});

const mediaTypes = z.array(z.string());

const agentCard = z.object({
  name: z.string(),
  description: z.string(),
  supportedInterfaces: z.array(
    z.object({ url: z.string(), protocolBinding: z.literal('JSONRPC'), protocolVersion: z.string() }),
  ),
  provider: z.object({ url: z.string(), organization: z.string() }).optional(),
  version: z.string().meta({ description: 'The live version.' }),
  documentationUrl: z.string().optional(),
  capabilities: z.object({
    streaming: z.literal(true),
    pushNotifications: z.literal(false),
    extendedAgentCard: z.literal(false),
  }),
  securitySchemes: z.record(z.string(), z.unknown()),
  securityRequirements: z.array(z.record(z.string(), z.unknown())).optional(),
  defaultInputModes: mediaTypes,
  defaultOutputModes: mediaTypes,
  skills: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      description: z.string(),
      tags: z.array(z.string()),
      examples: z.array(z.string()),
      inputModes: mediaTypes,
      outputModes: mediaTypes,
    }),
  ),
});

export const protocols = {
  mcp: route({
    method: 'POST',
    path: '/v1/mcp',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Speak MCP over streamable HTTP: the CLI’s commands as tools.',
    headers: z.object({
      Accept: z.string().meta({ description: 'Lists both `application/json` and `text/event-stream`.' }),
    }),
    body: jsonRpc,
    status: 200,
    alsoStatus: [202],
    response: jsonRpc,
    produces: ['text/event-stream'],
    streams: true,
    errors: ['origin_not_allowed'],
    command: null,
  }),
  a2a: route({
    method: 'POST',
    path: '/v1/a2a/{deployment_id}',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Speak A2A with a deployment: an exchange is a conversation, an A2A task its work.',
    params: deploymentParams,
    headers: z.object({
      'Service-User': userId().optional().meta({ description: 'The user the agent works for.' }),
    }),
    body: jsonRpc,
    status: 200,
    response: jsonRpc,
    produces: ['text/event-stream'],
    streams: true,
    errors: ['deployment_not_found', 'deployment_not_live', 'deployment_archived', 'user_disabled', 'user_required'],
    command: null,
  }),
  agentCard: route({
    method: 'GET',
    path: '/v1/a2a/{deployment_id}/.well-known/agent-card.json',
    auth: 'open',
    summary: 'Show the agent card of a deployment.',
    params: deploymentParams,
    status: 200,
    response: agentCard,
    errors: ['deployment_not_found', 'deployment_not_live'],
    command: null,
  }),
};
