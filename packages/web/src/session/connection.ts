import type { RefusalReason } from '@vestra/react/bridge';
import { type Client, createClient } from '@vestra/sdk/client';
import { VestraError } from '@vestra/sdk/errors';
import { type Address, keepToken } from './address.ts';

/** Whose session it is: another user's, or one of another conversation, never takes its place. */
type Place = { user_id: string | null; conversation_id: string | null };

type Current = { sessionId: string; token: string | null };

/** The client, and whether the service can be reached: known from the calls themselves. */
export type Connection = {
  client: Client;
  isReached: () => boolean;
  sessionId: () => string;
  hasToken: () => boolean;
  subscribe: (changed: () => void) => () => void;
  /** From then on no session of another user or conversation is taken. */
  settle: (place: Place) => void;
  /** Goes on with another session of the same place; why not, where it does not. */
  renew: (next: { sessionId: string; token: string }) => Promise<RefusalReason | null>;
  /** Says how a session is asked for whose time is over: it resolves once one came, or will not. */
  setRenewal: (ask: () => Promise<void>) => void;
};

/**
 * All of the page speaks of the session of its address. Which session that is now, and with which token it is asked, is
 * known here alone: calls whose time was over wait for the next one and are made again.
 */
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
      // A gateway answers for a server that is being started again.
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
