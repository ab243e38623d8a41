import { afterEach, describe, expect, it } from 'vitest';
import type { ScreenFrame } from '../../adapters/browser/screencast.ts';
import type { FrameSource } from '../../http/sse.ts';
import type { OpenTab } from './desks.ts';
import type { Screen, Standing, Viewer } from './screens.ts';
import { showScreen } from './show-screen.ts';

let source: FrameSource;
afterEach(() => source.close());

/** A page that is pictured when the test says so. */
async function startScreen() {
  const listeners: ((frame: ScreenFrame) => void)[] = [];
  const tab = {
    url: () => 'https://shop.example/',
    onScreen(listener: (frame: ScreenFrame) => void) {
      listeners.push(listener);
      return () => void listeners.splice(listeners.indexOf(listener), 1);
    },
  };
  const open = { id: 'tab_1', tab, use: { kind: 'agent', taskId: '' } } as unknown as OpenTab;
  const at: { standing: Standing } = { standing: { kind: 'page', open } };
  const screen: Screen = { viewer: { isDriver: false } as Viewer, shown: null, isDriving: false, lastInput: 0 };
  source = showScreen(screen, {
    standing: () => at.standing,
    drivenBy: () => 'nobody',
    notice: async () => null,
    stay: () => {},
    giveBack: () => {},
    closed: () => {},
  });
  const next = async () => (await source.next(2_000)).frames.map(({ data }) => data as Record<string, unknown>);
  expect(await next()).toMatchObject([{ type: 'screen.state', seq: 1, showing: 'page' }]);
  await expect.poll(() => listeners.length).toBe(1);
  const picture = (image: string) => listeners.at(-1)?.({ image, width: 800, height: 600 });
  return { at, next, picture, listeners, screen };
}

describe('the stream of a screen', () => {
  it('gives a slow reader the newest picture alone', async () => {
    const { next, picture } = await startScreen();
    for (const each of ['one', 'two', 'three']) picture(each);
    expect(await next()).toEqual([
      {
        object: 'screen_event',
        type: 'screen.frame',
        seq: 2,
        image: 'data:image/jpeg;base64,three',
        width: 800,
        height: 600,
      },
    ]);
  });

  it('holds back a picture that was taken before the screen became private, and those after', async () => {
    const { at, next, picture, listeners, screen } = await startScreen();
    picture('seen too late');
    at.standing = { kind: 'private' };
    picture('never to be seen');
    expect(await next()).toMatchObject([{ type: 'screen.state', showing: 'private', url: null }]);
    expect([listeners.length, screen.shown]).toEqual([0, null]);
  });

  it('ends when the browser does', async () => {
    const { at } = await startScreen();
    at.standing = { kind: 'asleep' };
    await expect.poll(async () => (await source.next(100)).isOver).toBe(true);
  });
});
