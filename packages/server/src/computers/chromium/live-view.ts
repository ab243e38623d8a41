import type { DevtoolsSession } from './devtools.ts';

/** A JPEG in base64, and the size of the window in CSS pixels. */
export type ScreenFrame = { image: string; width: number; height: number };

export type Screencast = (listener: (frame: ScreenFrame) => void) => () => void;

const size = { maxWidth: 1280, maxHeight: 1280 };
const quality = 60;
/** The browser sends the next picture once this one is acknowledged. */
const pauseMs = 80;
/** The browser sometimes sends no picture of a page that does not change. After this time, one is taken. */
const unseenMs = 1_000;

/** The pictures of one page as they change, encoded once for all viewers. */
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

/** Input of a person. Coordinates are CSS pixels from the corner of the window. */
export type PersonInput =
  | { kind: 'mouse'; type: 'move' | 'down' | 'up'; x: number; y: number; button: MouseButton; clicks: number }
  | { kind: 'wheel'; x: number; y: number; dx: number; dy: number }
  | { kind: 'key'; key: string; modifiers: readonly Modifier[] }
  | { kind: 'text'; text: string };

type MouseButton = 'none' | 'left' | 'middle' | 'right';
type Modifier = keyof typeof bits;

const bits = { alt: 1, control: 2, meta: 4, shift: 8 } as const;
const mouseTypes = { move: 'mouseMoved', down: 'mousePressed', up: 'mouseReleased' } as const;

/** A headless page has no window that would turn these shortcuts into commands. */
const commands: Readonly<Record<string, string>> = { a: 'selectAll', c: 'copy', x: 'cut', v: 'paste', z: 'undo' };

const namedKeys: Readonly<Record<string, number>> = {
  Backspace: 8,
  Tab: 9,
  Enter: 13,
  Escape: 27,
  PageUp: 33,
  PageDown: 34,
  End: 35,
  Home: 36,
  ArrowLeft: 37,
  ArrowUp: 38,
  ArrowRight: 39,
  ArrowDown: 40,
  Delete: 46,
};

export async function passInput(page: DevtoolsSession, input: PersonInput): Promise<void> {
  switch (input.kind) {
    case 'mouse': {
      const { type, x, y, button, clicks } = input;
      await page.send('Input.dispatchMouseEvent', { type: mouseTypes[type], x, y, button, clickCount: clicks });
      return;
    }
    case 'wheel': {
      const { x, y, dx, dy } = input;
      await page.send('Input.dispatchMouseEvent', { type: 'mouseWheel', x, y, deltaX: dx, deltaY: dy });
      return;
    }
    case 'key':
      return pressKey(page, input.key, input.modifiers);
    case 'text':
      await page.send('Input.insertText', { text: input.text });
  }
}

async function pressKey(page: DevtoolsSession, key: string, held: readonly Modifier[]): Promise<void> {
  const modifiers = held.reduce((sum, each) => sum | bits[each], 0);
  const isCommand = held.includes('control') || held.includes('meta');
  const text = isCommand || held.includes('alt') ? '' : key === 'Enter' ? '\r' : key in namedKeys ? '' : key;
  const command = isCommand ? commands[key.toLowerCase()] : undefined;
  const code = namedKeys[key] ?? (/^[a-z0-9 ]$/i.test(key) ? key.toUpperCase().charCodeAt(0) : 0);
  const event = { key, modifiers, windowsVirtualKeyCode: code, nativeVirtualKeyCode: code };
  await page.send('Input.dispatchKeyEvent', {
    type: text === '' ? 'rawKeyDown' : 'keyDown',
    ...event,
    ...(key in namedKeys && { code: key }),
    ...(text !== '' && { text }),
    ...(command !== undefined && { commands: [command] }),
  });
  await page.send('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
}
