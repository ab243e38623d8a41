import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { grantedTo } from '@vestra/contract/mcp-grants';
import type { Role } from '@vestra/contract/route';
import type { Origin } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { recordAudit } from '../audit/record.ts';
import { emit } from '../events/emit.ts';
import { findMembers, lockMember } from '../members/store.ts';
import { type AuthorizationRequest, returnUrl } from './authorization-request.ts';
import { addressOf } from './client.ts';
import { presentGrant } from './present.ts';
import { countOfMember, insertGrant } from './store.ts';
import { newSecret } from './token.ts';

const mostOfMember = 100;

/** What the member decided, as the address that brings it to the client. The grant is in the member's org and mode. */
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
    if ((await countOfMember(tx, member.id)) >= mostOfMember) throw fail('too_many_mcp_grants');
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
