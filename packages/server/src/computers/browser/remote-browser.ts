import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import type { ResponseOf } from '@vestra/contract/route';
import { untilAborted } from '../../platform/async/waiters.ts';
import type { Origin, Tenant } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import type { Frame, FrameSource } from '../../platform/http/sse.ts';
import { requireRequestedUser } from '../../users/index.ts';
import type { SiteRules } from '../chromium/request-guard.ts';
import type { ComputerRouting, FrameMerge, RoutedCall } from '../computer-routing.ts';
import type { Owner } from '../store.ts';
import type { BrowserPool, FetchUse, OpenTab } from './browser-pool.ts';
import type { FetchAnswer, FetchBody } from './page-fetch.ts';
import type { Viewer } from './screen.ts';
import { jpegAddress, takeScreenshot, updateHidden } from './screen-redaction.ts';
import type { LocalScreens, ScreenInput, Screens } from './screens.ts';
import { deploymentOfBrowser, fetchRules, type SiteSettings, verdictOn } from './site-rules.ts';

/** The browser of a user for API callers, in whichever process it runs. */
export type RemoteBrowsers = {
  fetch: RoutedCall<{ origin: Origin; body: FetchBody }, FetchAnswer>;
  cookies: RoutedCall<CookieQuery, FoundCookies>;
  screenshot: RoutedCall<null, Uint8Array>;
  watch: (owner: Owner, settings: SiteSettings) => FrameSource;
  screens: Screens;
};

const answerMs = 60_000;

export function createRemoteBrowsers(options: {
  db: Database;
  browserPool: BrowserPool;
  screens: LocalScreens;
  routing: ComputerRouting;
}): RemoteBrowsers {
  const { db, browserPool, screens, routing } = options;
  const watch = routing.routeStream(
    'browser.watch',
    (owner, settings: SiteSettings) => watchTabs(browserPool, owner, fetchRules(settings)),
    newestOfEachTab,
  );
  return {
    fetch: routing.route('browser.fetch', async (owner, { origin, body }, signal) => {
      const { fetchPage } = await import('./page-fetch.ts');
      return fetchPage({ db, browserPool }, origin, userOf(owner), body, signal);
    }),
    cookies: routing.route('browser.cookies', (owner, query) =>
      findCookies({ db, browserPool }, owner, userOf(owner), query),
    ),
    screenshot: routing.route('browser.screenshot', (owner) => takeScreenshot(browserPool, owner)),
    watch: (owner, settings) =>
      watchAnywhere({ isAwake: () => routing.isAwake(owner), open: () => watch(owner, settings) }),
    screens: remoteScreens(screens, routing),
  };
}

function remoteScreens(screens: LocalScreens, routing: ComputerRouting): Screens {
  const ask = routing.route('screen.ask', (_owner, viewer: Viewer) => screens.ask(viewer));
  const pass = routing.route('screen.pass', (_owner, { viewer, inputs }: { viewer: Viewer; inputs: ScreenInput[] }) =>
    screens.pass(viewer, inputs),
  );
  const isPrivate = routing.route('screen.is_private', (owner) => screens.isPrivate(owner), {
    ifAsleep: () => false,
  });
  const watch = routing.routeStream('screen.watch', (_owner, viewer: Viewer) => screens.watch(viewer), newestOfScreen);
  return {
    ask: (viewer) => ask(viewer.owner, viewer, AbortSignal.timeout(answerMs)),
    isPrivate: (owner) => isPrivate(owner, null, AbortSignal.timeout(answerMs)),
    watch: (viewer) => watch(viewer.owner, viewer),
    pass: (viewer, inputs) => pass(viewer.owner, { viewer, inputs: [...inputs] }, AbortSignal.timeout(answerMs)),
  };
}

/** Keeps the newest state, and the newest picture only if that state still shows the page. */
const newestOfScreen: FrameMerge = (held, more) => {
  const frames = [...held, ...more];
  const state = frames.findLast(({ event }) => event === 'screen.state');
  const picture = frames.findLast(({ event }) => event === 'screen.frame');
  const isHidden = state && (state.data as { showing: string }).showing !== 'page';
  const isShown = picture && !(isHidden && frames.indexOf(state) > frames.indexOf(picture));
  return frames.filter((frame) => frame === state || (isShown && frame === picture));
};

