import type { SignInQuirks } from './app-sign-in.ts';
import type { OAuthFetch } from './oauth-fetch.ts';

/** The answer of a token endpoint as the standard words it, from one that words it otherwise. */
export function readingTokens(
  fetch: OAuthFetch['fetch'],
  { tokens_in: member, any_token_type: isAnyType }: SignInQuirks = {},
): OAuthFetch['fetch'] {
  if (member === undefined && !isAnyType) return fetch;
  return async (url, init) => {
    const response = await fetch(url, init);
    if (!response.ok) return response;
    const answer: unknown = await response.json();
    if (!isObject(answer)) return Response.json(answer);
    const inner = member === undefined ? answer : answer[member];
    const tokens = isObject(inner) && typeof inner.access_token === 'string' ? inner : answer;
    return Response.json({ ...tokens, ...(isAnyType && { token_type: 'Bearer' }) });
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
