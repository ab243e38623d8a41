import { fail } from '@vestra/contract/errors';
import type { Origin } from '../../platform/caller.ts';
import type { Database, Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { RateLimiter } from '../../platform/http/rate-limit.ts';
import { recordAudit } from '../audit/audit-log.ts';
import type { LoginRow } from '../tables.ts';
import { type LoggedSource, recordAccess, type Source } from './access-log.ts';
import { showAccount } from './account.ts';
import { deleteSessions, type SignedIn } from './console-sessions.ts';
import { deletePasskeys, findLogin, findReset, lockLogin, lockLogins, putPassword, putReset } from './login-store.ts';
import { countAttempt } from './login-throttle.ts';
import { mergeLogins } from './logins.ts';
import { addressOf, loginOf, type Manager, normaliseEmail, refusalOf } from './member.ts';
import { hashPassword, verifyPassword } from './password-hash.ts';
import { hashToken, newToken } from './session-cookies.ts';
import { listMemberships, listMembershipsOfEmail, lockMemberAndOwners, lockMembersOfEmail } from './store.ts';

/**
 * The old password is asked for, as slowly as at the login: a browser left open must not be enough to take the login over.
 * Whoever else is logged in with it is out.
 */
export async function changePassword(
  { db, rateLimiter }: { db: Database; rateLimiter: RateLimiter },
  person: SignedIn,
  { password, newPassword }: { password: string; newPassword: string },
  source: Source,
) {
  const login = await provePassword({ db, rateLimiter }, person, password, source);
  const passwordHash = await hashPassword(newPassword, login.password_hash);
  await transaction(db, (tx) => change(tx, person, { login, passwordHash }, source));
  return showAccount(db, person);
}

/** Throws where it is not the password of the person who asks. */
export async function provePassword(
  { db, rateLimiter }: { db: Database; rateLimiter: RateLimiter },
  { session }: SignedIn,
  password: string,
  source: Source,
): Promise<LoginRow> {
  await countAttempt(rateLimiter, 'ip', source.ip);
  if (session.email === null) throw fail('password_not_used');
  const login = await findLogin(db, session.email);
  if (!login) throw fail('password_not_used');
  await countAttempt(rateLimiter, 'email', addressOf(login));
  if (!(await verifyPassword(password, login.password_hash))) throw fail('password_wrong', { param: 'password' });
  return login;
}

async function change(
  tx: Transaction,
  { session, memberships }: SignedIn,
  { login, passwordHash }: { login: LoginRow; passwordHash: string },
  source: Source,
): Promise<void> {
  const locked = await lockLogin(tx, login.email, 'update');
  // Of two changes at once the second was proven with a password that is no longer the one.
  if (locked?.password_hash !== login.password_hash) throw fail('password_wrong', { param: 'password' });
  await putPassword(tx, login.email, passwordHash);
  await deleteSessions(tx, session, { exceptId: session.id });
  await recordAccess(tx, memberships, 'member.password_changed', source);
}

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

const opensOtherOrgs = async (tx: Transaction, key: string, orgId: string): Promise<boolean> =>
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

/**
 * A link works once. It is for a login that may be in wrong hands: every sign-in that it had opened ends, every passkey
 * beside the old password goes, and every MCP client that it let in is shut out.
 */
export async function resetPassword(
  { db, rateLimiter, mcpClients }: { db: Database; rateLimiter: RateLimiter; mcpClients: LetIn },
  { token, password }: { token: string; password: string },
  source: Source,
) {
  const hash = hashToken(token);
  const reset = await findReset(db, hash);
  const login = reset && (await findLogin(db, reset.email));
  if (!login) throw fail('reset_not_found', { param: 'token' });
  const email = addressOf(login);
  await countAttempt(rateLimiter, 'email', email);
  const passwordHash = await hashPassword(password, login.password_hash);
  const shutOut = await transaction(db, (tx) => use(tx, { hash, login, passwordHash }, mcpClients, source));
  shutOut.forEach(mcpClients.ended);
  return { object: 'password_reset' as const, email };
}

/** The login's lock comes first, as everywhere: of two uses of one link the second finds it gone. */
async function use(
  tx: Transaction,
  { hash, login, passwordHash }: { hash: Buffer; login: LoginRow; passwordHash: string },
  mcpClients: LetIn,
  source: Source,
): Promise<string[]> {
  const key = login.email;
  const others = await lockWith(tx, login, hash);
  const reset = await findReset(tx, hash);
  if (!reset) throw fail('reset_not_found', { param: 'token' });
  // They may have joined another org since the link was made.
  if (reset.org_id !== null && (await opensOtherOrgs(tx, key, reset.org_id))) throw fail('reset_not_found');
  if (others.length > 0) await mergeLogins(tx, login, others);
  await putPassword(tx, key, passwordHash);
  await deletePasskeys(tx, key);
  await deleteSessions(tx, { email: key, member_id: null });
  const memberships = await listMemberships(tx, key);
  await recordAccess(tx, memberships, 'member.password_reset', source);
  return mcpClients.endAll(
    tx,
    memberships.map(({ member }) => member.id),
    source,
  );
}

/** A link of the operator is for the person: the other logins of the email, which then become this one, are locked too. */
async function lockWith(tx: Transaction, login: LoginRow, hash: Buffer): Promise<LoginRow[]> {
  const isOfOperator = (await findReset(tx, hash))?.org_id === null;
  if (isOfOperator) {
    await lockMembersOfEmail(tx, addressOf(login));
    return (await lockLogins(tx, addressOf(login))).filter(({ email }) => email !== login.email);
  }
  await lockLogin(tx, login.email, 'update');
  return [];
}

/** MCP clients that members have let in. */
export type LetIn = {
  /** Shuts out all that these have let in; answers whom. */
  endAll: (tx: Transaction, memberIds: readonly string[], source: LoggedSource) => Promise<string[]>;
  /** To be told once that has happened. */
  ended: (grantId: string) => void;
};
