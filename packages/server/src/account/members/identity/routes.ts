import { fail } from '@vestra/contract/errors';
import type { SignInError } from '@vestra/contract/identity-provider';
import type { Caller } from '../../../platform/caller.ts';
import { transaction } from '../../../platform/db/transaction.ts';
import { type Handlers, Reply } from '../../../platform/http/handler.ts';
import type { IdentityProviderRow } from '../../tables.ts';
import { sourceOf } from '../access-log.ts';
import { signedIn } from '../console-sessions.ts';
import {
  attemptCookie,
  clearedAttemptCookie,
  isSecureRequest,
  readAttemptToken,
  readSessionToken,
  sessionCookie,
} from '../session-cookies.ts';
import { findProvider, type ProviderDependencies, removeProvider, setProvider } from './providers.ts';
import { beginLink, beginSignIn, finishSignIn, type SignInDependencies, unlink } from './sign-in.ts';

type Dependencies = ProviderDependencies & Omit<SignInDependencies, 'redirectUri'> & { publicUrl: string };

const redirectUriOf = (publicUrl: string) => `${publicUrl.replace(/\/+$/, '')}/v1/console/sign-in/callback`;

export function identityProviderRoutes(deps: Dependencies): Handlers<'identityProvider'> {
  const present = (row: IdentityProviderRow) => presentProvider(row, deps.publicUrl);
  return {
    get: async ({ caller }) => {
      const row = await findProvider(deps.db, caller.orgId);
      if (!row) throw fail('identity_provider_not_found');
      return present(row);
    },
    set: async ({ origin, body }) => present(await setProvider(deps, origin, body)),
    remove: async ({ origin }) => {
      await transaction(deps.db, (tx) => removeProvider(tx, origin));
      return { object: 'identity_provider', deleted: true };
    },
  };
}

export function signInRoutes({ publicUrl, ...others }: Dependencies): Handlers<'consoleSignIn'> {
  const deps = { ...others, redirectUri: redirectUriOf(publicUrl) };
  const { db } = deps;
  const personOf = ({ caller, headers }: { caller: Caller; headers: Headers }) =>
    signedIn(db, caller, readSessionToken(headers, publicUrl));
  const toConsole = (path: string) => `${publicUrl.replace(/\/+$/, '')}${path}`;
  const refusedAt = (page: 'login' | 'account', error: SignInError, orgId: string | null) =>
    toConsole(`/console/${page}?${new URLSearchParams({ sign_in_error: error, ...(orgId && { org: orgId }) })}`);

  return {
    begin: async ({ params, query, headers, requestId, ip }) => {
      const wanted = { orgId: params.org_id, returnTo: query.return_to ?? null };
      const begun = await beginSignIn(deps, wanted, sourceOf({ requestId, ip, headers }));
      if (typeof begun === 'string') return sendTo(refusedAt('login', begun, params.org_id), []);
      return sendTo(begun.url, [attemptCookie(begun.token, isSecureRequest(headers, publicUrl))]);
    },
    callback: async ({ query, headers, requestId, ip }) => {
      const isSecure = isSecureRequest(headers, publicUrl);
      const given = Object.entries(query).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
      const finished = await finishSignIn(
        deps,
        { answer: new URLSearchParams(given), token: readAttemptToken(headers, publicUrl) },
        sourceOf({ requestId, ip, headers }),
      );
      if ('error' in finished) {
        // A forged address must not clear this browser's attempt.
        const cookies = finished.error === 'expired' ? [] : [clearedAttemptCookie(isSecure)];
        return sendTo(refusedAt(finished.wasLinking ? 'account' : 'login', finished.error, finished.orgId), cookies);
      }
      const { token, returnTo } = finished;
      const cookies = [clearedAttemptCookie(isSecure), ...(token ? [sessionCookie(token, isSecure)] : [])];
      return sendTo(toConsole(returnTo), cookies);
    },
    link: async (incoming) => {
      const { url, token } = await beginLink(deps, await personOf(incoming), sourceOf(incoming));
      const isSecure = isSecureRequest(incoming.headers, publicUrl);
      return new Reply({ object: 'sign_in_link', url }, { headers: { 'set-cookie': attemptCookie(token, isSecure) } });
    },
    unlink: async (incoming) => {
      const person = await personOf(incoming);
      await transaction(db, (tx) => unlink(tx, person, sourceOf(incoming)));
      return { object: 'sign_in_link', deleted: true };
    },
  };
}

function sendTo(location: string, cookies: readonly string[]): Response {
  const headers = new Headers({ location });
  for (const cookie of cookies) headers.append('set-cookie', cookie);
  return new Response(null, { status: 303, headers });
}

const presentProvider = (row: IdentityProviderRow, publicUrl: string) => ({
  object: 'identity_provider' as const,
  issuer: row.issuer,
  client_id: row.client_id,
  has_client_secret: row.sealed_client_secret !== null,
  allowed_domains: row.allowed_domains,
  default_role: row.default_role,
  role_claim: row.role_claim,
  roles_by_claim: row.roles_by_claim,
  password_sign_in: row.password_sign_in,
  sign_in_url: `${publicUrl.replace(/\/+$/, '')}/v1/console/sign-in/${row.org_id}`,
  redirect_uri: redirectUriOf(publicUrl),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});
