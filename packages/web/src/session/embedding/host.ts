import { asMessage, type HostMessage, type PageMessage, readHostMessage } from '@vestra/react/bridge';
import { createContext, useContext } from 'react';
import type { Connection } from '../connection.ts';
import { applyLook } from './look.ts';

type Said<Message> = Message extends PageMessage ? Omit<Message, 'session_id'> : never;

/** The page that embeds this one. */
export type Host = {
  tell: (said: Said<PageMessage>) => void;
  /** Whether the person can see this page, as far as the page around it knows. */
  isShown: () => boolean;
  subscribe: (changed: () => void) => () => void;
  /** Asks for a session in place of one whose time is over; resolves when one was taken, or none will come. */
  askSession: () => Promise<void>;
};

export const HostContext = createContext<Host | null>(null);
export const useHost = () => useContext(HostContext);

/** One that has spoken is waited for; another is a plain frame that cannot answer. */
const knownHostMs = 45_000;
const unknownHostMs = 3_000;

/** Null where this page stands by itself. It speaks to, and hears, the origins alone that may embed it. */
export function meetHost(connection: Connection, addressId: string): Host | null {
  if (window.parent === window) return null;
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
    // Whoever may no longer embed this page brings no session into it either.
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

/** The console shows the page too, as a preview. What a page of this origin says it could do in this one by itself. */
const ownOrigin = window.location.origin;

/** The answer needs no token: it is there also for a session that has ended. */
async function originsOf({ client }: Connection, session_id: string): Promise<readonly string[]> {
  try {
    return [...(await client.sessions.framePolicy({ session_id })).frame_ancestors, ownOrigin];
  } catch {
    return [ownOrigin];
  }
}

/** Where the browser says who the parent is, no other origin is addressed. A browser drops what is addressed wrongly. */
function addressees(origins: readonly string[]): readonly string[] {
  const parent = window.location.ancestorOrigins?.[0];
  return parent === undefined ? origins : origins.filter((origin) => origin === parent);
}
