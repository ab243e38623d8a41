import type { RefusalReason } from '@vestra/react/bridge';
import { type Client, createClient } from '@vestra/sdk/client';
import { VestraError } from '@vestra/sdk/errors';
import { type Address, keepToken } from './address.ts';

/** The owner of the session. A session of another user or conversation is rejected. */
type Place = { user_id: string | null; conversation_id: string | null };

type Current = { sessionId: string; token: string | null };

/** The API client and its connection status, derived from the calls. */
export type Connection = {
  client: Client;
  isReached: () => boolean;
  sessionId: () => string;
  hasToken: () => boolean;
  subscribe: (changed: () => void) => () => void;
  /** Fixes the user and conversation. */
  settle: (place: Place) => void;
  /** Switches to a new session. Resolves with the reason if it is rejected. */
  renew: (next: { sessionId: string; token: string }) => Promise<RefusalReason | null>;
  /** Sets how an expired session is renewed. `ask` resolves when a new one came or none will. */
  setRenewal: (ask: () => Promise<void>) => void;
};

/** The page uses the session id of its address. This maps it to the current session and repeats calls after a renewal. */
export function connect({ baseUrl, sessionId, currentId, token }: Address): Connection {
  let isReached = true;
  let current: Current = { sessionId: currentId, token };
  let place: Place | null = null;
  let askRenewal: () => Promise<void> = async () => {};
  const listeners = new Set<() => void>();
  const tellAll = () => {
    for (const changed of listeners) changed();
  };
  const note = (reached: boolean) => {
    if (reached === isReached) return;
    isReached = reached;
    tellAll();
  };
  window.addEventListener('offline', () => note(false));

  async function send(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const used = current;
    const response = await sendAs(used, input, init);
    if (response.status !== 401) return response;
    if (current === used && (await isOverTime(response))) await askRenewal();
    return current === used ? response : sendAs(current, input, init);
  }

  async function sendAs(as: Current, input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const headers = new Headers(init?.headers);
    if (as.token !== null) headers.set('authorization', `Bearer ${as.token}`);
    const url = String(input).replace(`/v1/sessions/${sessionId}`, `/v1/sessions/${as.sessionId}`);
    try {
      const response = await fetch(url, { ...init, headers });
      // A gateway answers while the server restarts.
      note(![502, 503, 504].includes(response.status));
      return response;
    } catch (error) {
      if (!init?.signal?.aborted) note(false);
      throw error;
    }
  }

  async function renew(next: { sessionId: string; token: string }): Promise<RefusalReason | null> {
    const client = createClient({ baseUrl, key: next.token, retries: 1, timeoutMs: 15_000 });
    try {
      const session = await client.sessions.get({ session_id: next.sessionId });
      if (place && session.user_id !== place.user_id) return 'other_user';
      if (place && session.conversation_id !== place.conversation_id) return 'other_conversation';
    } catch (error) {
      return refusalOf(error);
    }
    current = next;
    keepToken(sessionId, next);
    tellAll();
    return null;
  }

  return {
    client: createClient({ baseUrl, key: token ?? 'none', sleep: sleepOrOnline, fetch: send }),
    isReached: () => isReached,
    sessionId: () => current.sessionId,
    hasToken: () => current.token !== null,
    subscribe(changed) {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
    settle(settled) {
      place ??= settled;
    },
    renew,
    setRenewal(ask) {
      askRenewal = ask;
    },
  };
}

async function isOverTime(response: Response): Promise<boolean> {
  const body = await response
    .clone()
    .json()
    .catch(() => null);
  return body?.error?.code === 'session_expired';
}

function refusalOf(error: unknown): RefusalReason {
  if (!(error instanceof VestraError) || error.status === 0 || error.status >= 500) return 'unreachable';
  if (error.code === 'session_expired') return 'expired';
  return error.code === 'session_revoked' ? 'revoked' : 'invalid';
}

/** An online event ends the pause early. */
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
