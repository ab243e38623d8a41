import type { DevtoolsSession } from './devtools.ts';

/** What a page looks like now: a JPEG in base64, and the size of the window in the page's own pixels. */
export type ScreenFrame = { image: string; width: number; height: number };

export type Screencast = (listener: (frame: ScreenFrame) => void) => () => void;

const size = { maxWidth: 1280, maxHeight: 1280 };
const quality = 60;
/** The browser makes the next picture once it hears that this one has come. */
const pauseMs = 80;
/** Of a page that stands still the browser now and then sends no picture at all: after this long, one is taken. */
const unseenMs = 1_000;

/** The pictures of one page as they change, made once for all who look. */
export function createScreencast(page: DevtoolsSession): Screencast {
  const listeners = new Set<(frame: ScreenFrame) => void>();
  let newest: ScreenFrame | null = null;
  let unseen: NodeJS.Timeout | undefined;
  const ask = (asked: Promise<unknown>) => void asked.catch(() => {});

  function show(frame: ScreenFrame): void {
    clearTimeout(unseen);
    unseen = undefined;
    if (listeners.size === 0) return;
    newest = frame;
    for (const listener of [...listeners]) listener(frame);
  }

  function expectPicture(): void {
    clearTimeout(unseen);
    if (listeners.size === 0) return;
    const timer = setTimeout(async () => {
      const taken = await takePicture(page).catch(() => null);
      if (timer !== unseen || listeners.size === 0) return;
      if (taken) show(taken);
      else expectPicture();
    }, unseenMs).unref();
    unseen = timer;
  }

  page.on('Page.screencastFrame', ({ data, metadata, sessionId }) => {
    setTimeout(() => ask(page.send('Page.screencastFrameAck', { sessionId })), pauseMs).unref();
    show({ image: data, width: metadata.deviceWidth, height: metadata.deviceHeight });
  });
  page.on('Page.frameNavigated', ({ frame }) => frame.parentId === undefined && expectPicture());

  return (listener) => {
    listeners.add(listener);
    if (listeners.size === 1) {
      ask(page.send('Page.startScreencast', { format: 'jpeg', quality, ...size }));
      expectPicture();
    } else if (newest) listener(newest);
    return () => {
      if (!listeners.delete(listener) || listeners.size > 0) return;
      newest = null;
      clearTimeout(unseen);
      ask(page.send('Page.stopScreencast'));
    };
  };
}

async function takePicture(page: DevtoolsSession): Promise<ScreenFrame> {
  const { cssVisualViewport: view } = await page.send('Page.getLayoutMetrics');
  const { data } = await page.send('Page.captureScreenshot', { format: 'jpeg', quality });
  return { image: data, width: view.clientWidth, height: view.clientHeight };
}
