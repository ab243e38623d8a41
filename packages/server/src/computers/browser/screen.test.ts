import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { systemOrigin } from '../../../../../tests/support/app.ts';
import type { Database } from '../../platform/db/pool.ts';
import type { FrameSource } from '../../platform/http/sse.ts';
import type { ScreenFrame } from '../chromium/live-view.ts';
import type { RequestRefusal } from '../chromium/request-guard.ts';
import { type BrowserPool, createControl, type OpenTab } from './browser-pool.ts';
import { type Screen, type ScreenState, streamScreen, type Viewer } from './screen.ts';
import { takeScreenshot } from './screen-redaction.ts';
import { createScreens } from './screens.ts';
import { agentRules } from './site-rules.ts';

let source: FrameSource;
afterEach(() => source.close());

/** A page whose picture is taken when the test says so. */
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
  const at: { screenState: ScreenState } = { screenState: { kind: 'page', open } };
  const screen: Screen = { viewer: { isDriver: false } as Viewer, shown: null, isDriving: false, lastInput: 0 };
  source = streamScreen(screen, {
    screenState: () => at.screenState,
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
  it('sends only the newest picture to a slow reader', async () => {
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

  it('holds back pictures taken before and after the screen became private', async () => {
    const { at, next, picture, listeners, screen } = await startScreen();
    picture('seen too late');
    at.screenState = { kind: 'private' };
    picture('never to be seen');
    expect(await next()).toMatchObject([{ type: 'screen.state', showing: 'private', url: null }]);
    expect([listeners.length, screen.shown]).toEqual([0, null]);
  });

  it('ends when the browser ends', async () => {
    const { at } = await startScreen();
    at.screenState = { kind: 'asleep' };
    await expect.poll(async () => (await source.next(100)).isOver).toBe(true);
  });
});

describe('a blocked page', () => {
  it('is logged if the audit log cannot be written', async () => {
    const lines: string[] = [];
    const refuse: ((refusal: RequestRefusal) => void)[] = [];
    const tab = {
      isOpen: () => true,
      url: () => 'https://shop.example/',
      rules: () => agentRules(null),
      run: async () => null,
      onRefused(listener: (refusal: RequestRefusal) => void) {
        refuse.push(listener);
        return () => {};
      },
      onScreen(listener: (frame: ScreenFrame) => void) {
        listener({ image: '', width: 800, height: 600 });
        return () => {};
      },
      pass: async () => {},
    };
    const open = { id: 'tab_1', tab, use: { kind: 'agent', taskId: '' }, lastUsed: 0 } as unknown as OpenTab;
    const browser = { tabs: () => [open] };
    const browserPool = { control: createControl(), ifOpen: () => browser, use: async () => {}, stay: () => {} };
    const away = () => Promise.reject(new Error('The database is away.'));
    const db = { $client: { connect: away }, insert: () => ({ values: away }) } as unknown as Database;
    const log = pino({ serializers: { err: String } }, { write: (line: string) => void lines.push(line) });
    const screens = createScreens({ db, browserPool: browserPool as unknown as BrowserPool, log });
    const owner = { orgId: 'org_1', mode: 'test' as const, userId: 'ada' };
    const viewer = { sessionId: 'ses_1', owner, origin: systemOrigin('org_1'), mayDrive: true, isDriver: false };
    source = screens.watch(viewer);
    await source.next(2_000);
    await screens.pass(viewer, [{ kind: 'mouse', type: 'down', x: 0.5, y: 0.5, button: 'left', clicks: 1 }]);
    refuse[0]?.({ kind: 'page', page: { host: 'shop.example', path: '/checkout' }, isWholePage: true });
    await expect.poll(() => lines).toHaveLength(1);
    expect(JSON.parse(lines[0] as string)).toMatchObject({ level: 50, org_id: 'org_1' });
  });
});

it('pictures the next page if the one in front closes meanwhile [BRW-027]', async () => {
  const pageOf = (shown: string, lastUsed: number) => {
    const page = { isOpen: true };
    const tab = {
      isOpen: () => page.isOpen,
      url: () => 'about:blank',
      async picture() {
        if (shown !== 'ended') return Buffer.from(shown);
        page.isOpen = false;
        throw new Error('The page was closed.');
      },
    };
    return { tab, use: { kind: 'agent', taskId: '' }, lastUsed, handOff: null } as unknown as OpenTab;
  };
  const pages = [pageOf('ended', 2), pageOf('next', 1)];
  const browser = { tabs: () => pages.filter(({ tab }) => tab.isOpen()) };
  const browserPool = {
    control: createControl(),
    ifOpen: () => browser,
    use: (_owner: unknown, work: (of: unknown) => unknown) => work(browser),
  } as unknown as BrowserPool;
  const picture = await takeScreenshot(browserPool, { orgId: 'org', mode: 'test', userId: 'ada' });
  expect(picture.toString()).toBe('next');
});
