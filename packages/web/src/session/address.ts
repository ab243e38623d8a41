export type Address = { baseUrl: string; sessionId: string; token: string };

/** The token leaves the address bar at once: nobody copies, bookmarks or shares it with the address. */
export function takeAddress(): Address | null {
  const { origin, pathname, hash } = window.location;
  const token = new URLSearchParams(hash.slice(1)).get('token');
  if (hash !== '') window.history.replaceState(null, '', pathname);
  const [, prefix, sessionId] = /^(.*)\/session\/(ses_[0-9a-z]{24})$/.exec(pathname) ?? [];
  if (prefix === undefined || sessionId === undefined || !token) return null;
  return { baseUrl: `${origin}${prefix}`, sessionId, token };
}
