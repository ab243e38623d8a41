import { expect, it, vi } from 'vitest';
import type { DevtoolsSession } from './devtools.ts';
import { createScreencast, type ScreenFrame } from './live-view.ts';

/** A page that sends pictures only when the test says so, and takes one on request. */
function stillPage() {
  const listeners = new Map<string, (event: unknown) => void>();
  const send = async (method: string) => {
    if (method === 'Page.getLayoutMetrics') return { cssVisualViewport: { clientWidth: 390, clientHeight: 844 } };
    return method === 'Page.captureScreenshot' ? { data: 'taken' } : {};
  };
  const page = {
    id: '',
    send,
    on: (event: string, listener: (event: unknown) => void) => listeners.set(event, listener),
  };
  const happen = (event: string, payload: unknown) => listeners.get(event)?.(payload);
  const seen: ScreenFrame[] = [];
  const stop = createScreencast(page as unknown as DevtoolsSession)((frame) => seen.push(frame));
  const images = () => seen.map(({ image }) => image);
  return { happen, images, seen, stop };
}

const sent = { data: 'sent', metadata: { deviceWidth: 390, deviceHeight: 844 }, sessionId: 1 };
const newPage = { frame: { id: 'main' } };

it('takes one picture of a page for which the browser sends none', async () => {
  vi.useFakeTimers();
  try {
    const { happen, images, seen, stop } = stillPage();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(seen).toEqual([{ image: 'taken', width: 390, height: 844 }]);
    happen('Page.frameNavigated', newPage);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(images()).toEqual(['taken', 'taken']);
    happen('Page.frameNavigated', newPage);
    happen('Page.screencastFrame', sent);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(images()).toEqual(['taken', 'taken', 'sent']);
    happen('Page.frameNavigated', newPage);
    stop();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(images()).toHaveLength(3);
  } finally {
    vi.useRealTimers();
  }
});
