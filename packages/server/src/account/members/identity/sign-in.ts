import { fail } from '@vestra/contract/errors';
import type { SignInError } from '@vestra/contract/identity-provider';
import { newId } from '@vestra/contract/ids';
import { type Role, roles } from '@vestra/contract/route';
import type { Database, Transaction } from '../../../platform/db/pool.ts';
import { transaction } from '../../../platform/db/transaction.ts';
import type { RateLimiter } from '../../../platform/http/rate-limit.ts';
import type { Vault } from '../../../platform/secrets/vault.ts';
import type { IdentityProviderRow, MemberRow, SignInAttemptRow } from '../../tables.ts';
import { recordMemberChange, type Source } from '../access-log.ts';
import { openSession, type SignedIn } from '../console-sessions.ts';
import { beginAttempt, derived, isDerived, takeAttempt } from '../login-store.ts';
import { throttleAddress } from '../login-throttle.ts';
import { loginOf, normaliseEmail } from '../member.ts';
import { activateMember, insertOrLockMember } from '../store.ts';
import type { Identity, IdentityProviders, SignInParameters } from './identity-provider.ts';
import {
  changeOpening,
  deleteIdentity,
  findIdentity,
  identityOfMember,
  insertIdentity,
  lockMember,
  lockProvider,
  readProvider,
} from './providers.ts';

export type SignInDependencies = {
  db: Database;
  vault: Vault;
  rateLimiter: RateLimiter;
  identityProviders: IdentityProviders;
  redirectUri: string;
};

/** The address for the browser, and the token for its cookie. */
type StartedSignIn = { url: string; token: string };

export async function beginSignIn(
  deps: SignInDependencies,
  { orgId, returnTo }: { orgId: string; returnTo: string | null },
  source: Source,
): Promise<StartedSignIn | SignInError> {
  const { db, vault, identityProviders, rateLimiter } = deps;
  await throttleAddress(rateLimiter, source.ip);
  const found = await readProvider(db, vault, orgId);
  if (!found) return 'not_offered';
  const token = await beginAttempt(db, { kind: 'provider', org_id: orgId, return_to: returnTo });
  const begun = await identityProviders.signInAddress(found.provider, attemptOf(token, deps));
  return begun.ok ? { token, url: begun.url } : begun.reason;
}

/** Only a member who is signed in with a password may link an account, to prove that it is theirs. */
export async function beginLink(
  deps: SignInDependencies,
  { session, membership }: SignedIn,
  source: Source,
): Promise<StartedSignIn> {
  const { db, vault, identityProviders, rateLimiter } = deps;
  await throttleAddress(rateLimiter, source.ip);
  if (session.email === null) throw fail('password_not_used');
  const { member, org } = membership;
  const found = await readProvider(db, vault, org.id);
  if (!found) throw fail('identity_provider_not_found');
  const token = await beginAttempt(db, { kind: 'link', org_id: org.id, member_id: member.id });
  const begun = await identityProviders.signInAddress(found.provider, attemptOf(token, deps));
  if (!begun.ok) throw fail('identity_provider_error', { message: begun.message });
  return { token, url: begun.url };
}

const attemptOf = (token: string, { redirectUri }: Pick<SignInDependencies, 'redirectUri'>): SignInParameters => ({
  redirectUri,
  state: derived(token, 'state'),
  nonce: derived(token, 'nonce'),
  verifier: derived(token, 'verifier'),
});

type RefusedSignIn = { error: SignInError; orgId: string | null };
type CompletedSignIn = { token: string | null; returnTo: string; orgId: string };

/** `token` is for the session cookie. Null if the person linked an account: they are already signed in. */
type FinishedSignIn = (RefusedSignIn & { wasLinking: boolean }) | CompletedSignIn;

export async function finishSignIn(
  deps: SignInDependencies,
  { answer, token }: { answer: URLSearchParams; token: string | null },
  source: Source,
): Promise<FinishedSignIn> {
  const { db, rateLimiter } = deps;
  await throttleAddress(rateLimiter, source.ip);
  // Check the state first: a forged address must not consume this browser's attempt.
  if (token === null || !isDerived(token, 'state', answer.get('state') ?? ''))
    return { error: 'expired', orgId: null, wasLinking: false };
  const attempt = await takeAttempt(db, token, ['provider', 'link']);
  if (!attempt) return { error: 'expired', orgId: null, wasLinking: false };
  const finished = await finishAttempt(deps, { attempt, answer, token }, source);
  return 'error' in finished ? { ...finished, wasLinking: attempt.kind === 'link' } : finished;
}

