import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { type GrantScope, grantedTo, grantScopes } from '@vestra/contract/mcp-grants';
import type { Role } from '@vestra/contract/route';
import type { Origin } from '../../platform/caller.ts';
import type { Database, Transaction } from '../../platform/db/pool.ts';
import { insert, one, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { count, type NewRowOf, type RowOf } from '../../platform/db/table.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { recordAudit } from '../audit/audit-log.ts';
import { emit } from '../events/emit.ts';
import { findMembers, lockMember } from '../members/store.ts';
import { type GrantRow, mcpAuthorizationCodes, mcpGrants, registeredMcpClients } from '../tables.ts';
import { addressOf, isRedirectOf, type McpClient } from './clients.ts';
import { presentGrant } from './grants.ts';
import { codeSeconds, newSecret } from './tokens.ts';

/** A request with a valid client and redirect address, so that errors can be sent to the client. */
export type AuthorizationRequest = {
  client: McpClient;
  redirectUri: string;
  state: string | null;
  scopes: readonly GrantScope[];
  codeChallenge: string;
  refusal: Refusal | null;
};

/** The error codes of RFC 6749 and RFC 8707. */
type Refusal = { error: 'invalid_request' | 'unsupported_response_type' | 'invalid_target'; message: string };

/** The scopes of a client that requests none. */
const defaultScopes: readonly GrantScope[] = ['runtime', 'setup'];

export async function readAuthorizationRequest(
  query: string,
  { findClient, resource }: { findClient: (clientId: string) => Promise<McpClient>; resource: string },
): Promise<AuthorizationRequest> {
  const given = new URLSearchParams(query);
  const only = (name: string) => {
    const values = given.getAll(name);
    return values.length === 1 && values[0] !== '' ? (values[0] as string) : null;
  };
  const clientId = only('client_id') ?? failMissing('client_id');
  const redirectUri = only('redirect_uri') ?? failMissing('redirect_uri');
  const client = await findClient(clientId);
  if (!isRedirectOf(client, redirectUri)) throw fail('invalid_redirect_uri', { param: 'redirect_uri' });
  const codeChallenge = only('code_challenge') ?? '';
  return {
    client,
    redirectUri,
    state: only('state'),
    scopes: scopesOf(only('scope')),
    codeChallenge,
    refusal: refusalOf(),
  };

  function refusalOf(): Refusal | null {
    const twice = [...given.keys()].find((name) => name !== 'resource' && given.getAll(name).length > 1);
    if (twice !== undefined) return invalid(`\`${twice.slice(0, 100)}\` is given twice.`);
    if (only('response_type') !== 'code') {
      return { error: 'unsupported_response_type', message: '`response_type` must be `code`.' };
    }
    if (only('code_challenge_method') !== 'S256' || !/^[A-Za-z0-9_-]{43}$/.test(codeChallenge)) {
      return invalid('PKCE is needed: send a `code_challenge` with the `code_challenge_method` S256.');
    }
    if (given.getAll('resource').some((each) => !isResource(each, resource))) {
      return { error: 'invalid_target', message: `\`resource\` must be ${resource}.` };
    }
    return null;
  }
}

const failMissing = (param: string): never => {
  throw fail('invalid_request', { param, message: `The client has opened this page without one \`${param}\`.` });
};

const invalid = (message: string): Refusal => ({ error: 'invalid_request', message });

/** Ignores a trailing slash, the case of scheme and host, and `tools`, which only selects the listed tools. */
export function isResource(given: string, resource: string): boolean {
  const url = URL.parse(given);
  url?.searchParams.delete('tools');
  return url?.href.replace(/\/$/, '') === new URL(resource).href;
}

/** Ignores unknown scopes, as RFC 6749 allows. The `scope` of the token response shows the granted ones. */
function scopesOf(asked: string | null): readonly GrantScope[] {
  const words = asked?.split(' ') ?? [];
  const known = grantScopes.filter((scope) => words.includes(scope));
  return known.length > 0 ? known : defaultScopes;
}

/**
 * The address that returns the result to the client. `iss` names this server for clients of several servers (RFC 9207).
 */
export function returnUrl(
  { redirectUri, state }: Pick<AuthorizationRequest, 'redirectUri' | 'state'>,
  issuer: string,
  answer: { code: string } | { error: string; error_description: string },
): string {
  const fields = new URLSearchParams({ ...answer, ...(state !== null && { state }), iss: issuer });
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${fields}`;
}

const maxGrantsOfMember = 100;

/**
 * Carries out the member's decision and returns the address for the client. The grant has the member's org and mode.
 */
export async function decide(
  { db, issuer }: { db: Database; issuer: string },
  origin: Origin,
  member: { id: string; role: Role },
  { request, approve }: { request: AuthorizationRequest; approve: boolean },
): Promise<string> {
  const { client, redirectUri, refusal } = request;
  if (refusal) return returnUrl(request, issuer, { error: refusal.error, error_description: refusal.message });
  if (!approve) {
    return returnUrl(request, issuer, { error: 'access_denied', error_description: 'The member said no.' });
  }
  const { secret: code, hash } = newSecret('code');
  await transaction(db, async (tx) => {
    await lockMember(tx, member.id);
    if ((await countGrantsOfMember(tx, member.id)) >= maxGrantsOfMember) throw fail('too_many_mcp_grants');
    const { address, isVerified } = addressOf(client, redirectUri);
    const grant = await insertGrant(
      tx,
      {
        id: newId('grant'),
        org_id: origin.orgId,
        mode: origin.mode,
        member_id: member.id,
        client_id: client.id,
        client_name: client.name,
        client_address: address,
        is_verified: isVerified,
        scopes: grantedTo(member.role, request.scopes),
      },
      { code_hash: hash, redirect_uri: redirectUri, code_challenge: request.codeChallenge },
    );
    await recordAudit(tx, origin, {
      action: 'mcp_grant.created',
      target: { type: 'mcp_grant', id: grant.id },
      details: { client: client.name, address, scopes: grant.scopes },
    });
    const data = presentGrant(grant, await findMembers(tx, [member.id]));
    await emit(tx, { orgId: grant.org_id, mode: grant.mode, type: 'mcp_grant.created', data });
  });
  return returnUrl(request, issuer, { code });
}

/** Inserts a grant with its code. The grant expires with the code unless the client exchanges it. */
async function insertGrant(
  tx: Transaction,
  row: Omit<NewRowOf<typeof mcpGrants>, 'expires_at'>,
  code: Pick<RowOf<typeof mcpAuthorizationCodes>, 'code_hash' | 'redirect_uri' | 'code_challenge'>,
): Promise<GrantRow> {
  const expires_at = sql`now() + make_interval(secs => ${codeSeconds})`;
  const grant = await insert(tx, mcpGrants, { ...row, expires_at });
  await insert(tx, mcpAuthorizationCodes, { ...code, grant_id: grant.id, expires_at });
  await run(tx, sql`UPDATE ${registeredMcpClients} SET last_used_at = now() WHERE id = ${row.client_id}`);
  return grant;
}

async function countGrantsOfMember(tx: Transaction, memberId: string): Promise<number> {
  const counted = sql`SELECT count(*) AS total FROM ${mcpGrants} WHERE member_id = ${memberId} AND expires_at > now()`;
  return (await one(tx, { total: count() }, counted)).total;
}
