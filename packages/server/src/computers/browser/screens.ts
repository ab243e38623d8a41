import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import type { BodyOf } from '@vestra/contract/route';
import type { Logger } from 'pino';
import { untilAborted } from '../../platform/async/waiters.ts';
import type { Database } from '../../platform/db/pool.ts';
import type { FrameSource } from '../../platform/http/sse.ts';
import { BrowserGone, PageFailed } from '../chromium/devtools.ts';
import { computerKey } from '../running-computer.ts';
import type { Owner } from '../store.ts';
import { type BrowserPool, frontTab, isInFront, isPublic, type OpenTab } from './browser-pool.ts';
import { extentOf, type Screen, type ScreenState, streamScreen, type Viewer } from './screen.ts';
import { updateHidden } from './screen-redaction.ts';
import { recordBlocked, verdictOn } from './site-rules.ts';

export type ScreenInput = BodyOf<Api['sessions']['screenInput']>['inputs'][number];

export type Screens = {
  /** Returns whether there is something to show. If the browser is not open, wakes it and asks the caller to retry. */
  ask: (viewer: Viewer) => Promise<{ isCropPending: boolean }>;
  /** True while viewers without control see nothing. */
  isPrivate: (owner: Owner) => Promise<boolean>;
  /** One stream per session: a second one ends the first. */
  watch: (viewer: Viewer) => FrameSource | Promise<FrameSource>;
  pass: (viewer: Viewer, inputs: readonly ScreenInput[]) => Promise<{ isDriving: boolean }>;
};

/** The screens of one process. */
export type LocalScreens = Omit<Screens, 'watch'> & { watch: (viewer: Viewer) => FrameSource };

const retryAfterMs = 1_000;
const failureKnownMs = 10_000;
const passMs = 5_000;
const maxInputs = 300;
const inputWindowMs = 1_000;
const sessionMs = 15 * 60_000;

type Entry = Screen & {
  source: FrameSource;
  letSleep: () => void;
  unwatch: () => void;
  leave: () => void;
  passed: number[];
};

