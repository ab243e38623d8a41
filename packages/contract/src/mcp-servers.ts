import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { deleted, page, pageQuery } from './page.ts';
import { route } from './route.ts';
import { shortSlug } from './slug.ts';
import { text } from './text.ts';
import { time } from './time.ts';
import { headers, toolNames } from './tool-entry.ts';
import { webAddress } from './web-address.ts';

const auth = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('none') }),
  z.strictObject({ type: z.literal('headers'), headers }),
]);

const mcpServer = z.object({
  object: z.literal('mcp_server'),
  id: id('mcp'),
  slug: z.string(),
  name: z.string(),
  url: z.string(),
  /** A credential shows as its `${secret:NAME}`, never as its value. */
  auth,
  tools: z.object({ deny: z.array(z.string()), require_approval: z.array(z.string()) }),
  secrets: z.array(z.string()),
  user_secrets: z.array(z.string()),
  created_at: time,
  updated_at: time,
});

const serverParams = z.strictObject({ server_id: failsWith('mcp_server_not_found', id('mcp')) });

export const mcpServers = {
  list: route({
    method: 'GET',
    path: '/v1/mcp-servers',
    auth: 'key',
    scopes: ['setup'],
    summary: 'List the registered MCP servers.',
    query: z.strictObject(pageQuery),
    status: 200,
    response: page(mcpServer),
    errors: [],
    command: 'mcp-servers list',
  }),
  create: route({
    method: 'POST',
    path: '/v1/mcp-servers',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Register an MCP server; its tool lists are a floor under every deployment that uses it.',
    idempotent: true,
    body: z.strictObject({
      name: text(1, 80),
      slug: shortSlug,
      url: webAddress,
      auth: auth.default({ type: 'none' }),
      tools: z.strictObject({ deny: toolNames.default([]), require_approval: toolNames.default([]) }).prefault({}),
    }),
    status: 201,
    response: mcpServer,
    errors: ['slug_taken', 'tool_name_reserved', 'secret_in_url', 'raw_secret_in_header'],
    command: 'mcp-servers create',
  }),
  get: route({
    method: 'GET',
    path: '/v1/mcp-servers/{server_id}',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Read one MCP server.',
    params: serverParams,
    status: 200,
    response: mcpServer,
    errors: [],
    command: 'mcp-servers get',
  }),
  update: route({
    method: 'PATCH',
    path: '/v1/mcp-servers/{server_id}',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Change an MCP server for every deployment in both modes; a tool list left out stays.',
    params: serverParams,
    body: z.strictObject({
      name: text(1, 80).optional(),
      url: webAddress.optional(),
      auth: auth.optional(),
      tools: z.strictObject({ deny: toolNames.optional(), require_approval: toolNames.optional() }).optional(),
    }),
    status: 200,
    response: mcpServer,
    errors: ['secret_in_url', 'raw_secret_in_header', 'mcp_server_live'],
    command: 'mcp-servers update',
  }),
  delete: route({
    method: 'DELETE',
    path: '/v1/mcp-servers/{server_id}',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Remove an MCP server.',
    params: serverParams,
    status: 200,
    response: deleted('mcp_server'),
    errors: ['mcp_server_live'],
    command: 'mcp-servers delete',
  }),
  check: route({
    method: 'POST',
    path: '/v1/mcp-servers/{server_id}/check',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Call an MCP server and list the tools it offers.',
    params: serverParams,
    status: 200,
    response: z.object({
      ok: z.boolean(),
      tools: z.array(z.object({ name: z.string(), description: z.string(), read_only: z.boolean() })),
      notes: z
        .array(z.string())
        .meta({ description: 'What an agent is not shown of these tools, such as the end of a long description.' }),
      error: z.object({ code: z.string(), message: z.string() }).nullable(),
    }),
    errors: [],
    command: 'mcp-servers check',
  }),
};
