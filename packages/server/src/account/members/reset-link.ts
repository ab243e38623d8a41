import { fail } from '@vestra/contract/errors';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { recordAudit } from '../audit/record.ts';
import { lockLogin, lockLogins, putReset } from './login-store.ts';
import { loginOf, type Manager, normaliseEmail, refusalOf } from './member.ts';
import { recordAccess } from './record-access.ts';
import { listMemberships, listMembershipsOfEmail, lockMemberAndOwners } from './store.ts';
import { newToken } from './token.ts';

const validHours = 24;

/**
 * A link for a member who forgot their password. Whoever holds it has the login, so an org makes one only for a login that
 * opens no other org: it must not be a way from one org into the next.
 */
export async function makeResetLink(
  tx: Transaction,
  origin: Origin,
  { manager, memberId, publicUrl }: { manager: Manager; memberId: string; publicUrl: string },
) {
  const { orgId } = origin;
  const { member } = await lockMemberAndOwners(tx, orgId, memberId);
  if (!member) throw fail('member_not_found');
  const refusal = refusalOf(manager, { from: member.role, to: member.role });
  if (refusal) throw refusal;
  const key = member.status === 'active' ? loginOf(member) : null;
  const login = key === null ? undefined : await lockLogin(tx, key, 'update');
  if (!login) throw fail('password_not_used');
  if (await opensOtherOrgs(tx, login.email, orgId)) throw fail('member_of_other_orgs');

  const link = await putLink(tx, { key: login.email, orgId, publicUrl });
  await recordAudit(tx, origin, {
    action: 'member.password_reset_made',
    target: { type: 'member', id: member.id },
    details: { email: member.email },
  });
  return { object: 'password_reset' as const, member_id: member.id, email: member.email, ...link };
}

/**
 * For the person at the server's own command line, such as for the last owner. Null: nobody logs in with this email. The operator
 * vouches for the person and not for an org: the link replaces every login that the email has.
 */
export async function makeOperatorResetLink(
  tx: Transaction,
  { email, publicUrl }: { email: string; publicUrl: string },
) {
  const address = normaliseEmail(email);
  const [login] = await lockLogins(tx, address);
  if (!login) return null;
  const link = await putLink(tx, { key: login.email, orgId: null, publicUrl });
  const memberships = await listMembershipsOfEmail(tx, address);
  await recordAccess(tx, memberships, 'member.password_reset_made', { requestId: null, ip: null });
  return { email: address, ...link };
}

export const opensOtherOrgs = async (tx: Transaction, key: string, orgId: string): Promise<boolean> =>
  (await listMemberships(tx, key)).some(({ org }) => org.id !== orgId);

/** One made before stops working. */
async function putLink(
  tx: Transaction,
  { key, orgId, publicUrl }: { key: string; orgId: string | null; publicUrl: string },
) {
  const { token, hash } = newToken('vrst_');
  const row = await putReset(tx, { key, orgId, hash, validHours });
  return {
    // A fragment stays in the browser: the token reaches no server's log.
    reset_url: `${publicUrl.replace(/\/+$/, '')}/console/reset#token=${token}`,
    reset_expires_at: row.expires_at.toISOString(),
  };
}
