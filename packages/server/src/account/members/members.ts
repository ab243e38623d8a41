import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { Role } from '@vestra/contract/route';
import { type Origin, serverOrigin } from '../../platform/caller.ts';
import type { Database, Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { RateLimiter } from '../../platform/http/rate-limit.ts';
import { recordAudit } from '../audit/audit-log.ts';
import { deleteLogin, lockLogin } from './login-store.ts';
import { throttleEmail } from './login-throttle.ts';
import { connectLogin } from './logins.ts';
import { leavesNoOwner, loginOf, type Manager, normaliseEmail, presentMember, refusalOf } from './member.ts';
import { hashToken, newToken } from './session-cookies.ts';
import {
  activateMember,
  changeMember,
  deleteMember,
  findInvite,
  insertOrLockMember,
  listMemberships,
  lockInvite,
  lockMemberAndOwners,
  putInvite,
} from './store.ts';

const validDays = 7;

type Invitation = { manager: Manager; email: string; role: Role; publicUrl: string };

/** A second invitation of a person who has not accepted yet renews their link and sets their role. */
export async function inviteMember(tx: Transaction, origin: Origin, { manager, email, role, publicUrl }: Invitation) {
  const refusal = refusalOf(manager, { from: null, to: role });
  if (refusal) throw refusal;
  const id = newId('mbr');
  const kept = await insertOrLockMember(tx, {
    id,
    org_id: origin.orgId,
    email: normaliseEmail(email),
    role,
    status: 'invited',
  });
  if (kept.status === 'active') throw fail('member_exists', { param: 'email' });
  const isRenewal = kept.id !== id;
  const renewalRefusal = isRenewal ? refusalOf(manager, { from: kept.role, to: role }) : null;
  if (renewalRefusal) throw renewalRefusal;

  const { token, hash } = newToken('vinv_');
  const row = await putInvite(tx, kept.id, { role, hash, validDays });
  await recordAudit(tx, origin, {
    action: 'member.invited',
    target: { type: 'member', id: row.id },
    details: { email: row.email, role, renewed: isRenewal },
  });
  return {
    ...presentMember(row),
    // Browsers do not send the fragment, so the token reaches no server log.
    invite_url: `${publicUrl.replace(/\/+$/, '')}/console/accept#token=${token}`,
    invite_expires_at: (row.invite_expires_at as Date).toISOString(),
  };
}

type Acceptance = { token: string; name: string; password: string };
type Source = { requestId: string; ip: string };

export async function acceptInvite(
  { db, rateLimiter }: { db: Database; rateLimiter: RateLimiter },
  { token, name, password }: Acceptance,
  source: Source,
) {
  const hash = hashToken(token);
  const invited = await findInvite(db, hash);
  if (!invited) throw fail('invite_not_found', { param: 'token' });
  await throttleEmail(rateLimiter, invited.email, source);
  return transaction(db, (tx) => accept(tx, { hash, name, password }, source));
}

async function accept(
  tx: Transaction,
  { hash, name, password }: { hash: Buffer; name: string; password: string },
  source: Source,
) {
  const invited = await lockInvite(tx, hash);
  if (!invited) throw fail('invite_not_found', { param: 'token' });
  await connectLogin(tx, { memberId: invited.id, email: invited.email, password });
  const row = await activateMember(tx, invited.id, name);
  // A membership covers both modes. Like a login, it is recorded in the live log.
  const origin: Origin = { orgId: row.org_id, mode: 'live', actor: { type: 'member', id: row.id, name }, ...source };
  await recordAudit(tx, origin, {
    action: 'member.accepted',
    target: { type: 'member', id: row.id },
    details: { role: row.role },
  });
  return presentMember(row);
}

/** Creates the first owner of an org, without an invitation. */
export async function createOwner(
  tx: Transaction,
  { orgId, email, password, name }: { orgId: string; email: string; password: string; name: string },
) {
  const address = normaliseEmail(email);
  const id = newId('mbr');
  const row = await insertOrLockMember(tx, {
    id,
    org_id: orgId,
    email: address,
    name,
    role: 'owner',
    status: 'active',
  });
  if (row.id !== id) throw fail('member_exists', { param: 'email' });
  await connectLogin(tx, { memberId: id, email: address, password });
  await recordAudit(tx, serverOrigin({ orgId, mode: 'live' }), {
    action: 'member.created',
    target: { type: 'member', id },
    details: { role: 'owner' },
  });
  return presentMember(row);
}

type MemberChange = { manager: Manager; memberId: string; role?: Role | undefined; name?: string | undefined };

export async function updateMember(tx: Transaction, origin: Origin, { manager, memberId, role, name }: MemberChange) {
  const { member, activeOwnerIds } = await lockMemberAndOwners(tx, origin.orgId, memberId);
  if (!member) throw fail('member_not_found');
  const to = role ?? member.role;
  const refusal = refusalOf(manager, { from: member.role, to });
  if (refusal) throw refusal;
  if (leavesNoOwner(memberId, to, activeOwnerIds)) throw fail('last_owner', { param: 'role' });

  const changes = {
    ...(to !== member.role && { role: to }),
    ...(name !== undefined && name !== member.name && { name }),
  };
  const changed = Object.keys(changes);
  if (changed.length === 0) return presentMember(member);
  const row = await changeMember(tx, memberId, changes);
  await recordAudit(tx, origin, {
    action: 'member.updated',
    target: { type: 'member', id: memberId },
    details: { changed, ...(changes.role && { role: { from: member.role, to } }) },
  });
  return presentMember(row);
}

export async function removeMember(
  tx: Transaction,
  origin: Origin,
  { manager, memberId }: { manager: Manager; memberId: string },
): Promise<void> {
  const { member, activeOwnerIds } = await lockMemberAndOwners(tx, origin.orgId, memberId);
  if (!member) throw fail('member_not_found');
  const refusal = refusalOf(manager, { from: member.role, to: null });
  if (refusal) throw refusal;
  if (leavesNoOwner(memberId, null, activeOwnerIds)) throw fail('last_owner');

  await deleteMember(tx, memberId);
  const login = loginOf(member);
  if (login !== null) await endUnusedLogin(tx, login);
  await recordAudit(tx, origin, {
    action: 'member.removed',
    target: { type: 'member', id: memberId },
    details: { email: member.email, role: member.role },
  });
}

/**
 * Deletes a login that opens no org, with its sessions. A person who is invited again chooses a new password. Lock
 * before reading the memberships, so that a concurrent acceptance is either seen here or finds no login.
 */
async function endUnusedLogin(tx: Transaction, key: string): Promise<void> {
  await lockLogin(tx, key, 'update');
  const memberships = await listMemberships(tx, key);
  if (memberships.length === 0) await deleteLogin(tx, key);
}