/** No API caller can name the browser of the org's own agent. */
const userOf = ({ userId }: Owner): string => userId ?? '';

const lookEveryMs = 1_000;

/**
 * The tabs of one user across processes, for as long as the caller watches. The computer may sleep, wake and move
 * meanwhile; watching does not wake it. Numbers the frames itself, since each process counts from one.
 */
function watchAnywhere(ports: {
  isAwake: () => Promise<boolean>;
  /** The tabs in the process that has the computer now. Ends when the computer sleeps or moves. */
  open: () => Promise<FrameSource>;
}): FrameSource {
  const shown = new Set<string>();
  const ending = new AbortController();
  let current: FrameSource | null = null;
  let seq = 0;

  const numbered = (frames: readonly Frame[]): Frame[] =>
    frames.map(({ event, data }) => {
      seq += 1;
      return { id: String(seq), event, data: { ...(data as object), seq } };
    });

  function note(frames: readonly Frame[]): readonly Frame[] {
    for (const frame of frames) {
      if (frame.event === 'browser.closed') shown.delete(tabOf(frame));
      else shown.add(tabOf(frame));
    }
    return frames;
  }

  /** Closes the tabs that the previous process showed. */
  function closedNow(): Frame[] {
    const created_at = new Date().toISOString();
    const gone = [...shown].map((tab) => emptyFrame('browser.closed', { tab, seq: 0, created_at }));
    shown.clear();
    return gone;
  }

  return {
    async next(withinMs) {
      const end = performance.now() + withinMs;
      while (!ending.signal.aborted) {
        if (!current && (await ports.isAwake())) current = await ports.open();
        const left = end - performance.now();
        if (!current) {
          if (left <= 0) break;
          await sleep(Math.min(lookEveryMs, left), undefined, { signal: ending.signal }).catch(() => {});
          continue;
        }
        const { frames, isOver } = await current.next(Math.max(0, left));
        const told = [...note(frames), ...(isOver ? closedNow() : [])];
        if (isOver) {
          current.close();
          current = null;
        }
        if (told.length > 0) return { frames: numbered(told), isOver: false };
        if (left <= 0) break;
      }
      return { frames: [], isOver: ending.signal.aborted };
    },
    close() {
      ending.abort();
      current?.close();
    },
    closing: () => emptyFrame('stream.closed', { tab: '', seq, created_at: new Date().toISOString() }),
  };
}

/** A frame without a picture. */
const emptyFrame = (
  type: 'browser.closed' | 'stream.closed',
  { tab, seq, created_at }: { tab: string; seq: number; created_at: string },
): Frame => ({
  id: String(seq),
  event: type,
  data: {
    object: 'browser_frame',
    type,
    seq,
    ...{ tab, tag: null, stage: null, url: null, image: null },
    created_at,
  },
});

const tabOf = ({ data }: Frame) => (data as { tab: string }).tab;

/** Keeps the newest frame of each tab. */
const newestOfEachTab: FrameMerge = (held, more) => [
  ...held.filter((frame) => !more.some((newer) => tabOf(newer) === tabOf(frame))),
  ...more.filter((frame, at) => !more.slice(at + 1).some((newer) => tabOf(newer) === tabOf(frame))),
];

const pictureEveryMs = 300;
const pictureMs = 3_000;

