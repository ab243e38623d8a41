import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { untilAborted } from '../../platform/async/waiters.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Frame, FrameSource } from '../../platform/http/sse.ts';
import type { ScreenFrame } from '../chromium/live-view.ts';
import type { CroppedElement, PageArea } from '../chromium/page-script.ts';
import type { Owner } from '../store.ts';
import type { OpenTab } from './browser-pool.ts';
import { jpegAddress } from './screen-redaction.ts';

/** A session that watches the screen of its user. */
export type Viewer = {
  sessionId: string;
  owner: Owner;
  origin: Origin;
  mayDrive: boolean;
  /** Controls the browser from the first frame. */
  isDriver: boolean;
};

/** The open stream of one session. */
export type Screen = {
  viewer: Viewer;
  /** The tab in the newest picture; null if input has no target. */
  shown: { open: OpenTab; part: PageArea; isCropped: boolean } | null;
  isDriving: boolean;
  lastInput: number;
};

export type ScreenState = { kind: 'private' | 'payment' | 'asleep' | 'nothing' } | { kind: 'page'; open: OpenTab };

type Ports = {
  screenState: () => ScreenState;
  drivenBy: () => 'you' | 'another' | 'nobody';
  /** Checks whether a page must be hidden now. */
  notice: () => Promise<unknown>;
  stay: (forMs: number) => void;
  giveBack: () => void;
  closed: () => void;
};

type State = {
  showing: 'page' | 'nothing' | 'private' | 'payment' | 'crop_pending';
  driven_by: string;
  url: string | null;
};
type Picture = { open: OpenTab; image: string; width: number; height: number };

const lookEveryMs = 250;
const stayMs = 30_000;
const pictureMs = 3_000;
/** A viewer without input for this long loses control. */
const untouchedMs = 20_000;

/**
 * The screen as events: a picture whenever it changes, or the reason why there is none. A slow reader gets the newest.
 */
export function streamScreen(screen: Screen, ports: Ports): FrameSource {
  const ending = new AbortController();
  let seq = 0;
  let reported = '';
  let state: State | null = null;
  let picture: Picture | null = null;
  let cast: { open: OpenTab; stop: () => void } | null = null;
  let lastDigest = '';
  let ring = () => {};

  function reportState(showing: State['showing'], open: OpenTab | null): void {
    const next: State = { showing, driven_by: ports.drivenBy(), url: open?.tab.url() ?? null };
    if (JSON.stringify(next) === reported) return;
    reported = JSON.stringify(next);
    state = next;
    ring();
  }

  function show(open: OpenTab, image: string, part: PageArea, isCropped: boolean): void {
    screen.shown = { open, part, isCropped };
    picture = { open, image, width: Math.round(part.width), height: Math.round(part.height) };
    ring();
  }

  function stopCast(): void {
    cast?.stop();
    cast = null;
  }

  function showNothing(): void {
    stopCast();
    screen.shown = null;
    picture = null;
    lastDigest = '';
  }

  const isStill = (open: OpenTab) => {
    const now = ports.screenState();
    return !ending.signal.aborted && now.kind === 'page' && now.open === open;
  };

  function castFrom(open: OpenTab): void {
    if (cast?.open === open) return;
    showNothing();
    const seen = async ({ image, width, height }: ScreenFrame) => {
      // A payment form may appear between two checks. Viewers must not get even its first picture.
      if (!screen.viewer.mayDrive) await ports.notice();
      if (!isStill(open)) return;
      show(open, `data:image/jpeg;base64,${image}`, { x: 0, y: 0, width, height }, false);
    };
    cast = { open, stop: open.tab.onScreen((frame) => void seen(frame).catch(end)) };
  }

  async function showPart(open: OpenTab, part: PageArea): Promise<void> {
    if (cast || screen.shown?.isCropped === false) showNothing();
    const taken = open.tab.picture({ width: 1280, quality: 70, part });
    const jpeg = await untilAborted(taken, AbortSignal.timeout(pictureMs)).catch(() => null);
    if (!screen.viewer.mayDrive) await ports.notice();
    if (!jpeg || !isStill(open)) return;
    const digest = createHash('sha256')
      .update(JSON.stringify([open.id, part]))
      .update(jpeg)
      .digest('base64');
    if (digest === lastDigest) return;
    lastDigest = digest;
    show(open, jpegAddress(jpeg), part, true);
  }

  async function look(): Promise<void> {
    await ports.notice();
    const screenState = ports.screenState();
    if (screenState.kind === 'asleep') return end();
    ports.stay(stayMs);
    if (screen.isDriving && !screen.viewer.isDriver && Date.now() - screen.lastInput > untouchedMs) ports.giveBack();
    if (screenState.kind !== 'page') {
      showNothing();
      return reportState(screenState.kind, null);
    }
    const { open } = screenState;
    const extent = await extentOf(open);
    if (!isStill(open)) return;
    if (extent.kind === 'pending') {
      showNothing();
      return reportState('crop_pending', open);
    }
    reportState('page', open);
    if (extent.kind === 'whole') castFrom(open);
    else await showPart(open, extent.part);
  }

  async function keepLooking(): Promise<void> {
    while (!ending.signal.aborted) {
      await look();
      await sleep(lookEveryMs, undefined, { signal: ending.signal }).catch(() => {});
    }
  }

  function end(): void {
    if (ending.signal.aborted) return;
    ending.abort();
    showNothing();
    ports.closed();
    ring();
  }

  const frameOf = (type: string, data: object): Frame => {
    seq += 1;
    return { id: String(seq), event: type, data: { object: 'screen_event', type, seq, ...data } };
  };

  function takeFrames(): Frame[] {
    const frames: Frame[] = [];
    if (state) frames.push(frameOf('screen.state', state));
    // The page may have become hidden since the picture was taken.
    if (picture && isStill(picture.open)) {
      const { image, width, height } = picture;
      frames.push(frameOf('screen.frame', { image, width, height }));
    }
    state = null;
    picture = null;
    return frames;
  }

  let isLooking = false;
  return {
    async next(withinMs) {
      if (!isLooking) void keepLooking().catch(end);
      isLooking = true;
      const until = performance.now() + withinMs;
      for (;;) {
        const frames = takeFrames();
        const left = until - performance.now();
        if (frames.length > 0 || ending.signal.aborted || left <= 0) return { frames, isOver: ending.signal.aborted };
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, left);
          ring = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
    },
    close: end,
  };
}

type Extent = { kind: 'whole' } | { kind: 'pending' } | { kind: 'part'; part: PageArea };

const missedForMs = 20_000;
const lookMs = 2_000;
/** Since when the cropped element has been missing. */
const missedSince = new WeakMap<object, number>();

/**
 * The visible part of a tab. If a hand-off names one element, only that element is shown, and nothing until it appears.
 */
export async function extentOf({ tab, use }: OpenTab, now: () => number = Date.now): Promise<Extent> {
  const crop = use.kind === 'fetch' ? use.crop : null;
  if (!crop) return { kind: 'whole' };
  const part = await untilAborted(find(tab, crop), AbortSignal.timeout(lookMs)).catch(() => null);
  if (part) {
    missedSince.delete(crop);
    return { kind: 'part', part };
  }
  const since = missedSince.get(crop) ?? now();
  missedSince.set(crop, since);
  return { kind: now() - since < missedForMs ? 'pending' : 'whole' };
}

async function find(tab: OpenTab['tab'], crop: CroppedElement): Promise<PageArea | null> {
  const elements = crop.role === undefined ? [] : await tab.elementsByRole(crop.role, crop.name ?? '');
  return tab.run('partOf', [crop], elements);
}
