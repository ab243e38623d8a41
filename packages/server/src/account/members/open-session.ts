import type { Transaction } from '../../platform/db/pool.ts';
import { deleteExpiredSessions, insertSession } from './login-store.ts';
import { opensByPassword } from './member.ts';
import { presentSession } from './present.ts';
import { recordAccess } from './record-access.ts';
import type { Source } from './source.ts';
import { listMemberships, type Membership } from './store.ts';
import type { ConsoleSessionRow } from './tables.ts';
import { newToken } from './token.ts';

/** Whom a session stands for: a login with every org it opens, or the one member whom a provider vouched for. */
type SessionFor = { email: string } | { memberId: string };

export async function openSession(
  tx: Transaction,
  person: SessionFor,
  opened: readonly Pick<Membership, 'member'>[],
  source: Source,
  details: { by: 'password' | 'passkey' | 'identity_provider' },
): Promise<{ token: string; session: ConsoleSessionRow }> {
  const row =
    'email' in person ? { email: person.email, member_id: null } : { email: null, member_id: person.memberId };
  await deleteExpiredSessions(tx, row);
  const { token, hash } = newToken();
  const session = await insertSession(tx, {
    ...row,
    token_hash: hash,
    csrf_token: newToken().token,
    user_agent: source.userAgent,
    ip: source.ip,
  });
  await recordAccess(tx, opened, 'member.logged_in', source, details);
  return { token, session };
}

/** In every org that the login opens; null where that is none. `email`: the key of the login. */
export async function openLoginSession(tx: Transaction, email: string, source: Source, by: 'password' | 'passkey') {
  const memberships = (await listMemberships(tx, email)).filter(opensByPassword);
  const [first] = memberships;
  if (!first) return null;
  const { token, session } = await openSession(tx, { email }, memberships, source, { by });
  return { token, session: presentSession(session, first, 'test', memberships) };
}
