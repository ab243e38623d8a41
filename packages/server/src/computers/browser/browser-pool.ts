import { randomBytes } from 'node:crypto';
import { fail } from '@vestra/contract/errors';
import type { Logger } from 'pino';
import type { Browser, StartBrowser } from '../chromium/browser.ts';
import { BrowserGone, PageFailed } from '../chromium/devtools.ts';
import type { PageFunctions } from '../chromium/page-script.ts';
import type { Rules } from '../chromium/request-guard.ts';
import type { Tab } from '../chromium/tab.ts';
import type { Awake, Computers } from '../running-computer.ts';
import type { Owner } from '../store.ts';

/** A tab, and on whose behalf it is open. */
export type OpenTab = {
  /** As callers know it. */
  id: string;
  tab: Tab;
  use: FetchUse | AgentUse;
  /** Somebody works in it right now. */
  isBusy: boolean;
  lastUsed: number;
  /** When it closes by itself; null: with whoever opened it. */
  keptUntil: number | null;
  /** Whoever looks after what it must not open looks away. */
  unwatch: () => void;
  /** What its page asked for when it was last looked at. */
  asksFor: ReturnType<PageFunctions['asksFor']>;
  /** The person has been asked to do something in it. */
  handOff: HandOff | null;
};

type HandOff = {
  /** The agent said that it is about a secret; where not, what the page asks for decides. */
  isSecret: boolean;
  isOpen: () => Promise<boolean>;
  checkedAt: number;
};

export type FetchUse = {
  kind: 'fetch';
  deploymentId: string;
  tag: string | null;
  stage: string | null;
  isPrivate: boolean;
  /** Shown to the person in front of all others. */
  isFront: boolean;
  /** The one element that the screen of a hand-off shows. */
  crop: { role?: string | undefined; name?: string | undefined; text?: string | undefined } | null;
};

type AgentUse = { kind: 'agent'; taskId: string };

/** The browser of one computer that is awake in this process, with its tabs. */
export type OpenBrowser = {
  tabs: () => readonly OpenTab[];
  open: (use: OpenTab['use'], rules: Rules) => Promise<OpenTab>;
  cookies: Browser['cookies'];
};

export type BrowserPool = {
  control: Control;
  /** Whether this server has browsers at all; where not, why. */
  obstacle: () => Promise<string | null>;
  /** Works with the owner's browser. Computer and browser are woken where they sleep. */
  use: <T>(owner: Owner, work: (browser: OpenBrowser) => Promise<T>) => Promise<T>;
  countRunning: () => number;
  /** Wakes nothing. */
  ifOpen: (owner: Owner) => OpenBrowser | null;
  /** Whether its computer is awake in no way here. */
  isAsleep: (owner: Owner) => boolean;
  keep: (owner: Owner, open: OpenTab, forMs: number) => void;
  /** A computer that somebody looks at does not fall asleep. */
  stay: (owner: Owner, forMs: number) => void;
  /** How many work at once is bounded: throws `browser_busy`. Whoever was let in says when it is done. */
  enter: (owner: Owner) => () => void;
};

const mostFetches = 4;
const retryAfterMs = 1_000;
/** Each takes memory; beyond these the one that was used the longest time ago closes. */
const mostTabs = 16;
const agentIdleMs = 600_000;
const lookEveryMs = 1_000;

type Entry = { opening: Promise<OpenBrowser>; ready: OpenBrowser | null; browser: Browser | null; tabs: Set<OpenTab> };

