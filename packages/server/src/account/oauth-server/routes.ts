import { fail } from '@vestra/contract/errors';
import { grantedTo } from '@vestra/contract/mcp-grants';
import type { Caller } from '../../platform/caller.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import { findMembers } from '../members/store.ts';
import { type AuthorizationRequest, decide, readAuthorizationRequest, returnUrl } from './authorization.ts';
import { addressOf, type ClientSources, destinationOf, findClient } from './clients.ts';
import { endGrant, listGrants, lockGrant, presentGrant } from './grants.ts';

type GrantDependencies = ClientSources & {
  /** The public address of this server. */
  issuer: string;
  /** The address of the MCP endpoint, the resource of every grant. */
  resource: string;
  /** Called after a grant has ended, to close its open connections. */
  ended: (grantId: string) => void;
};

export function mcpGrantRoutes({ db, outbound, issuer, resource, ended }: GrantDependencies): Handlers<'mcpGrants'> {
  const read = (query: string) =>
    readAuthorizationRequest(query, { resource, findClient: (id) => findClient({ db, outbound }, id) });
  return {
    list: async ({ caller, query, page }) => {
      const members = [visibleMemberId(caller), query.member_id ?? null].filter((each) => each !== null);
      const rows = await listGrants(db, caller, members, page);
      const named = await findMembers(db, [...new Set(rows.map(({ member_id }) => member_id))]);
      return page.of(
        rows,
        (row) => presentGrant(row, named),
        (row) => [row.id],
      );
    },
    revoke: async ({ caller, origin, params }) => {
      await transaction(db, async (tx) => {
        const grant = await lockGrant(
          tx,
          caller,
          [visibleMemberId(caller)].filter((each) => each !== null),
          params.grant_id,
        );
        if (!grant) throw fail('mcp_grant_not_found');
        await endGrant(tx, origin, grant, 'ended');
      });
      ended(params.grant_id);
      return { object: 'mcp_grant', id: params.grant_id, deleted: true };
    },
    show: async ({ caller, body }) => presentAuthorization(await read(body.query), memberOf(caller), issuer),
    decide: async ({ caller, origin, body }) => {
      const request = await read(body.query);
      const return_url = await decide({ db, issuer }, origin, memberOf(caller), { request, approve: body.approve });
      return { object: 'mcp_authorization', return_url };
    },
  };
}

/**
 * The only member whose grants a caller may see and end. Null: all members, by scope. A key without that scope sees
 * none.
 */
function visibleMemberId({ scopes, member, grant }: Caller): string | null {
  if (scopes.includes('admin') || scopes.includes('all')) return null;
  return member?.id ?? grant?.memberId ?? '';
}

function memberOf({ member }: Caller) {
  if (!member) throw fail('console_login_required');
  return member;
}

function presentAuthorization(request: AuthorizationRequest, { role }: ReturnType<typeof memberOf>, issuer: string) {
  const { client, redirectUri, scopes, refusal } = request;
  const { address, isVerified } = addressOf(client, redirectUri);
  return {
    object: 'mcp_authorization' as const,
    client: { name: client.name, address, is_verified: isVerified },
    goes_to: destinationOf(redirectUri),
    scopes: grantedTo(role, scopes),
    refusal: refusal && {
      message: refusal.message,
      return_url: returnUrl(request, issuer, { error: refusal.error, error_description: refusal.message }),
    },
  };
}
