import type { SignInError } from '@vestra/contract/identity-provider';
import { type Role, roles } from '@vestra/contract/route';
import type { IdentityProviderRow, MemberRow } from '../../tables.ts';
import { loginOf, normaliseEmail } from '../member.ts';

type Claims = Record<string, unknown>;

/** The claims that a sign-in requires. */
export const neededClaims = ({ role_claim }: Pick<IdentityProviderRow, 'role_claim'>): string[] =>
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
export type Arrival = 'make' | 'accept' | 'link' | SignInError;

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
