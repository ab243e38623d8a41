import type { DevtoolsSession } from './devtools.ts';

/** What a page looks like now: a JPEG in base64, and the size of the window in the page's own pixels. */
export type ScreenFrame = { image: string; width: number; height: number };

export type Screencast = (listener: (frame: ScreenFrame) => void) => () => void;

const size = { maxWidth: 1280, maxHeight: 1280 };
const quality = 60;
/** The browser makes the next picture once it hears that this one has come. */
const pauseMs = 80;

/** The pictures of one page as they change, made once for all who look. */
export function createScreencast(page: DevtoolsSession): Screencast {
  const listeners = new Set<(frame: ScreenFrame) => void>();
  let newest: ScreenFrame | null = null;
  const ask = (asked: Promise<unknown>) => void asked.catch(() => {});
  page.on('Page.screencastFrame', ({ data, metadata, sessionId }) => {
    setTimeout(() => ask(page.send('Page.screencastFrameAck', { sessionId })), pauseMs).unref();
    if (listeners.size === 0) return;
    newest = { image: data, width: metadata.deviceWidth, height: metadata.deviceHeight };
    for (const listener of [...listeners]) listener(newest);
  });
  return (listener) => {
    listeners.add(listener);
    if (listeners.size === 1) ask(page.send('Page.startScreencast', { format: 'jpeg', quality, ...size }));
    else if (newest) listener(newest);
    return () => {
      if (!listeners.delete(listener) || listeners.size > 0) return;
      newest = null;
      ask(page.send('Page.stopScreencast'));
    };
  };
}
