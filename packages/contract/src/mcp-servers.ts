import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { deleted, page, pageQuery } from './page.ts';
import { route } from './route.ts';
import { shownFailure } from './shown-failure.ts';
import { shortSlug } from './slug.ts';
import { tag } from './tag.ts';
import { text } from './text.ts';
import { createdAt, updatedAt } from './time.ts';
import { headers, toolNames } from './tool-entry.ts';
import { webAddress } from './web-address.ts';

const auth = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('none').describe('`none`: it is called without credentials.') }),
  z.strictObject({
    type: z.literal('headers').describe('`headers`: these headers are sent with every call.'),
    headers: headers.describe(
      'Header names and values; a credential is written as `${secret:NAME}` or `${user_secret:NAME}`, never literally.',
    ),
  }),
]);

const mcpServer = z
  .object({
    object: tag('mcp_server'),
    id: id('mcp'),
    slug: z.string().describe('The server’s name for the agent: its tools are `mcp__<slug>__<tool>`.'),
    name: z.string().describe('The display name of the server.'),
    url: z.string().describe('The https address of its MCP endpoint.'),
    auth: auth.describe('How it is called; a credential is shown as its name, never as its value.'),
    tools: z
      .object({
        deny: z.array(z.string()).describe('Tools that no agent ever calls.'),
        require_approval: z.array(z.string()).describe('Tools that always need approval.'),
      })
      .describe(
        'The minimum policy for every deployment in both modes: a version may add restrictions and never remove them.',
      ),
    sampling: z
      .boolean()
      .describe('Whether it may use the agent’s model while one of its tools runs, at the user’s cost.'),
    secrets: z.array(z.string()).describe('Names of company secrets that it needs.'),
    user_secrets: z.array(z.string()).describe('Names of secrets that each user needs.'),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .describe('A registered server whose tools the agent may call.');

const serverParams = z.strictObject({ server_id: failsWith('mcp_server_not_found', id('mcp')) });

export const mcpServers = {
  list: route({
    method: 'GET',
    path: '/v1/mcp-servers',
    auth: 'key',
    scopes: ['setup'],
    summary: 'List the registered MCP servers.',
    description: 'Needs scope `setup`; newest first. Both modes see the same servers.',
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
    summary: 'Register an MCP server; its tool lists are the minimum policy of every deployment that uses it.',
    description:
      'A deployment file registers its servers itself; use this for shared ones. Store the secrets that its headers name, in each mode.',
    idempotent: true,
    body: z.strictObject({
      name: text(1, 80).describe('The display name of the server, 1 to 80 characters.'),
      slug: shortSlug.describe(
        'The server’s name for the agent: lowercase letters, digits and hyphens, a letter first, at most 40.',
      ),
      url: webAddress.describe('A public https address; one with a credential is rejected.'),
      auth: auth.default({ type: 'none' }).describe('How it is called; absent: without credentials.'),
      tools: z
        .strictObject({
          deny: toolNames.default([]).describe('Tools that no agent ever calls.'),
          require_approval: toolNames.default([]).describe('Tools that always need approval.'),
        })
        .prefault({})
        .describe('The minimum policy for every deployment that uses it; absent: none.'),
      sampling: z
        .boolean()
        .default(false)
        .describe('True: while one of its tools runs it may use the agent’s model, which is charged to the user.'),
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
    description: '`secrets` and `user_secrets` list the secrets it needs.',
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
    summary: 'Change an MCP server for every deployment in both modes; an omitted tool list stays.',
    description:
      'Users get the change with their next task. A version calls only the URL that it was saved with: with a new `url`, each live version that uses the server is followed by a version with that URL, live at once. While a version that is live, or can be rolled back to, uses it, this needs a live key, or an owner or admin (409 `mcp_server_live`).',
    params: serverParams,
    body: z.strictObject({
      name: text(1, 80).optional().describe('The new display name.'),
      url: webAddress.optional().describe('The new address.'),
      auth: auth.optional().describe('How it is called; replaces all headers.'),
      tools: z
        .strictObject({
          deny: toolNames.optional().describe('Replaces the whole list of tools that no agent ever calls.'),
          require_approval: toolNames
            .optional()
            .describe('Replaces the whole list of tools that always need approval.'),
        })
        .optional()
        .describe('The new minimum policy; an omitted list stays.'),
      sampling: z.boolean().optional().describe('Whether it may use the agent’s model.'),
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
    description:
      'Each live version that lists it is followed by a version without it. Older versions list it under `missing` and cannot be promoted or rolled back to (409 `version_incomplete`). While a version that is live, or can be rolled back to, uses it, this needs a live key, or an owner or admin (409 `mcp_server_live`).',
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
    description:
      'Calls it with the company’s secrets of the key’s mode. An unreachable server returns 200 with `ok: false` and the reason.',
    params: serverParams,
    status: 200,
    response: z.object({
      ok: z.boolean().describe('Whether it responded and its tools can be used.'),
      tools: z
        .array(
          z.object({
            name: z.string().describe('The name of the tool on the server.'),
            description: z.string().describe('The server’s description of the tool.'),
            read_only: z.boolean().describe('Whether the server marks it as read-only.'),
          }),
        )
        .describe(
          'The tools that an agent is offered, also those that read its resources; empty if it did not respond.',
        ),
      instructions: z
        .string()
        .nullable()
        .describe('The server’s own text on how to use it, as the agent reads it; null if it has none.'),
      notes: z
        .array(z.string())
        .describe('Tools and parts of tools that the agent does not see, each with the reason.'),
      duration_ms: z.int().min(0).describe('Milliseconds until it responded or failed; 0 if it was not called.'),
      error: shownFailure.nullable().describe('The error; null if it responded.'),
    }),
    errors: [],
    command: 'mcp-servers check',
  }),
};
