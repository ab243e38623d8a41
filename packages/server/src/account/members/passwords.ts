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
import { throttleAddress, throttleEmail } from './login-throttle.ts';
import { mergeLogins } from './logins.ts';
import { addressOf, loginOf, type Manager, normaliseEmail, refusalOf } from './member.ts';
import { hashPassword, verifyPassword } from './password-hash.ts';
import { hashToken, newToken } from './session-cookies.ts';
import { listMemberships, listMembershipsOfEmail, lockMemberAndOwners, lockMembersOfEmail } from './store.ts';

/**
 * Requires the current password, throttled like a login. So an unattended browser is not enough to take over a login.
 * Ends all other sessions of the login.
 */
export async function changePassword(
  { db, rateLimiter }: { db: Database; rateLimiter: RateLimiter },
  person: SignedIn,
  { password, newPassword }: { password: string; newPassword: string },
  source: Source,
) {
  const login = await checkPassword({ db, rateLimiter }, person, password, source);
  const passwordHash = await hashPassword(newPassword, login.password_hash);
  await transaction(db, (tx) => change(tx, person, { login, passwordHash }, source));
  return showAccount(db, person);
}

/** Throws unless this is the password of the signed-in person. */
export async function checkPassword(
  { db, rateLimiter }: { db: Database; rateLimiter: RateLimiter },
  { session }: SignedIn,
  password: string,
  source: Source,
): Promise<LoginRow> {
  await throttleAddress(rateLimiter, source.ip);
  if (session.email === null) throw fail('password_not_used');
  const login = await findLogin(db, session.email);
  if (!login) throw fail('password_not_used');
  await throttleEmail(rateLimiter, addressOf(login), source);
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
  // A concurrent change has replaced the password that was checked.
  if (locked?.password_hash !== login.password_hash) throw fail('password_wrong', { param: 'password' });
  await putPassword(tx, login.email, passwordHash);
  await deleteSessions(tx, session, { exceptId: session.id });
  await recordAccess(tx, memberships, 'member.password_changed', source);
}

const validHours = 24;

/**
 * Creates a link for a member who forgot their password. The link gives access to the login. So an org may create one
 * only for a login that opens no other org.
 */
export async function createResetLink(
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
 * Creates a link on the server's command line, such as for the last owner. Null: no login has this email. The operator
 * vouches for the person and not for an org, so the link replaces every login of the email.
 */
export async function createOperatorResetLink(
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

/** Invalidates an earlier link. */
async function putLink(
  tx: Transaction,
  { key, orgId, publicUrl }: { key: string; orgId: string | null; publicUrl: string },
) {
  const { token, hash } = newToken('vrst_');
  const row = await putReset(tx, { key, orgId, hash, validHours });
  return {
    // Browsers do not send the fragment, so the token reaches no server log.
    reset_url: `${publicUrl.replace(/\/+$/, '')}/console/reset#token=${token}`,
    reset_expires_at: row.expires_at.toISOString(),
  };
}

/**
 * A link works once. The login may be compromised. So this ends its sessions, deletes its passkeys and ends the grants
 * of its MCP clients.
 */
export async function resetPassword(
  { db, rateLimiter, mcpClients }: { db: Database; rateLimiter: RateLimiter; mcpClients: McpConsents },
  { token, password }: { token: string; password: string },
  source: Source,
) {
  const hash = hashToken(token);
  const reset = await findReset(db, hash);
  const login = reset && (await findLogin(db, reset.email));
  if (!login) throw fail('reset_not_found', { param: 'token' });
  const email = addressOf(login);
  await throttleEmail(rateLimiter, email, source);
  const passwordHash = await hashPassword(password, login.password_hash);
  const endedGrants = await transaction(db, (tx) => useLink(tx, { hash, login, passwordHash }, mcpClients, source));
  endedGrants.forEach(mcpClients.ended);
  return { object: 'password_reset' as const, email };
}

/** Locks the login first, as everywhere, so that the second use of a link finds it gone. */
async function useLink(
  tx: Transaction,
  { hash, login, passwordHash }: { hash: Buffer; login: LoginRow; passwordHash: string },
  mcpClients: McpConsents,
  source: Source,
): Promise<string[]> {
  const key = login.email;
  const others = await lockWithOtherLogins(tx, login, hash);
  const reset = await findReset(tx, hash);
  if (!reset) throw fail('reset_not_found', { param: 'token' });
  // The person may have joined another org since the link was created.
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

/** An operator's link replaces all logins of the email, so this locks and returns the other logins too. */
async function lockWithOtherLogins(tx: Transaction, login: LoginRow, hash: Buffer): Promise<LoginRow[]> {
  const isOfOperator = (await findReset(tx, hash))?.org_id === null;
  if (isOfOperator) {
    await lockMembersOfEmail(tx, addressOf(login));
    return (await lockLogins(tx, addressOf(login))).filter(({ email }) => email !== login.email);
  }
  await lockLogin(tx, login.email, 'update');
  return [];
}

/** The MCP clients to which members have granted access. */
export type McpConsents = {
  /** Ends all grants of these members and returns their ids. */
  endAll: (tx: Transaction, memberIds: readonly string[], source: LoggedSource) => Promise<string[]>;
  /** To be called for each of these grants after the commit. */
  ended: (grantId: string) => void;
};
