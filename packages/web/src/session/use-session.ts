import type { Api } from '@vestra/contract/api';
import type { ResponseOf } from '@vestra/contract/route';
import type { Client } from '@vestra/sdk/client';
import { VestraError } from '@vestra/sdk/errors';
import { useCallback, useEffect, useState } from 'react';
import { sleepOrOnline } from './connection.ts';
import { tellParent } from './parent-page.ts';

export type Session = ResponseOf<Api['sessions']['get']>;
export type EndReason = 'revoked' | 'expired' | 'disabled';

export type SessionState = { session: Session | null; ended: EndReason | null };

const askEveryMs = 3000;

/** The session, asked for every 3 seconds until it has ended. `failed` takes what any other call failed with. */
export function useSession(client: Client, sessionId: string) {
  const [state, setState] = useState<SessionState>({ session: null, ended: null });

  const failed = useCallback((error: unknown) => {
    const ended = endOf(error);
    if (ended) setState((before) => (before.ended ? before : { ...before, ended }));
  }, []);

  const isEnded = state.ended !== null;
  useEffect(() => {
    if (isEnded) return;
    const watching = new AbortController();
    // The same answer again is no reason to draw the page again.
    const open = (session: Session) =>
      setState((before) => (isSame(before.session, session) ? before : { ...before, session }));
    void watch(client, sessionId, { signal: watching.signal, failed, open });
    return () => watching.abort();
  }, [client, sessionId, isEnded, failed]);

  const isOpen = state.session !== null;
  const { ended } = state;
  useEffect(() => {
    if (!isOpen && !ended) return;
    let isMeant = true;
    void originsOf(client, sessionId).then((origins) => {
      if (!isMeant) return;
      const session_id = sessionId;
      tellParent(
        origins,
        ended ? { type: 'session.ended', session_id, reason: ended } : { type: 'session.ready', session_id },
      );
    });
    return () => {
      isMeant = false;
    };
  }, [client, sessionId, isOpen, ended]);

  return { ...state, failed };
}

async function watch(
  client: Client,
  session_id: string,
  { signal, failed, open }: { signal: AbortSignal; failed: (error: unknown) => void; open: (session: Session) => void },
): Promise<void> {
  while (!signal.aborted) {
    try {
      const session = await client.sessions.get({ session_id }, { signal, retries: 0, timeoutMs: 15_000 });
      if (!signal.aborted) open(session);
    } catch (error) {
      if (!signal.aborted) failed(error);
    }
    await sleepOrOnline(askEveryMs, signal);
  }
}

/** The answer needs no token: it is there also for a session that has ended. */
async function originsOf(client: Client, session_id: string): Promise<readonly string[]> {
  try {
    return (await client.sessions.framePolicy({ session_id })).frame_ancestors;
  } catch {
    return [];
  }
}

const isSame = (one: Session | null, other: Session) => JSON.stringify(one) === JSON.stringify(other);

/** Null where the session may well go on. */
function endOf(error: unknown): EndReason | null {
  if (!(error instanceof VestraError)) return null;
  if (error.code === 'session_expired') return 'expired';
  if (error.code === 'user_disabled' || error.code === 'org_disabled') return 'disabled';
  return error.status === 401 ? 'revoked' : null;
}