export function createBrowserPool(options: {
  computers: Computers;
  start: StartBrowser;
  /** Why browsers cannot run here; null where they can. */
  obstacle: () => Promise<string | null>;
  log: Logger;
}): BrowserPool & { stop: () => void } {
  const { computers, start, obstacle, log } = options;
  const control = createControl();
  const entries = new Map<string, Entry>();
  const fetching = new Map<string, number>();
  const closing = setInterval(closeOld, lookEveryMs);
  closing.unref();
  computers.beforeSleep(async ({ owner }) => {
    const entry = entries.get(ownerKey(owner));
    entries.delete(ownerKey(owner));
    control.hide(owner, null);
    await entry?.opening.catch(() => null);
    await entry?.browser?.close();
  });

  function closeOld(): void {
    const now = Date.now();
    for (const { tabs } of entries.values()) {
      for (const open of tabs) {
        const until = open.use.kind === 'agent' ? open.lastUsed + agentIdleMs : open.keptUntil;
        if (!open.isBusy && until !== null && now >= until) void open.tab.close();
        if (!open.tab.isOpen()) tabs.delete(open);
      }
    }
  }

  function openOn({ owner, place }: Awake): Promise<OpenBrowser> {
    const key = ownerKey(owner);
    const known = entries.get(key);
    if (known && (!known.browser || known.browser.isRunning())) return known.opening;
    const tabs = new Set<OpenTab>();
    const entry: Entry = { opening: begin(), ready: null, browser: null, tabs };
    entries.set(key, entry);
    const forget = () => {
      if (entries.get(key) !== entry) return;
      entries.delete(key);
      control.hide(owner, null);
    };
    entry.opening.catch(forget);
    return entry.opening;

    async function begin(): Promise<OpenBrowser> {
      const browser = await start(place).catch((error: unknown) => {
        log.error({ err: error }, 'a browser did not start');
        throw fail('computer_unavailable', { message: 'The browser did not start.' });
      });
      entry.browser = browser;
      void browser.ended.then(forget);
      entry.ready = {
        tabs: () => [...tabs].filter(({ tab }) => tab.isOpen()),
        cookies: browser.cookies,
        async open(use, rules) {
          makeRoom(tabs);
          const tab = await browser.openTab(rules);
          const id = `tab_${randomBytes(12).toString('hex')}`;
          const open = {
            id,
            tab,
            use,
            isBusy: true,
            lastUsed: Date.now(),
            keptUntil: null,
            unwatch: () => {},
            asksFor: null,
            handOff: null,
          };
          tabs.add(open);
          return open;
        },
      };
      return entry.ready;
    }
  }

  return {
    control,
    obstacle,
    async use(owner, work) {
      const why = await obstacle();
      if (why !== null) throw fail('computer_unavailable', { message: why });
      return computers.use(owner, async (computer) => work(await openOn(computer))).catch(sayUnavailable);
    },
    countRunning: () => [...entries.values()].filter(({ browser }) => browser?.isRunning()).length,
    ifOpen(owner) {
      const entry = computers.ifAwake(owner) && entries.get(ownerKey(owner));
      return entry?.browser?.isRunning() ? entry.ready : null;
    },
    isAsleep: (owner) => computers.ifAwake(owner) === null,
    keep(owner, open, forMs) {
      open.keptUntil = Date.now() + forMs;
      computers.keepUntil(owner, new Date(open.keptUntil));
    },
    stay: (owner, forMs) => computers.keepUntil(owner, new Date(Date.now() + forMs)),
    enter(owner) {
      const key = ownerKey(owner);
      const running = fetching.get(key) ?? 0;
      if (running >= mostFetches) throw fail('browser_busy', { retry_after_ms: retryAfterMs });
      fetching.set(key, running + 1);
      return () => {
        const left = (fetching.get(key) ?? 1) - 1;
        if (left === 0) fetching.delete(key);
        else fetching.set(key, left);
      };
    },
    stop: () => clearInterval(closing),
  };
}

/** Browsers and pages end at any time: whoever asks again gets a new one. */
function sayUnavailable(error: unknown): never {
  if (!(error instanceof BrowserGone) && !(error instanceof PageFailed)) throw error;
  throw fail('computer_unavailable', { message: 'The browser or its page ended meanwhile. Try again.' });
}

function makeRoom(tabs: Set<OpenTab>): void {
  const idle = [...tabs].filter(({ isBusy }) => !isBusy).sort((one, other) => one.lastUsed - other.lastUsed);
  for (const oldest of idle.slice(0, Math.max(0, tabs.size - mostTabs + 1))) {
    tabs.delete(oldest);
    void oldest.tab.close();
  }
}

/** The tab in front, else the one that was used last. */
export function frontTab(tabs: readonly OpenTab[]): OpenTab | undefined {
  const [first] = [...tabs].sort(
    (one, other) => Number(isInFront(other)) - Number(isInFront(one)) || other.lastUsed - one.lastUsed,
  );
  return first;
}

export const isInFront = ({ use }: OpenTab): boolean => use.kind === 'fetch' && use.isFront;

export const isPublic = ({ use }: OpenTab): boolean => use.kind === 'agent' || !use.isPrivate;

/** Who has a browser. */
export type Holder = 'nobody' | 'agent' | 'person';

/** Why only the person whose browser it is sees it: they give a secret away in it, or pay. */
export type Secrecy = 'private' | 'paying';

/** Who controls the browsers of this process, and which of them are for nobody else's eyes. */
type Control = {
  holderOf: (owner: Owner) => Holder;
  give: (owner: Owner, holder: Holder) => void;
  secrecyOf: (owner: Owner) => Secrecy | null;
  hide: (owner: Owner, secrecy: Secrecy | null) => void;
  /** No fetch works in a browser that a person is using or that is hidden. */
  assertFree: (owner: Owner) => void;
  isTaken: (owner: Owner) => boolean;
  /** Neither frames nor pictures leave a hidden one, but to its person. */
  assertSeen: (owner: Owner) => void;
};

export function createControl(): Control {
  const holders = new Map<string, Holder>();
  const hidden = new Map<string, Secrecy>();
  const holderOf = (owner: Owner) => holders.get(ownerKey(owner)) ?? 'nobody';
  const secrecyOf = (owner: Owner) => hidden.get(ownerKey(owner)) ?? null;
  const isTaken = (owner: Owner) => holderOf(owner) === 'person';
  return {
    holderOf,
    isTaken,
    secrecyOf,
    give(owner, holder) {
      if (holder === 'nobody') holders.delete(ownerKey(owner));
      else holders.set(ownerKey(owner), holder);
    },
    hide(owner, secrecy) {
      if (secrecy === null) hidden.delete(ownerKey(owner));
      else hidden.set(ownerKey(owner), secrecy);
    },
    assertFree(owner) {
      if (isTaken(owner) || secrecyOf(owner) !== null) throw fail('browser_in_use');
    },
    assertSeen(owner) {
      if (secrecyOf(owner) !== null) throw fail('browser_in_use', { message: 'The screen is private right now.' });
    },
  };
}

export const ownerKey = ({ orgId, mode, userId }: Owner) => JSON.stringify([orgId, mode, userId]);
