import { useSyncExternalStore } from 'react';
import type { OrgAndMode } from './api.ts';
import type { Request } from './rows.ts';
import { withoutSecrets } from './snippets.ts';

/** The last change, so that buttons that act immediately can also be copied as an API request. */
let last: (Request & { place: OrgAndMode }) | null = null;
const listeners = new Set<() => void>();

export function rememberChange(place: OrgAndMode, request: Request): void {
  // Secrets are removed, so that no password stays in memory.
  last = { row: request.row, fields: withoutSecrets(request.fields) as Request['fields'], place };
  for (const listener of listeners) listener();
}

/** Null if nothing was changed yet in this org and mode. */
export function useLastChange({ org, mode }: OrgAndMode): Request | null {
  const change = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => last,
  );
  return change !== null && change.place.org === org && change.place.mode === mode ? change : null;
}
