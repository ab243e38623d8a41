import { randomBytes } from 'node:crypto';
import { fail } from '@vestra/contract/errors';
import { grantedTo } from '@vestra/contract/mcp-grants';
import type { Caller } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import { findMembers } from '../members/store.ts';
import { type AuthorizationRequest, decide, isResource, readAuthorizationRequest, returnUrl } from './authorization.ts';
import {
  addressOf,
  type ClientSources,
  destinationOf,
  findClient,
  insertRegistered,
  refuseRedirect,
  shownName,
} from './clients.ts';
import { endGrant, listGrants, lockGrant, originOf, presentGrant } from './grants.ts';
import { exchangeCode, hashSecret, lockByToken, renewTokens } from './tokens.ts';

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

type OauthDependencies = {
  db: Database;
  resource: string;
  ended: (grantId: string) => void;
};

const maxUnusedClients = 10_000;

export function oauthRoutes({ db, resource, ended }: OauthDependencies): Handlers<'oauth'> {
  return {
    token: async ({ body, requestId, ip }) => {
      const { client_id: clientId, grant_type: kind, resource: wanted } = body;
      if (wanted !== undefined && !isResource(wanted, resource)) throw fail('invalid_target', { param: 'resource' });
      const source = { requestId, ip };
      if (kind === 'authorization_code') {
        const { code, redirect_uri, code_verifier } = body;
        const given = needed({ code, redirect_uri, code_verifier });
        return exchangeCode(
          { db, ended },
          { clientId, code: given.code, redirectUri: given.redirect_uri, verifier: given.code_verifier },
          source,
        );
      }
      if (kind !== 'refresh_token') throw fail('unsupported_grant_type', { param: 'grant_type' });
      const { refresh_token: refreshToken } = needed({ refresh_token: body.refresh_token });
      return renewTokens({ db, ended }, { clientId, refreshToken }, source);
    },
    register: async ({ body, ip }) => {
      for (const address of body.redirect_uris) {
        const message = refuseRedirect(address);
        if (message !== null) throw fail('invalid_redirect_uri', { param: 'redirect_uris', message });
      }
      const [first] = body.redirect_uris as [string];
      const row = {
        id: `mcp-client-${randomBytes(16).toString('base64url')}`,
        name: shownName(body.client_name, destinationOf(first).address),
        redirect_uris: [...new Set(body.redirect_uris)],
        registered_from: hashSecret(ip).toString('hex').slice(0, 16),
      };
      const made = await transaction(db, (tx) => insertRegistered(tx, row, { most: maxUnusedClients }));
      return {
        client_id: made.id,
        client_id_issued_at: Math.floor(made.created_at.getTime() / 1000),
        client_name: made.name,
        redirect_uris: made.redirect_uris,
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none' as const,
      };
    },
    revoke: async ({ body, requestId, ip }) => {
      const endedId = await transaction(db, async (tx) => {
        const found = await lockByToken(tx, hashSecret(body.token));
        if (!found || (body.client_id !== undefined && found.grant.client_id !== body.client_id)) return null;
        await endGrant(tx, await originOf(tx, found.grant, { requestId, ip }), found.grant, 'given_back');
        return found.grant.id;
      });
      if (endedId !== null) ended(endedId);
      return {};
    },
  };
}

/** The grant type decides which fields are required. */
function needed<Names extends string>(fields: Record<Names, string | undefined>): Record<Names, string> {
  const missing = Object.entries(fields).find(([, value]) => !value)?.[0];
  if (missing !== undefined) throw fail('invalid_request', { param: missing, message: `\`${missing}\` is required.` });
  return fields as Record<Names, string>;
}
