import { fail } from '@vestra/contract/errors';
import type { Caller, Origin } from '../../platform/caller.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { recordAudit } from '../audit/record.ts';
import { findProvider, identityOfMember } from './identity/store.ts';
import { findSession } from './login-store.ts';
import { presentMember, presentSession } from './present.ts';
import { changeMember, type Membership } from './store.ts';
import type { ConsoleSessionRow } from './tables.ts';
import { hashToken } from './token.ts';

/** Who asks: the session behind the cookie and the person as a member of the org they act in. */
export type SignedIn = { session: ConsoleSessionRow; membership: Membership; memberships: readonly Membership[] };

/** A session or membership that ended while this request was on its way is gone here too. */
export async function signedIn(db: Executor, caller: Caller, token: string | null): Promise<SignedIn> {
  const found = token === null ? null : await findSession(db, hashToken(token));
  const membership = found?.memberships.find(({ member }) => member.id === caller.member?.id);
  if (!found || !membership) throw fail('console_login_required');
  return { session: found.session, membership, memberships: found.memberships };
}

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

/** The name is the org's to read, so it is written in its log like a change by anybody else. */
export async function renameOneself(tx: Transaction, origin: Origin, person: SignedIn, name: string) {
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