/** The screens of the computers that are awake in this process. */
export function createScreens({
  db,
  browserPool,
  log,
}: {
  db: Database;
  browserPool: BrowserPool;
  log: Logger;
}): LocalScreens {
  const { control } = browserPool;
  const entries = new Map<string, Entry>();
  const waking = new Map<string, { failure: unknown }>();
  /** A session that handed the browser back must not get control again by reopening its stream. */
  const givenBack = new Map<string, number>();

  function screenStateOf(viewer: Viewer, driven?: OpenTab): ScreenState {
    const { owner } = viewer;
    const hiddenReason = viewer.mayDrive ? null : control.hiddenReasonOf(owner);
    if (hiddenReason !== null) return { kind: hiddenReason === 'paying' ? 'payment' : 'private' };
    const browser = browserPool.ifOpen(owner);
    if (!browser) return { kind: 'asleep' };
    const tabs = browser.tabs().filter((open) => isPublic(open) || isInFront(open));
    const front = frontTab(tabs);
    // The page that a person controls is not replaced by another one, unless that one is meant for them.
    const open = driven && tabs.includes(driven) && !(front && isInFront(front)) ? driven : front;
    if (!open) return { kind: 'nothing' };
    if (!isPublic(open) && !viewer.mayDrive) return { kind: 'private' };
    return mayShow(open) ? { kind: 'page', open } : { kind: 'nothing' };
  }

  async function wake(owner: Owner): Promise<never> {
    const obstacle = await browserPool.obstacle();
    if (obstacle !== null) throw fail('computer_unavailable', { message: obstacle });
    const key = computerKey(owner);
    const known = waking.get(key);
    if (known?.failure) {
      waking.delete(key);
      throw known.failure;
    }
    if (!known) {
      const entry: { failure: unknown } = { failure: null };
      waking.set(key, entry);
      const forget = () => waking.get(key) === entry && waking.delete(key);
      browserPool
        .use(owner, async () => {})
        .then(forget, (error: unknown) => {
          entry.failure = error;
          setTimeout(forget, failureKnownMs).unref();
        });
    }
    throw fail('browser_not_open', { retry_after_ms: retryAfterMs });
  }

  function take(entry: Entry): void {
    if (entry.isDriving) return;
    const { owner } = entry.viewer;
    if (control.isTaken(owner)) throw fail('browser_in_use');
    control.setDriver(owner, 'person');
    entry.isDriving = true;
    // Keeps the computer awake while a person controls it.
    const { promise, resolve } = Promise.withResolvers<void>();
    entry.letSleep = resolve;
    browserPool.use(owner, () => promise).catch(() => {});
  }

  function giveBack(entry: Entry): void {
    if (!entry.isDriving) return;
    entry.isDriving = false;
    if (control.driverOf(entry.viewer.owner) === 'person') control.setDriver(entry.viewer.owner, 'nobody');
    entry.letSleep();
    entry.unwatch();
  }

  function rememberGivenBack(sessionId: string): void {
    const now = Date.now();
    for (const [id, at] of givenBack) if (now - at > sessionMs) givenBack.delete(id);
    givenBack.set(sessionId, now);
  }

  function close(entry: Entry): void {
    giveBack(entry);
    entry.leave();
    entry.leave = () => {};
    if (entries.get(entry.viewer.sessionId) === entry) entries.delete(entry.viewer.sessionId);
  }

  async function passOne(entry: Entry, input: ScreenInput): Promise<void> {
    if (input.kind === 'hand_back') {
      rememberGivenBack(entry.viewer.sessionId);
      if (entry.shown) entry.shown.open.handOff = null;
      return giveBack(entry);
    }
    const isIdleMove = input.kind === 'mouse' && input.type === 'move' && !entry.isDriving;
    if (isIdleMove) return;
    const { shown } = entry;
    if (!shown?.open.tab.isOpen()) throw fail('no_open_tab', { message: 'The screen shows no page.' });
    take(entry);
    const { open, part, isCropped } = shown;
    open.lastUsed = Date.now();
    noteBlocked(entry, open);
    if (input.kind === 'navigate') {
      // A viewer of one element must not navigate away from its page.
      if (isCropped) return;
      return open.tab.goThroughHistory(input.to, (url) => verdictOn(open.tab.rules(), url).kind === 'open');
    }
    const placed =
      'x' in input ? { ...input, x: part.x + input.x * part.width, y: part.y + input.y * part.height } : input;
    await open.tab.pass(placed);
  }

  /** Fetch tabs record refusals themselves. Agent tabs do so only while the agent uses them. */
  function noteBlocked(entry: Entry, { tab, use }: OpenTab): void {
    entry.unwatch();
    if (use.kind === 'fetch') return;
    const { origin, owner } = entry.viewer;
    const stop = tab.onRefused((refusal) => {
      if (refusal.kind !== 'page') return;
      recordBlocked(db, origin, owner.userId, refusal.page).catch((error: unknown) =>
        log.error({ err: error, org_id: owner.orgId }, 'a blocked page is missing from the audit log'),
      );
    });
    entry.unwatch = stop;
  }

  return {
    async ask(viewer) {
      await updateHidden(browserPool, viewer.owner);
      const screenState = screenStateOf(viewer);
      assertSeen(screenState);
      if (screenState.kind === 'asleep') return wake(viewer.owner);
      if (screenState.kind !== 'page') return { isCropPending: false };
      return { isCropPending: (await extentOf(screenState.open)).kind === 'pending' };
    },
    async isPrivate(owner) {
      if ((await updateHidden(browserPool, owner)) !== null) return true;
      const open = frontTab(
        (browserPool.ifOpen(owner)?.tabs() ?? []).filter((each) => isPublic(each) || isInFront(each)),
      );
      return open !== undefined && !isPublic(open);
    },
    watch(viewer) {
      entries.get(viewer.sessionId)?.source.close();
      const screen: Screen = { viewer, shown: null, isDriving: false, lastInput: Date.now() };
      const entry: Entry = Object.assign(screen, {
        source: streamScreen(screen, {
          screenState: () => screenStateOf(viewer, screen.isDriving ? screen.shown?.open : undefined),
          drivenBy: () =>
            screen.isDriving ? 'you' : control.driverOf(viewer.owner) === 'person' ? 'another' : 'nobody',
          notice: () => updateHidden(browserPool, viewer.owner),
          stay: (forMs) => browserPool.stay(viewer.owner, forMs),
          giveBack: () => giveBack(entry),
          closed: () => close(entry),
        }),
        letSleep: () => {},
        unwatch: () => {},
        leave: viewer.mayDrive ? control.attend(viewer.owner) : () => {},
        passed: [],
      });
      entries.set(viewer.sessionId, entry);
      if (viewer.isDriver && !givenBack.has(viewer.sessionId) && !control.isTaken(viewer.owner)) take(entry);
      return entry.source;
    },
    async pass(viewer, inputs) {
      if (!viewer.mayDrive) {
        throw fail('session_scope', { message: 'This session may view the screen, but not control it.' });
      }
      const entry = entries.get(viewer.sessionId);
      if (!entry) throw fail('browser_not_open', { message: 'The stream of this screen is not open.' });
      assertSeen(screenStateOf(viewer));
      limit(entry, inputs.length);
      entry.lastInput = Date.now();
      for (const input of inputs) {
        await untilAborted(passOne(entry, input), AbortSignal.timeout(passMs)).catch(sayGone);
      }
      return { isDriving: entry.isDriving };
    },
  };
}

function assertSeen({ kind }: ScreenState): void {
  if (kind === 'private') throw fail('browser_in_use', { message: 'The screen is private right now.' });
  if (kind === 'payment') throw fail('payment_in_progress');
}

/** A tab that has loaded nothing shows an empty page. */
const mayShow = ({ tab }: OpenTab) => !/^https?:/.test(tab.url()) || verdictOn(tab.rules(), tab.url()).kind === 'open';

function limit(entry: Entry, count: number): void {
  const now = Date.now();
  entry.passed = entry.passed.filter((at) => now - at < inputWindowMs);
  if (entry.passed.length + count > maxInputs) {
    throw fail('rate_limited', {
      message: `More than ${maxInputs} inputs in a second.`,
      retry_after_ms: inputWindowMs,
    });
  }
  for (let at = 0; at < count; at++) entry.passed.push(now);
}

/** A page that closed or hangs during input is no error: the next picture shows it. */
function sayGone(error: unknown): void {
  const isLate = (error as Error | null)?.name === 'TimeoutError';
  if (!isLate && !(error instanceof BrowserGone) && !(error instanceof PageFailed)) throw error;
}