async function finishAttempt(
  deps: SignInDependencies,
  { attempt, answer, token }: { attempt: SignInAttemptRow; answer: URLSearchParams; token: string },
  source: Source,
): Promise<RefusedSignIn | CompletedSignIn> {
  const { db, vault, identityProviders } = deps;
  const orgId = attempt.org_id;
  if (orgId === null) return { error: 'expired', orgId };
  const found = await readProvider(db, vault, orgId);
  if (!found) return { error: 'not_offered', orgId };
  const wanted = neededClaims(found.row);
  const came = await identityProviders.identify(found.provider, attemptOf(token, deps), { answer, wanted });
  if (!came.ok) return { error: came.reason, orgId };
  return transaction(db, (tx) => completeSignIn(tx, { attempt, asked: found.row, identity: came.identity }, source));
}

type VerifiedSignIn = { attempt: SignInAttemptRow; asked: IdentityProviderRow; identity: Identity };

async function completeSignIn(
  tx: Transaction,
  { attempt, asked, identity }: VerifiedSignIn,
  source: Source,
): Promise<RefusedSignIn | CompletedSignIn> {
  const { org_id: orgId } = asked;
  const provider = await lockProvider(tx, orgId, 'share');
  // The org has changed its provider since the sign-in began.
  if (provider?.issuer !== asked.issuer || provider.client_id !== asked.client_id) return { error: 'expired', orgId };
  const vouched = emailOf(identity.claims, provider);
  if ('refused' in vouched) return { error: vouched.refused, orgId };
  const person = { subject: identity.subject, email: vouched.email, claims: identity.claims };
  if (attempt.kind === 'link') return linkToMember(tx, provider, person, attempt.member_id, source);
  const member = await findOrCreateMember(tx, provider, person, source);
  if (typeof member === 'string') return { error: member, orgId };
  const { token } = await openSession(tx, { memberId: member.id }, [{ member }], source, { by: 'identity_provider' });
  return { token, returnTo: attempt.return_to ?? '/console', orgId };
}

type VouchedPerson = { subject: string; email: string; claims: Record<string, unknown> };

async function findOrCreateMember(
  tx: Transaction,
  provider: IdentityProviderRow,
  person: VouchedPerson,
  source: Source,
): Promise<MemberRow | SignInError> {
  const { org_id: orgId, issuer } = provider;
  const { subject, email, claims } = person;
  const known = await findIdentity(tx, { orgId, issuer, subject });
  if (known) {
    const member = await lockMember(tx, orgId, { id: known.member_id });
    return member?.status === 'active' ? member : 'not_a_member';
  }
  const role = roleOf(claims, provider);
  const member = await lockMember(tx, orgId, { email });
  const linked = member && (await identityOfMember(tx, member.id));
  // A concurrent sign-in of the same person was committed since `findIdentity`.
  if (linked?.issuer === issuer && linked.subject === subject)
    return member?.status === 'active' ? member : 'not_a_member';
  const arrival = arrivalOf(member, { hasIdentity: linked !== undefined, role });
  if (arrival === 'make' && role) {
    const id = newId('mbr');
    const name = nameOf(claims) ?? email;
    const fresh = { id, org_id: orgId, email, name, role, status: 'active', opened_by: 'identity' } as const;
    const made = await insertOrLockMember(tx, fresh);
    // A concurrent request created a member with this email: decide again.
    if (made.id !== id) return findOrCreateMember(tx, provider, person, source);
    return linkIdentity(tx, provider, person, made, 'member.created', source);
  }
  if (arrival === 'accept' && member) {
    const active = await activateMember(tx, member.id, member.name ?? nameOf(claims) ?? email);
    await changeOpening(tx, active.id, 'identity');
    return linkIdentity(tx, provider, person, active, 'member.accepted', source);
  }
  if (arrival === 'link' && member) return linkIdentity(tx, provider, person, member, 'member.linked', source);
  return arrival as SignInError;
}

async function linkIdentity(
  tx: Transaction,
  { org_id, issuer }: IdentityProviderRow,
  { subject, email }: VouchedPerson,
  member: MemberRow,
  action: 'member.created' | 'member.accepted' | 'member.linked',
  source: Source,
): Promise<MemberRow | SignInError> {
  if (!(await insertIdentity(tx, { member_id: member.id, org_id, issuer, subject, email }))) return 'another_identity';
  await recordMemberChange(tx, member, action, { by: 'identity_provider', role: member.role, email }, source);
  return member;
}