/** The visible tabs of fetches as they change. Ends when the computer sleeps or moves. */
function watchTabs(browserPool: BrowserPool, owner: Owner, rules: SiteRules): FrameSource {
  const shown = new Map<string, string>();
  const ending = new AbortController();
  let seq = 0;
  const frameOf = (type: 'browser.frame' | 'browser.closed', data: TabSnapshot): Frame => {
    const event = { object: 'browser_frame', type, seq: ++seq, ...data, created_at: new Date().toISOString() };
    return { id: String(seq), event: type, data: event };
  };

  async function look(): Promise<Frame[]> {
    const isHidden = (await updateHidden(browserPool, owner)) !== null;
    const seen = isHidden ? [] : (browserPool.ifOpen(owner)?.tabs() ?? []);
    const visible = seen.filter((open) => isShown(open, rules));
    const frames: Frame[] = [];
    for (const open of visible) {
      const data = await see(open, rules);
      const digest = data && createHash('sha256').update(JSON.stringify(data)).digest('base64');
      if (!data || !digest || shown.get(open.id) === digest) continue;
      if ((await updateHidden(browserPool, owner)) !== null) break;
      shown.set(open.id, digest);
      frames.push(frameOf('browser.frame', data));
    }
    for (const id of [...shown.keys()].filter((each) => !visible.some((open) => open.id === each))) {
      shown.delete(id);
      frames.push(frameOf('browser.closed', { tab: id, tag: null, stage: null, url: null, image: null }));
    }
    return frames;
  }

  return {
    async next(withinMs) {
      const end = performance.now() + withinMs;
      while (!ending.signal.aborted && performance.now() < end) {
        const frames = await look();
        const isOver = browserPool.isAsleep(owner);
        if (frames.length > 0 || isOver) return { frames, isOver };
        await sleep(Math.min(pictureEveryMs, withinMs), undefined, { signal: ending.signal }).catch(() => {});
      }
      return { frames: [], isOver: ending.signal.aborted };
    },
    close: () => ending.abort(),
  };
}

type TabSnapshot = { tab: string; tag: string | null; stage: string | null; url: string | null; image: string | null };

const isShown = ({ tab, use }: OpenTab, rules: SiteRules) =>
  use.kind === 'fetch' && !use.isPrivate && tab.isOpen() && verdictOn(rules, tab.url()).kind === 'open';

/** Null if there is nothing to show, or if the tab moved to a hidden page meanwhile. */
async function see(open: OpenTab, rules: SiteRules): Promise<TabSnapshot | null> {
  const { tab, id, use } = open;
  const url = tab.url();
  const picture = await untilAborted(tab.picture({ width: 640, quality: 50 }), AbortSignal.timeout(pictureMs)).catch(
    () => null,
  );
  if (!picture || tab.url() !== url || !isShown(open, rules)) return null;
  const { tag, stage } = use as FetchUse;
  return { tab: id, tag, stage, url, image: jpegAddress(picture) };
}

type CookieQuery = { domain: string; names: readonly string[]; deployment?: string | undefined };
type FoundCookies = ResponseOf<Api['browser']['cookies']>;

/**
 * Returns which of these cookies the browser would send to the site, and their expiry. Opens no page and returns no
 * value.
 */
async function findCookies(
  { db, browserPool }: { db: Database; browserPool: BrowserPool },
  tenant: Tenant,
  userId: string,
  { domain, names, deployment }: CookieQuery,
): Promise<FoundCookies> {
  const user = await requireRequestedUser(db, tenant, userId);
  const { settings } = await deploymentOfBrowser(db, tenant, user, deployment);
  if (!fetchRules(settings).mayReach(domain)) throw fail('domain_not_allowed', { param: 'domain' });
  const site = domain.toLowerCase();
  const held = await browserPool.use({ orgId: tenant.orgId, mode: tenant.mode, userId }, (browser) =>
    browser.cookies(),
  );
  const cookies = held
    .filter((cookie) => names.includes(cookie.name) && isOfSite(cookie, site))
    .map(({ name, domain: of, expiresAt }) => ({ name, domain: of, expires_at: expiresAt?.toISOString() ?? null }))
    .sort((one, other) => one.name.localeCompare(other.name) || one.domain.localeCompare(other.domain));
  return { object: 'browser_cookies', domain: site, cookies };
}

/** Cookies of the site, of a parent domain, and of its `www.` form, which counts as the same site. */
function isOfSite({ domain, isOfHostAlone }: { domain: string; isOfHostAlone: boolean }, site: string): boolean {
  const of = domain.toLowerCase();
  return of === site || of === `www.${site}` || (!isOfHostAlone && site.endsWith(`.${of}`));
}
