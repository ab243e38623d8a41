import type { Api } from '@vestra/contract/api';
import type { ResponseOf } from '@vestra/contract/route';
import type { EndReason } from '@vestra/react/bridge';
import type { Client } from '@vestra/sdk/client';
import { VestraError } from '@vestra/sdk/errors';
import { useCallback, useEffect, useState } from 'react';
import { type Connection, sleepOrOnline } from './connection.ts';
import { useHost } from './embedding/host.ts';

export type Session = ResponseOf<Api['sessions']['get']>;

export type SessionState = { session: Session | null; ended: EndReason | null };

const askEveryMs = 3000;

/** Polls the session until it has ended. `failed` receives errors of other calls. */
export function useSession(connection: Connection, sessionId: string) {
  const { client } = connection;
  const host = useHost();
  const [state, setState] = useState<SessionState>({ session: null, ended: null });

  const failed = useCallback((error: unknown) => {
    const ended = endOf(error);
    if (ended) setState((before) => (before.ended ? before : { ...before, ended }));
  }, []);

  // An expired page continues with a renewed session.
  useEffect(() => {
    let before = connection.sessionId();
    return connection.subscribe(() => {
      if (connection.sessionId() === before) return;
      before = connection.sessionId();
      setState((state) => (state.ended === 'expired' ? { ...state, ended: null } : state));
    });
  }, [connection]);

  const isEnded = state.ended !== null;
  useEffect(() => {
    if (isEnded) return;
    const watching = new AbortController();
    // An unchanged session must not cause a render.
    const open = (session: Session) => {
      connection.settle(session);
      setState((before) => (isSame(before.session, session) ? before : { ...before, session }));
    };
    void watch(client, sessionId, { signal: watching.signal, failed, open });
    return () => watching.abort();
  }, [client, connection, sessionId, isEnded, failed]);

  const isOpen = state.session !== null;
  const conversation_id = state.session?.conversation_id ?? null;
  const { ended } = state;
  useEffect(() => {
    if (ended) host?.tell({ type: 'session.ended', reason: ended });
    else if (isOpen) host?.tell({ type: 'session.ready', conversation_id });
  }, [host, isOpen, conversation_id, ended]);

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

/** A renewed session differs only in its id and expiry. */
const isSame = (one: Session | null, other: Session) => one !== null && lasting(one) === lasting(other);

const lasting = ({ id: _, expires_at: __, ...rest }: Session) => JSON.stringify(rest);

/** Null if the error does not end the session. */
function endOf(error: unknown): EndReason | null {
  if (!(error instanceof VestraError)) return null;
  if (error.code === 'session_expired') return 'expired';
  if (error.code === 'user_disabled' || error.code === 'org_disabled') return 'disabled';
  return error.status === 401 ? 'revoked' : null;
}