/** Links the account to the member who began: the browser's token proves that it is the same person. */
async function linkToMember(
  tx: Transaction,
  provider: IdentityProviderRow,
  person: VouchedPerson,
  memberId: string | null,
  source: Source,
): Promise<RefusedSignIn | CompletedSignIn> {
  const { org_id: orgId, issuer } = provider;
  const member = memberId === null ? undefined : await lockMember(tx, orgId, { id: memberId });
  if (member?.status !== 'active') return { error: 'not_a_member', orgId };
  const arrived: CompletedSignIn = { token: null, returnTo: '/console/account', orgId };
  const known = await identityOfMember(tx, member.id);
  // The same account is already linked.
  if (known?.issuer === issuer && known.subject === person.subject) return arrived;
  const result = await linkIdentity(tx, provider, person, member, 'member.linked', source);
  if (typeof result === 'string') return { error: result, orgId };
  if (member.opened_by === 'password') await changeOpening(tx, member.id, 'both');
  return arrived;
}

function nameOf({ name }: Record<string, unknown>): string | null {
  const words =
    typeof name === 'string'
      ? [
          ...name
            .toWellFormed()
            .replaceAll(/\p{Cc}/gu, ' ')
            .trim(),
        ]
      : [];
  return words.length === 0 ? null : words.slice(0, 200).join('');
}

/** Requires a password, so that the member can still sign in. Ends the sessions that the link opened. */
export async function unlink(tx: Transaction, { session, membership }: SignedIn, source: Source): Promise<void> {
  const { member, org } = membership;
  const locked = await lockMember(tx, org.id, { id: member.id });
  if (session.email === null || !locked || loginOf(locked) === null) throw fail('password_not_used');
  if (!(await deleteIdentity(tx, member.id))) throw fail('identity_not_linked');
  if (locked.login === null) await changeOpening(tx, member.id, 'password');
  await recordMemberChange(tx, member, 'member.unlinked', { by: 'identity_provider' }, source);
}

type Claims = Record<string, unknown>;

/** The claims that a sign-in requires. */
const neededClaims = ({ role_claim }: Pick<IdentityProviderRow, 'role_claim'>): string[] =>
  ['email', 'email_verified', role_claim].filter((name) => name !== null);

/** The verified email, if the org allows its domain. */
export function emailOf(
  claims: Claims,
  { issuer, allowed_domains }: Pick<IdentityProviderRow, 'issuer' | 'allowed_domains'>,
): { email: string } | { refused: SignInError } {
  if (typeof claims.email !== 'string' || !isVerified(claims, issuer)) return { refused: 'email_unverified' };
  const email = normaliseEmail(claims.email);
  const parts = email.split('@');
  const [name, domain] = parts;
  // Other software could read a second @ or a space as another domain.
  const isPlain = parts.length === 2 && name && domain && email.length <= 320 && !/[\s\p{Cc}<>,;"]/u.test(email);
  return isPlain && allowed_domains.includes(domain) ? { email } : { refused: 'email_not_allowed' };
}

/**
 * Microsoft does not verify emails. Its claim `xms_edov` states that the domain of the email belongs to the tenant.
 * Without it, a tenant can set any email.
 */
function isVerified(claims: Claims, issuer: string): boolean {
  const isMicrosoft = URL.parse(issuer)?.host === 'login.microsoftonline.com';
  const said = isMicrosoft ? (claims.xms_edov ?? claims.email_verified) : claims.email_verified;
  return said === true || said === 'true' || (isMicrosoft && (said === 1 || said === '1'));
}

/** The highest role that the values of the claim map to, or the default role. Null: no role. */
export function roleOf(
  claims: Claims,
  rule: Pick<IdentityProviderRow, 'default_role' | 'role_claim' | 'roles_by_claim'>,
): Role | null {
  const said = rule.role_claim === null ? undefined : claims[rule.role_claim];
  const values = (Array.isArray(said) ? said : [said]).filter((value) => typeof value === 'string');
  const given = values.map((value) => (Object.hasOwn(rule.roles_by_claim, value) ? rule.roles_by_claim[value] : null));
  return roles.find((role) => given.includes(role)) ?? rule.default_role;
}

/** The result for a verified person whose account at the provider is not linked yet. */
type Arrival = 'make' | 'accept' | 'link' | SignInError;

/**
 * `member` is the member of this org with the email. A member with a password must link the account themselves.
 * Otherwise a provider could claim an email and take over the membership. A member whom the provider created, and whose
 * link was lost in a change of providers, is linked again by email.
 */
export function arrivalOf(
  member: Pick<MemberRow, 'status' | 'opened_by' | 'login' | 'email'> | undefined,
  { hasIdentity, role }: { hasIdentity: boolean; role: Role | null },
): Arrival {
  if (!member) return role ? 'make' : 'not_a_member';
  if (member.status === 'invited') return 'accept';
  if (hasIdentity) return 'another_identity';
  return loginOf(member) === null ? 'link' : 'link_required';
}
