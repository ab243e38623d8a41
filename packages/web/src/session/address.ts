import { type Scheme, schemes } from '@vestra/react/bridge';
import { kept } from './kept.ts';

/** `token`: null where neither the address has it nor this tab has kept one. */
export type Address = {
  baseUrl: string;
  sessionId: string;
  token: string | null;
  /** The session that the token is of, where another than the address names has taken its place. */
  currentId: string;
  /** As the page around this one wants it. */
  language: string | null;
  scheme: Scheme;
};

/**
 * The token leaves the address bar at once: nobody copies, bookmarks or shares it with the address. The tab keeps it until it
 * is closed, so that the page can be loaded again.
 */
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

/** Under the id of the address, which stays what it is when the session is renewed. */
export const keepToken = (addressId: string, current: { sessionId: string; token: string }) =>
  kept.write(`token ${addressId}`, `${current.sessionId} ${current.token}`);

function readToken(addressId: string): { sessionId: string; token: string } | null {
  const [sessionId, token] = kept.read(`token ${addressId}`)?.split(' ') ?? [];
  return sessionId && token ? { sessionId, token } : null;
}
