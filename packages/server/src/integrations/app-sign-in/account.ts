import type { OAuthTokens } from '@modelcontextprotocol/client';
import type { OAuthFetch } from './oauth-fetch.ts';
import type { SignInServer } from './sign-in-server.ts';

const longest = 200;

/** Whose account it is, where the app tells: by the token of who signed in, or when asked for it. */
export async function accountOf(
  call: OAuthFetch,
  { metadata }: SignInServer,
  { id_token, access_token }: Pick<OAuthTokens, 'id_token' | 'access_token'>,
): Promise<string | null> {
  const told = nameIn(claimsOf(id_token));
  if (told !== null || metadata.userinfo_endpoint === undefined) return told;
  try {
    const headers = { authorization: `Bearer ${access_token}`, accept: 'application/json' };
    const response = await call.fetch(metadata.userinfo_endpoint, { headers });
    return response.ok ? nameIn(await response.json()) : null;
  } catch {
    return null;
  }
}

/** It came from the token endpoint itself, so its signature would prove nothing more; it decides nothing either. */
function claimsOf(idToken: string | undefined): unknown {
  try {
    return JSON.parse(Buffer.from(idToken?.split('.')[1] ?? '', 'base64url').toString('utf8'));
  } catch {
    return null;
  }
}

function nameIn(claims: unknown): string | null {
  if (typeof claims !== 'object' || claims === null) return null;
  const { email, preferred_username, login, name } = claims as Record<string, unknown>;
  const found = [email, preferred_username, login, name].find((each) => typeof each === 'string' && each.trim() !== '');
  if (typeof found !== 'string') return null;
  // Shown to people: nothing in it may turn the text around or break the line.
  const line = found.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return [...line.slice(0, longest * 2)].slice(0, longest).join('').toWellFormed() || null;
}
