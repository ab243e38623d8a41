import { fail } from '@vestra/contract/errors';
import type { SignInError } from '@vestra/contract/identity-provider';
import type { Database } from '../../../platform/db/pool.ts';
import type { RateLimiter } from '../../../platform/http/rate-limit.ts';
import type { Vault } from '../../../platform/secrets/vault.ts';
import type { SignedIn } from '../account.ts';
import { countAttempt } from '../attempt.ts';
import { beginAttempt, derived } from '../attempt-token.ts';
import type { Source } from '../source.ts';
import type { Attempt, IdentityProviders } from './identity-provider.ts';
import { readProvider } from './set-provider.ts';

export type SignInDependencies = {
  db: Database;
  vault: Vault;
  rateLimiter: RateLimiter;
  identityProviders: IdentityProviders;
  redirectUri: string;
};

/** Where the browser goes, and the token that its cookie holds meanwhile. */
type Begun = { url: string; token: string };

export async function beginSignIn(
  deps: SignInDependencies,
  { orgId, returnTo }: { orgId: string; returnTo: string | null },
  source: Source,
): Promise<Begun | SignInError> {
  const { db, vault, identityProviders, rateLimiter } = deps;
  await countAttempt(rateLimiter, 'ip', source.ip);
  const found = await readProvider(db, vault, orgId);
  if (!found) return 'not_offered';
  const token = await beginAttempt(db, { kind: 'provider', org_id: orgId, return_to: returnTo });
  const begun = await identityProviders.signInAddress(found.provider, attemptOf(token, deps));
  return begun.ok ? { token, url: begun.url } : begun.reason;
}

/** By a member who is logged in with a password: nobody else can say that the account at the provider is theirs. */
export async function beginLink(
  deps: SignInDependencies,
  { session, membership }: SignedIn,
  source: Source,
): Promise<Begun> {
  const { db, vault, identityProviders, rateLimiter } = deps;
  await countAttempt(rateLimiter, 'ip', source.ip);
  if (session.email === null) throw fail('password_not_used');
  const { member, org } = membership;
  const found = await readProvider(db, vault, org.id);
  if (!found) throw fail('identity_provider_not_found');
  const token = await beginAttempt(db, { kind: 'link', org_id: org.id, member_id: member.id });
  const begun = await identityProviders.signInAddress(found.provider, attemptOf(token, deps));
  if (!begun.ok) throw fail('identity_provider_error', { message: begun.message });
  return { token, url: begun.url };
}

export const attemptOf = (token: string, { redirectUri }: Pick<SignInDependencies, 'redirectUri'>): Attempt => ({
  redirectUri,
  state: derived(token, 'state'),
  nonce: derived(token, 'nonce'),
  verifier: derived(token, 'verifier'),
});
