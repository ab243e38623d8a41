import { fail } from '@vestra/contract/errors';
import { scopesOfRole } from '@vestra/contract/role';
import type { Mode } from '@vestra/contract/route';
import type { Caller } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import type { Identities } from '../../platform/http/gate.ts';
import { readSessionToken } from './console-session.ts';
import { findSession, renewSession } from './login-store.ts';
import type { Membership } from './store.ts';
import { hashToken } from './token.ts';

/** Session, membership and role are read on every call: a member who was removed is out with the next one. */
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
