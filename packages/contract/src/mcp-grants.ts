import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { deleted, page, pageQuery } from './page.ts';
import { scopesOfRole } from './role.ts';
import { modes, type Role, route } from './route.ts';
import { tag } from './tag.ts';
import { text } from './text.ts';
import { createdAt, time } from './time.ts';

/** The scopes for a client. Never `all`: only a person may decide about owners. */
export const grantScopes = ['runtime', 'setup', 'admin'] as const;
export type GrantScope = (typeof grantScopes)[number];

/** The granted or requested scopes that the role allows. */
export function grantedTo(role: Role, scopes: readonly GrantScope[]): GrantScope[] {
  const held = scopesOfRole[role];
  return scopes.filter((scope) => held.includes('all') || held.includes(scope));
}

const client = z.object({
  name: z.string().describe('The client’s own name.'),
  address: z
    .string()
    .meta({ description: 'The host that identifies the client, or the scheme of its links.', example: 'claude.ai' }),
  is_verified: z.boolean().describe('Whether that host confirms the client’s name; otherwise the name is unverified.'),
});

const scopes = z.array(z.enum(grantScopes));

export const mcpGrant = z
  .object({
    object: tag('mcp_grant'),
    id: id('grant'),
    client: client.describe('The authorized client.'),
    member: z
      .object({
        id: id('mbr'),
        name: z.string().describe('The member’s name, or their email if they have none.'),
      })
      .describe('The member who authorized it, and for whom it acts.'),
    mode: z.enum(modes).describe('The mode that it acts in.'),
    scopes: scopes.describe('The scopes that the member granted; limited to their current role.'),
    created_at: createdAt,
    last_used_at: time.nullable().describe('When it was last used, to the minute; null: never.'),
    expires_at: time.describe('When it expires unless the client renews it.'),
  })
  .describe('An MCP client that a member has authorized.');

/** Why a client's access ended. */
export const grantEndings = ['ended', 'given_back', 'code_used_twice', 'refresh_token_used_twice', 'member'] as const;
export type GrantEnding = (typeof grantEndings)[number];

export const whyGrantEnded =
  '`ended`: somebody ended it; `given_back`: the client did; `code_used_twice`, `refresh_token_used_twice`: what is used once came twice, so that somebody else may have it; `member`: its member was removed, or chose a password by a link.';

const asked = z.strictObject({
  query: text(1, 8192).describe('The query string of the address that the client opened.'),
});

const authorization = z
  .object({
    object: tag('mcp_authorization'),
    client: client.describe('The requesting client.'),
    goes_to: z
      .object({
        kind: z
          .enum(['site', 'computer', 'app'])
          .describe('Whether a web site, a program on this computer or an app with such links gets the access.'),
        address: z.string().describe('Its host, or the scheme of its links.'),
      })
      .describe('The recipient of the access: where the browser is sent with the answer.'),
    scopes: scopes.describe('The scopes it would get: those requested, limited to the member’s role.'),
    refusal: z
      .object({
        message: z.string().describe('The problem with the request.'),
        return_url: z.string().describe('Where the browser reports this to the client.'),
      })
      .nullable()
      .describe('Why nothing can be granted; null if it can.'),
  })
  .describe('The request of an MCP client for access.');

const grantParams = z.strictObject({ grant_id: failsWith('mcp_grant_not_found', id('grant')) });

/** MCP clients that members have authorized with OAuth. */
export const mcpGrants = {
  list: route({
    method: 'GET',
    path: '/v1/mcp-grants',
    auth: 'key',
    scopes: 'any',
    summary: 'List the authorized MCP clients.',
    description: 'With scope `admin` all of the org in this mode; a member without it sees their own.',
    query: z.strictObject({
      member_id: failsWith('member_not_found', id('mbr'))
        .optional()
        .describe('Only those that this member authorized.'),
      ...pageQuery,
    }),
    status: 200,
    response: page(mcpGrant),
    errors: [],
    command: 'mcp-grants list',
  }),
  revoke: route({
    method: 'DELETE',
    path: '/v1/mcp-grants/{grant_id}',
    auth: 'key',
    scopes: 'any',
    summary: 'Revoke the access of an MCP client at once.',
    description:
      'With scope `admin` any of the org in this mode; a member without it revokes their own. Its open calls are ended.',
    params: grantParams,
    status: 200,
    response: deleted('mcp_grant'),
    errors: ['mcp_grant_not_found'],
    command: 'mcp-grants revoke',
  }),
  show: route({
    method: 'POST',
    path: '/v1/console/mcp-authorization/show',
    auth: 'console',
    summary: 'Show the access that an MCP client requests.',
    description:
      'Needs the console’s cookie and `X-CSRF-Token`. Fails if the client or redirect address is unknown; any other fault is in `refusal`.',
    body: asked,
    status: 200,
    response: authorization,
    errors: ['invalid_client', 'invalid_client_metadata', 'invalid_redirect_uri'],
    command: null,
  }),
  decide: route({
    method: 'POST',
    path: '/v1/console/mcp-authorization',
    auth: 'console',
    summary: 'Approve or deny an MCP client’s request.',
    description:
      'Needs the console’s cookie and `X-CSRF-Token`. `Service-Org` and `Service-Mode` select where it gets access. The browser continues to `return_url`.',
    body: asked.extend({ approve: z.boolean().describe('True authorizes the client, false denies it.') }),
    status: 200,
    response: z.object({
      object: tag('mcp_authorization'),
      return_url: z.string().describe('Where the browser takes the answer to the client.'),
    }),
    errors: ['invalid_client', 'invalid_client_metadata', 'invalid_redirect_uri', 'too_many_mcp_grants'],
    command: null,
  }),
};
