import { type Client, createClient } from '@vestra/sdk/client';
import type { Address } from './address.ts';

/** The client, and whether the service can be reached: known from the calls themselves. */
export type Connection = {
  client: Client;
  isReached: () => boolean;
  subscribe: (changed: () => void) => () => void;
};

export function connect({ baseUrl, token }: Address): Connection {
  let isReached = true;
  const listeners = new Set<() => void>();
  const note = (reached: boolean) => {
    if (reached === isReached) return;
    isReached = reached;
    for (const changed of listeners) changed();
  };
  window.addEventListener('offline', () => note(false));
  const client = createClient({
    baseUrl,
    key: token,
    sleep: sleepOrOnline,
    fetch: async (input, init) => {
      try {
        const response = await fetch(input, init);
        // A gateway answers for a server that is being started again.
        note(![502, 503, 504].includes(response.status));
        return response;
      } catch (error) {
        if (!init?.signal?.aborted) note(false);
        throw error;
      }
    },
  });
  return {
    client,
    isReached: () => isReached,
    subscribe(changed) {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
  };
}

/** A device that is online again need not wait for the rest of a pause. */
export function sleepOrOnline(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      window.removeEventListener('online', done);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    window.addEventListener('online', done);
    signal?.addEventListener('abort', done);
  });
}
