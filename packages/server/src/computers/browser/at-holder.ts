import type { Origin } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import type { FrameSource } from '../../platform/http/sse.ts';
import type { Holders, Work } from '../holders.ts';
import type { RemoteMerge } from '../remote-frames.ts';
import type { Owner } from '../store.ts';
import type { BrowserPool } from './browser-pool.ts';
import { type CookieQuery, type FoundCookies, findCookies } from './cookies.ts';
import { fetchPage } from './fetch.ts';
import type { FetchAnswer, FetchBody } from './run-fetch.ts';
import type { Viewer } from './screen.ts';
import type { OwnScreens, ScreenInput, Screens } from './screens.ts';
import { takeScreenshot } from './screenshot.ts';
import { fetchRules, type SiteSettings } from './site-rules.ts';
import { watchTabs } from './watch.ts';
import { newestOfEachTab, watchAnywhere } from './watch-anywhere.ts';

/** What callers do with the browser of a user, whichever process has it. */
export type Browsers = {
  fetch: Work<{ origin: Origin; body: FetchBody }, FetchAnswer>;
  cookies: Work<CookieQuery, FoundCookies>;
  screenshot: Work<null, Uint8Array>;
  watch: (owner: Owner, settings: SiteSettings) => FrameSource;
  screens: Screens;
};

const answerMs = 60_000;

export function browsersAtHolder(options: {
  db: Database;
  browserPool: BrowserPool;
  screens: OwnScreens;
  holders: Holders;
}): Browsers {
  const { db, browserPool, screens, holders } = options;
  const watch = holders.streamAtHolder(
    'browser.watch',
    (owner, settings: SiteSettings) => watchTabs(browserPool, owner, fetchRules(settings)),
    newestOfEachTab,
  );
  return {
    fetch: holders.atHolder('browser.fetch', (owner, { origin, body }, signal) =>
      fetchPage({ db, browserPool }, origin, userOf(owner), body, signal),
    ),
    cookies: holders.atHolder('browser.cookies', (owner, query) =>
      findCookies({ db, browserPool }, owner, userOf(owner), query),
    ),
    screenshot: holders.atHolder('browser.screenshot', (owner) => takeScreenshot(browserPool, owner)),
    watch: (owner, settings) =>
      watchAnywhere({ isAwake: () => holders.isAwake(owner), open: () => watch(owner, settings) }),
    screens: screensAtHolder(screens, holders),
  };
}

function screensAtHolder(screens: OwnScreens, holders: Holders): Screens {
  const ask = holders.atHolder('screen.ask', (_owner, viewer: Viewer) => screens.ask(viewer));
  const pass = holders.atHolder(
    'screen.pass',
    (_owner, { viewer, inputs }: { viewer: Viewer; inputs: ScreenInput[] }) => screens.pass(viewer, inputs),
  );
  const isPrivate = holders.atHolder('screen.is_private', (owner) => screens.isPrivate(owner), {
    ifAsleep: () => false,
  });
  const watch = holders.streamAtHolder(
    'screen.watch',
    (_owner, viewer: Viewer) => screens.watch(viewer),
    newestOfScreen,
  );
  return {
    ask: (viewer) => ask(viewer.owner, viewer, AbortSignal.timeout(answerMs)),
    isPrivate: (owner) => isPrivate(owner, null, AbortSignal.timeout(answerMs)),
    watch: (viewer) => watch(viewer.owner, viewer),
    pass: (viewer, inputs) => pass(viewer.owner, { viewer, inputs: [...inputs] }, AbortSignal.timeout(answerMs)),
  };
}

/** What is known of the screen last, and a picture only while it may be seen. */
const newestOfScreen: RemoteMerge = (held, more) => {
  const frames = [...held, ...more];
  const state = frames.findLast(({ event }) => event === 'screen.state');
  const picture = frames.findLast(({ event }) => event === 'screen.frame');
  const isHidden = state && (state.data as { showing: string }).showing !== 'page';
  const isShown = picture && !(isHidden && frames.indexOf(state) > frames.indexOf(picture));
  return frames.filter((frame) => frame === state || (isShown && frame === picture));
};

/** The org's own agent has no browser that a caller could name. */
const userOf = ({ userId }: Owner): string => userId ?? '';
