import { asMessage, type HostMessage, type PageMessage, readPageMessage } from './bridge.ts';
import type { OpenSession } from './session-keeper.ts';

/** The frame of a session's page, and the way to talk with it. */
export type Frame = {
  /** Loads the page with its first session. `look`: what it is to know before it shows anything. */
  load: (session: OpenSession, look: { language: string | null; scheme: string }) => void;
  tell: (said: HostMessage) => void;
  /** The origin of the page that was loaded. */
  origin: () => string | null;
  close: () => void;
};

/** Nothing is heard but what comes from this frame and the origin it was loaded from; what is said goes nowhere else. */
export function openFrame(element: HTMLIFrameElement, heard: (said: PageMessage) => void): Frame {
  let origin: string | null = null;
  const listen = ({ source, origin: from, data }: MessageEvent) => {
    if (origin === null || from !== origin || source !== element.contentWindow) return;
    const said = readPageMessage(data);
    if (said) heard(said);
  };
  window.addEventListener('message', listen);
  return {
    load(session, { language, scheme }) {
      origin = session.origin;
      const also = new URLSearchParams({ scheme, ...(language && { language }) });
      element.src = `${session.url}&${also}`;
    },
    tell(said) {
      if (origin !== null) element.contentWindow?.postMessage(asMessage(said), origin);
    },
    origin: () => origin,
    close() {
      window.removeEventListener('message', listen);
      origin = null;
    },
  };
}
