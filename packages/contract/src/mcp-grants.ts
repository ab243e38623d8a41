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
  name: z.string().describe('What the client calls itself.'),
  address: z
    .string()
    .meta({ description: 'The host that answers for the client, or the scheme of its links.', example: 'claude.ai' }),
  is_verified: z
    .boolean()
    .describe('Whether that host itself says what the client is called; otherwise the name is a mere claim.'),
});

const scopes = z.array(z.enum(grantScopes));

export const mcpGrant = z
  .object({
    object: tag('mcp_grant'),
    id: id('grant'),
    client: client.describe('The client that was let in.'),
    member: z
      .object({
        id: id('mbr'),
        name: z.string().describe('The member’s name, or their email where they have given none.'),
      })
      .describe('The member who let it in, and for whom it acts.'),
    mode: z.enum(modes).describe('The mode that it acts in.'),
    scopes: scopes.describe('What the member allowed; never more than their role allows when it is used.'),
    created_at: createdAt,
    last_used_at: time.nullable().describe('When it was last used, to the minute; null: never.'),
    expires_at: time.describe('When it ends by itself unless the client renews it before.'),
  })
  .describe('An MCP client that a member has let in.');

/** Why a client's access ended. */
export const grantEndings = ['ended', 'given_back', 'code_used_twice', 'refresh_token_used_twice', 'member'] as const;
export type GrantEnding = (typeof grantEndings)[number];

export const whyGrantEnded =
  '`ended`: somebody ended it; `given_back`: the client did; `code_used_twice`, `refresh_token_used_twice`: what is used once came twice, so that somebody else may have it; `member`: its member was removed, or chose a password by a link.';

const asked = z.strictObject({
  query: text(1, 8192).describe('What stands behind the `?` of the address that the client opened.'),
});

const authorization = z
  .object({
    object: tag('mcp_authorization'),
    client: client.describe('Who asks.'),
    goes_to: z
      .object({
        kind: z
          .enum(['site', 'computer', 'app'])
          .describe('Whether a web site, a program on this computer or an app that opens such links gets the access.'),
        address: z.string().describe('Its host, or the scheme of its links.'),
      })
      .describe('Who gets the access: where the browser is sent with the answer.'),
    scopes: scopes.describe('What it would be granted: what it asked for, as far as the member’s role allows it.'),
    refusal: z
      .object({
        message: z.string().describe('What is wrong with the request.'),
        return_url: z.string().describe('Where the browser tells the client so.'),
      })
      .nullable()
      .describe('Why nothing can be granted; null where it can.'),
  })
  .describe('What an MCP client asks a member for.');

const grantParams = z.strictObject({ grant_id: failsWith('mcp_grant_not_found', id('grant')) });

/** MCP clients that members have authorized with OAuth. */
export const mcpGrants = {
  list: route({
    method: 'GET',
    path: '/v1/mcp-grants',
    auth: 'key',
    scopes: 'any',
    summary: 'List the MCP clients that were let in.',
    description: 'With scope `admin` those of the whole org in this mode; a member without it sees their own.',
    query: z.strictObject({
      member_id: failsWith('member_not_found', id('mbr')).optional().describe('Only those that this member let in.'),
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
    summary: 'Shut an MCP client out at once.',
    description:
      'With scope `admin` any of the org in this mode; a member without it ends their own. Its calls that wait are cut.',
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
    summary: 'Show what an MCP client asks for.',
    description:
      'Needs the console’s cookie and `X-CSRF-Token`. Fails where client or redirect address are not known; any other fault is `refusal`.',
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
    summary: 'Let an MCP client in, or not.',
    description:
      'Needs the console’s cookie and `X-CSRF-Token`. `Service-Org` and `Service-Mode` say where it is let in. The browser goes on to `return_url`.',
    body: asked.extend({ approve: z.boolean().describe('True lets the client in, false tells it no.') }),
    status: 200,
    response: z.object({
      object: tag('mcp_authorization'),
      return_url: z.string().describe('Where the browser brings the answer to the client.'),
    }),
    errors: ['invalid_client', 'invalid_client_metadata', 'invalid_redirect_uri', 'too_many_mcp_grants'],
    command: null,
  }),
};
