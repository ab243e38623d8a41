import { randomBytes } from 'node:crypto';
import { fail } from '@vestra/contract/errors';
import type { Database } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import { isResource } from './authorization.ts';
import { destinationOf, insertRegistered, refuseRedirect, shownName } from './clients.ts';
import { endGrant, originOf } from './grants.ts';
import { exchangeCode, hashSecret, lockByToken, renewTokens } from './tokens.ts';

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
