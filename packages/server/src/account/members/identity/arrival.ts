import type { SignInError } from '@vestra/contract/identity-provider';
import { type Role, roles } from '@vestra/contract/route';
import type { IdentityProviderRow, MemberRow } from '../../tables.ts';
import { loginOf, normaliseEmail } from '../member.ts';

type Claims = Record<string, unknown>;

/** Claims that a sign-in cannot do without. */
export const neededClaims = ({ role_claim }: Pick<IdentityProviderRow, 'role_claim'>): string[] =>
  ['email', 'email_verified', role_claim].filter((name) => name !== null);

/** The email that the provider vouches for, where the org takes it. */
export function emailOf(
  claims: Claims,
  { issuer, allowed_domains }: Pick<IdentityProviderRow, 'issuer' | 'allowed_domains'>,
): { email: string } | { refused: SignInError } {
  if (typeof claims.email !== 'string' || !isVerified(claims, issuer)) return { refused: 'email_unverified' };
  const email = normaliseEmail(claims.email);
  const parts = email.split('@');
  const [name, domain] = parts;
  // Two @ or a space could read as another domain elsewhere.
  const isPlain = parts.length === 2 && name && domain && email.length <= 320 && !/[\s\p{Cc}<>,;"]/u.test(email);
  return isPlain && allowed_domains.includes(domain) ? { email } : { refused: 'email_not_allowed' };
}

/**
 * Microsoft says nothing of the email itself; its claim `xms_edov` says that the email's domain is the tenant's own, and
 * without it a tenant may write any email it likes.
 */
function isVerified(claims: Claims, issuer: string): boolean {
  const isMicrosoft = URL.parse(issuer)?.host === 'login.microsoftonline.com';
  const said = isMicrosoft ? (claims.xms_edov ?? claims.email_verified) : claims.email_verified;
  return said === true || said === 'true' || (isMicrosoft && (said === 1 || said === '1'));
}

/** The highest role that a value of the claim stands for, or the one of the org for everybody; null: none. */
export function roleOf(
  claims: Claims,
  rule: Pick<IdentityProviderRow, 'default_role' | 'role_claim' | 'roles_by_claim'>,
): Role | null {
  const said = rule.role_claim === null ? undefined : claims[rule.role_claim];
  const values = (Array.isArray(said) ? said : [said]).filter((value) => typeof value === 'string');
  const given = values.map((value) => (Object.hasOwn(rule.roles_by_claim, value) ? rule.roles_by_claim[value] : null));
  return roles.find((role) => given.includes(role)) ?? rule.default_role;
}

/** What becomes of a person whom the provider vouches for and whose account there is not known yet. */
export type Arrival = 'make' | 'accept' | 'link' | SignInError;

/**
 * `member` is who has the email in this org. A member with a password links the account themselves: a provider that says
 * the email of somebody else must not become them. One whom the provider made, and who lost the link because the
 * provider was changed, gets it again by email.
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
