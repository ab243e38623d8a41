import { asMessage, type HostMessage, type PageMessage, readHostMessage } from '@vestra/react/bridge';
import { createContext, useContext } from 'react';
import type { Connection } from '../connection.ts';
import { applyLook } from './look.ts';

type Said<Message> = Message extends PageMessage ? Omit<Message, 'session_id'> : never;

/** The host page. */
export type Host = {
  tell: (said: Said<PageMessage>) => void;
  /** Whether the host page shows this page. */
  isShown: () => boolean;
  subscribe: (changed: () => void) => () => void;
  /** Requests a new session. Resolves when one was accepted or none will come. */
  askSession: () => Promise<void>;
};

export const HostContext = createContext<Host | null>(null);
export const useHost = () => useContext(HostContext);

/** A host that never sent a message is probably a plain frame, so the wait is short. */
const knownHostMs = 45_000;
const unknownHostMs = 3_000;

export const isFramed = window.parent !== window;

/** Null if the page is not embedded. Messages are exchanged only with allowed origins. */
export function meetHost(connection: Connection, addressId: string): Host | null {
  if (!isFramed) return null;
  let hasSpoken = false;
  let isShown = true;
  let origins = originsOf(connection, addressId);
  const listeners = new Set<() => void>();
  const waiting = new Set<() => void>();
  const answered = () => {
    for (const resume of waiting) resume();
    waiting.clear();
  };

  async function hear(said: HostMessage): Promise<void> {
    hasSpoken = true;
    switch (said.type) {
      case 'host.look':
        return applyLook(said.look);
      case 'host.shown':
        isShown = said.shown;
        for (const changed of listeners) changed();
        return;
      case 'host.no_session':
        return answered();
      case 'host.session': {
        const refused = await connection.renew({ sessionId: said.session_id, token: said.token });
        tell(refused ? { type: 'session.refused', reason: refused } : { type: 'session.renewed' });
        if (refused !== 'unreachable') answered();
      }
    }
  }

  window.addEventListener('message', async ({ source, origin, data }) => {
    if (source !== window.parent) return;
    const said = readHostMessage(data);
    if (!said) return;
    // An origin that lost its permission must not set a session.
    if (said.type === 'host.session') origins = originsOf(connection, addressId);
    if ((await origins).includes(origin)) await hear(said);
  });

  function tell(said: Said<PageMessage>): void {
    if (said.type === 'session.ended') origins = originsOf(connection, addressId);
    void origins.then((allowed) => {
      const message = asMessage({ ...said, session_id: connection.sessionId() } as PageMessage);
      for (const origin of addressees(allowed)) window.parent.postMessage(message, origin);
    });
  }

  tell({ type: 'session.opened' });
  return {
    tell,
    isShown: () => isShown,
    subscribe(changed) {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
    askSession() {
      tell({ type: 'session.wanted' });
      return new Promise((resolve) => {
        waiting.add(resolve);
        setTimeout(resolve, hasSpoken ? knownHostMs : unknownHostMs);
      });
    },
  };
}

/** The console embeds the page as a preview. Its origin is trusted, because it is the same. */
const ownOrigin = window.location.origin;

/** This call needs no token, so it also works for ended sessions. */
async function originsOf({ client }: Connection, session_id: string): Promise<readonly string[]> {
  try {
    return [...(await client.sessions.framePolicy({ session_id })).frame_ancestors, ownOrigin];
  } catch {
    return [ownOrigin];
  }
}

/** Only the parent's origin, if the browser exposes it. Browsers drop messages to other origins. */
function addressees(origins: readonly string[]): readonly string[] {
  const parent = window.location.ancestorOrigins?.[0];
  return parent === undefined ? origins : origins.filter((origin) => origin === parent);
}
