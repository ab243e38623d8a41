import { fail } from '@vestra/contract/errors';
import { scopesOfRole } from '@vestra/contract/role';
import type { Mode } from '@vestra/contract/route';
import type { Caller, Origin } from '../../platform/caller.ts';
import type { Database, Executor, Transaction } from '../../platform/db/pool.ts';
import type { Identities } from '../../platform/http/authenticate.ts';
import { recordAudit } from '../audit/audit-log.ts';
import { findSession, presentSession, renewSession, type SignedIn, signedIn } from './console-sessions.ts';
import { findProvider, identityOfMember } from './identity/providers.ts';
import { presentMember } from './member.ts';
import { hashToken, readSessionToken } from './session-cookies.ts';
import { changeMember, type Membership } from './store.ts';

export async function showAccount(db: Executor, { session, membership }: SignedIn) {
  const identity = await identityOfMember(db, membership.member.id);
  const provider = await findProvider(db, membership.org.id);
  return {
    object: 'console_account' as const,
    member: presentMember(membership.member),
    has_identity_provider: provider !== undefined,
    has_password: session.email !== null,
    linked_identity: identity
      ? { issuer: identity.issuer, email: identity.email, created_at: identity.created_at.toISOString() }
      : null,
  };
}

/** Other members see the name, so the org's audit log records the change. */
export async function renameSignedInMember(tx: Transaction, origin: Origin, person: SignedIn, name: string) {
  const { member } = person.membership;
  if (name === member.name) return showAccount(tx, person);
  const changed = await changeMember(tx, member.id, { name });
  await recordAudit(tx, origin, {
    action: 'member.updated',
    target: { type: 'member', id: member.id },
    details: { changed: ['name'] },
  });
  return showAccount(tx, { ...person, membership: { ...person.membership, member: changed } });
}

export async function showSession(db: Executor, caller: Caller, token: string | null) {
  const { session, membership, memberships } = await signedIn(db, caller, token);
  return presentSession(session, membership, caller.mode, memberships);
}

/** Reads session, membership and role on every request, so that a removed member loses access at once. */
export function createConsoleIdentity(db: Database, publicUrl: string): Pick<Identities, 'ofConsole' | 'consoleToken'> {
  return {
    consoleToken: (headers) => readSessionToken(headers, publicUrl),
    async ofConsole(cookie, { orgId, mode }) {
      const tokenHash = hashToken(cookie);
      const found = await findSession(db, tokenHash);
      if (!found) throw fail('console_login_required');
      const { session, isRenewalDue, memberships } = found;
      const membership = orgId === null ? memberships[0] : memberships.find(({ org }) => org.id === orgId);
      if (!membership) throw fail('org_mismatch', { message: 'You are not a member of this org.' });
      if (isRenewalDue) await renewSession(db, tokenHash);
      return { caller: callerOf(membership, mode ?? 'test'), csrfToken: session.csrf_token };
    },
  };
}

const callerOf = ({ member, org }: Membership, mode: Mode): Caller => ({
  orgId: org.id,
  orgStatus: org.status,
  mode,
  actor: { type: 'member', id: member.id, name: member.name ?? member.email },
  scopes: scopesOfRole[member.role],
  key: null,
  member: { id: member.id, role: member.role },
  grant: null,
  session: null,
});
