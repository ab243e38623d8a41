import { type Scheme, schemes } from '@vestra/react/bridge';
import { kept } from './kept.ts';

/** `token` is null if neither the address nor this tab's storage has one. */
export type Address = {
  baseUrl: string;
  sessionId: string;
  token: string | null;
  /** The session of the token. It differs from `sessionId` after a renewal. */
  currentId: string;
  /** Set by the host page. */
  language: string | null;
  scheme: Scheme;
};

/** Removes the token from the address bar, so that it is not shared. The tab stores it for reloads. */
export function takeAddress(): Address | null {
  const { origin, pathname, hash } = window.location;
  const given = new URLSearchParams(hash.slice(1));
  if (hash !== '') window.history.replaceState(null, '', pathname);
  const [, prefix, sessionId] = /^(.*)\/session\/(ses_[0-9a-z]{24})$/.exec(pathname) ?? [];
  if (prefix === undefined || sessionId === undefined) return null;
  const token = given.get('token');
  if (token) keepToken(sessionId, { sessionId, token });
  for (const name of ['language', 'scheme']) {
    if (given.has(name)) kept.write(`${name} ${sessionId}`, given.get(name));
  }
  const current = readToken(sessionId) ?? { sessionId, token };
  const scheme = kept.read(`scheme ${sessionId}`);
  return {
    baseUrl: `${origin}${prefix}`,
    sessionId,
    currentId: current.sessionId,
    token: current.token,
    language: kept.read(`language ${sessionId}`),
    scheme: schemes.find((each) => each === scheme) ?? 'auto',
  };
}

/** Stored under the id of the address, which does not change on renewal. */
export const keepToken = (addressId: string, current: { sessionId: string; token: string }) =>
  kept.write(`token ${addressId}`, `${current.sessionId} ${current.token}`);

function readToken(addressId: string): { sessionId: string; token: string } | null {
  const [sessionId, token] = kept.read(`token ${addressId}`)?.split(' ') ?? [];
  return sessionId && token ? { sessionId, token } : null;
}
