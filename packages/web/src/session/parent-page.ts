type Told =
  | { type: 'session.ready'; session_id: string }
  | { type: 'session.ended'; session_id: string; reason: 'revoked' | 'expired' | 'disabled' };

/** Tells the page that embeds this one, where its origin is one that may. */
export function tellParent(origins: readonly string[], told: Told): void {
  if (window.parent === window) return;
  for (const origin of addressees(origins)) window.parent.postMessage({ source: 'vestra', ...told }, origin);
}

/** Where the browser says who the parent is, no other origin is addressed. A browser drops what is addressed wrongly. */
function addressees(origins: readonly string[]): readonly string[] {
  const parent = window.location.ancestorOrigins?.[0];
  return parent === undefined ? origins : origins.filter((origin) => origin === parent);
}
