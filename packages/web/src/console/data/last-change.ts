import { useSyncExternalStore } from 'react';
import type { Place } from './api.ts';
import type { Request } from './rows.ts';
import { withoutSecrets } from './snippets.ts';

/**
 * The change that was made last, so that whatever was pressed can be copied as a call: a form and a question show theirs
 * beforehand, a button that acts at once has no room for it.
 */
let last: (Request & { place: Place }) | null = null;
const listeners = new Set<() => void>();

export function rememberChange(place: Place, request: Request): void {
  // No password stays in the page for it.
  last = { row: request.row, fields: withoutSecrets(request.fields) as Request['fields'], place };
  for (const listener of listeners) listener();
}

/** Null where nothing was changed yet in this org and mode. */
export function useLastChange({ org, mode }: Place): Request | null {
  const change = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => last,
  );
  return change !== null && change.place.org === org && change.place.mode === mode ? change : null;
}
