import { randomBytes } from 'node:crypto';
import { fail } from '@vestra/contract/errors';
import type { Logger } from 'pino';
import type { Browser, StartBrowser } from '../chromium/browser.ts';
import { BrowserGone, PageFailed } from '../chromium/devtools.ts';
import type { CroppedElement, PageFunctions } from '../chromium/page-script.ts';
import type { SiteRules } from '../chromium/request-guard.ts';
import type { Tab } from '../chromium/tab.ts';
import { type Computers, computerKey, type RunningComputer } from '../running-computer.ts';
import type { Owner } from '../store.ts';

/** An open tab and its purpose. */
export type OpenTab = {
  /** The id that the API shows. */
  id: string;
  tab: Tab;
  use: FetchUse | AgentUse;
  /** A fetch is running in it. */
  isBusy: boolean;
  lastUsed: number;
  /** When the tab closes by itself; null if its opener closes it. */
  keptUntil: number | null;
  /** Stops recording the refused requests of the tab. */
  unwatch: () => void;
  /** The kind of input that the page asked for at the last check. */
  asksFor: ReturnType<PageFunctions['asksFor']>;
  /** Set while the user has been asked to do something in the tab. */
  handOff: HandOff | null;
};

type HandOff = {
  /** The agent declared the hand-off secret. Otherwise the fields of the page decide. */
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
  /** Shown to the user before all other tabs. */
  isFront: boolean;
  /** The only element that the screen of a hand-off shows. */
  crop: CroppedElement | null;
};

type AgentUse = { kind: 'agent'; taskId: string };

/** The browser of a computer that is awake in this process, with its tabs. */
export type OpenBrowser = {
  tabs: () => readonly OpenTab[];
  open: (use: OpenTab['use'], rules: SiteRules) => Promise<OpenTab>;
  cookies: Browser['cookies'];
};

export type BrowserPool = {
  control: BrowserControl;
  /** Why this server has no browsers; null if it has. */
  obstacle: () => Promise<string | null>;
  /** Runs `work` with the owner's browser, and wakes the computer and the browser if they sleep. */
  use: <T>(owner: Owner, work: (browser: OpenBrowser) => Promise<T>) => Promise<T>;
  countRunning: () => number;
  /** Wakes nothing. */
  ifOpen: (owner: Owner) => OpenBrowser | null;
  /** True if the computer is not awake in this process. */
  isAsleep: (owner: Owner) => boolean;
  /**
   * Closes the tabs of ended tasks. While a person has a control session open, the tabs stay with that person. Returns
   * true if it closed one of this owner.
   */
  closeEndedTasks: (owner: Owner) => Promise<boolean>;
  keep: (owner: Owner, open: OpenTab, forMs: number) => void;
  /** Keeps a computer awake while a viewer watches its screen. */
  stay: (owner: Owner, forMs: number) => void;
  /**
   * Throws `browser_busy` if too many fetches run in one browser. The caller must call the returned function when done.
   */
  enter: (owner: Owner) => () => void;
};

const maxFetches = 4;
const retryAfterMs = 1_000;
/** Each tab takes memory. Above this number the least recently used one closes. */
const maxTabs = 16;
const agentIdleMs = 600_000;
const lookEveryMs = 1_000;

type Entry = {
  owner: Owner;
  opening: Promise<OpenBrowser>;
  ready: OpenBrowser | null;
  browser: Browser | null;
  tabs: Set<OpenTab>;
};

export function createBrowserPool(options: {
  computers: Computers;
  start: StartBrowser;
  /** Which of these tasks have not ended. */
  openTasks: (ids: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Why browsers cannot run in this process; null if they can. */
  obstacle: () => Promise<string | null>;
  log: Logger;
}): BrowserPool & { stop: () => void } {
  const { computers, start, openTasks, obstacle, log } = options;
  const control = createControl();
  const entries = new Map<string, Entry>();
  const fetching = new Map<string, number>();
  const closing = setInterval(closeOld, lookEveryMs);
  closing.unref();
  computers.beforeSleep(async ({ owner }) => {
    const entry = entries.get(computerKey(owner));
    entries.delete(computerKey(owner));
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
    // A task may end in any process and in many ways, so the rows are asked. The next look repeats a failed one.
    closeEndedTasks([...entries.values()]).catch(() => {});
  }

  async function closeEndedTasks(of: readonly Entry[]): Promise<boolean> {
    const tabs = of
      .filter(({ owner }) => !control.isAttended(owner))
      .flatMap((entry) => [...entry.tabs])
      .flatMap(({ tab, use }) =>
        use.kind === 'agent' && use.taskId !== '' && tab.isOpen() ? [{ tab, taskId: use.taskId }] : [],
      );
    if (tabs.length === 0) return false;
    const open = await openTasks(tabs.map(({ taskId }) => taskId));
    const ended = tabs.filter(({ taskId }) => !open.has(taskId));
    await Promise.all(ended.map(({ tab }) => tab.close()));
    return ended.length > 0;
  }

  function openOn({ owner, folders }: RunningComputer): Promise<OpenBrowser> {
    const key = computerKey(owner);
    const known = entries.get(key);
    if (known && (!known.browser || known.browser.isRunning())) return known.opening;
    const tabs = new Set<OpenTab>();
    const entry: Entry = { owner, opening: begin(), ready: null, browser: null, tabs };
    entries.set(key, entry);
    const forget = () => {
      if (entries.get(key) !== entry) return;
      entries.delete(key);
      control.hide(owner, null);
    };
    entry.opening.catch(forget);
    return entry.opening;

    async function begin(): Promise<OpenBrowser> {
      const browser = await start(folders).catch((error: unknown) => {
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
      const entry = computers.ifAwake(owner) && entries.get(computerKey(owner));
      return entry?.browser?.isRunning() ? entry.ready : null;
    },
    isAsleep: (owner) => computers.ifAwake(owner) === null,
    async closeEndedTasks(owner) {
      const entry = entries.get(computerKey(owner));
      return entry ? closeEndedTasks([entry]) : false;
    },
    keep(owner, open, forMs) {
      open.keptUntil = Date.now() + forMs;
      computers.keepUntil(owner, new Date(open.keptUntil));
    },
    stay: (owner, forMs) => computers.keepUntil(owner, new Date(Date.now() + forMs)),
    enter(owner) {
      const key = computerKey(owner);
      const running = fetching.get(key) ?? 0;
      if (running >= maxFetches) throw fail('browser_busy', { retry_after_ms: retryAfterMs });
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

/** Browsers and pages may end at any time. The next request gets a new one. */
function sayUnavailable(error: unknown): never {
  if (!(error instanceof BrowserGone) && !(error instanceof PageFailed)) throw error;
  throw fail('computer_unavailable', { message: 'The browser or its page ended meanwhile. Try again.' });
}

function makeRoom(tabs: Set<OpenTab>): void {
  const idle = [...tabs].filter(({ isBusy }) => !isBusy).sort((one, other) => one.lastUsed - other.lastUsed);
  for (const oldest of idle.slice(0, Math.max(0, tabs.size - maxTabs + 1))) {
    tabs.delete(oldest);
    void oldest.tab.close();
  }
}

/** The tab in front, or else the most recently used one. */
export function frontTab(tabs: readonly OpenTab[]): OpenTab | undefined {
  const [first] = [...tabs].sort(
    (one, other) => Number(isInFront(other)) - Number(isInFront(one)) || other.lastUsed - one.lastUsed,
  );
  return first;
}

export const isInFront = ({ use }: OpenTab): boolean => use.kind === 'fetch' && use.isFront;

export const isPublic = ({ use }: OpenTab): boolean => use.kind === 'agent' || !use.isPrivate;

/** Who controls a browser. */
export type BrowserDriver = 'nobody' | 'agent' | 'person';

/** Why only its user may see a browser: they enter a secret, or pay. */
export type HiddenReason = 'private' | 'paying';

/** Who controls each browser of this process, and which browsers are hidden from viewers. */
type BrowserControl = {
  driverOf: (owner: Owner) => BrowserDriver;
  setDriver: (owner: Owner, driver: BrowserDriver) => void;
  hiddenReasonOf: (owner: Owner) => HiddenReason | null;
  hide: (owner: Owner, hiddenReason: HiddenReason | null) => void;
  /** A session that may control the browser opens its stream. Returns a function that ends it. */
  attend: (owner: Owner) => () => void;
  /** Whether such a stream is open. */
  isAttended: (owner: Owner) => boolean;
  /** Refuses a fetch while a person uses the browser or the browser is hidden. */
  assertFree: (owner: Owner) => void;
  isTaken: (owner: Owner) => boolean;
  /** Refuses frames and pictures of a hidden browser to everyone except its user. */
  assertSeen: (owner: Owner) => void;
};

const hiddenMessages: Record<HiddenReason, string> = {
  paying: 'A page of this browser asks for payment details. The browser is private until that page is left.',
  private: 'A person enters a secret in this browser. The browser is private until the hand-off is answered.',
};

export function createControl(): BrowserControl {
  const drivers = new Map<string, BrowserDriver>();
  const hidden = new Map<string, HiddenReason>();
  const attending = new Map<string, number>();
  const driverOf = (owner: Owner) => drivers.get(computerKey(owner)) ?? 'nobody';
  const hiddenReasonOf = (owner: Owner) => hidden.get(computerKey(owner)) ?? null;
  const isTaken = (owner: Owner) => driverOf(owner) === 'person';
  return {
    driverOf,
    isTaken,
    hiddenReasonOf,
    setDriver(owner, driver) {
      if (driver === 'nobody') drivers.delete(computerKey(owner));
      else drivers.set(computerKey(owner), driver);
    },
    hide(owner, hiddenReason) {
      if (hiddenReason === null) hidden.delete(computerKey(owner));
      else hidden.set(computerKey(owner), hiddenReason);
    },
    attend(owner) {
      const key = computerKey(owner);
      attending.set(key, (attending.get(key) ?? 0) + 1);
      return () => {
        const left = (attending.get(key) ?? 1) - 1;
        if (left === 0) attending.delete(key);
        else attending.set(key, left);
      };
    },
    isAttended: (owner) => attending.has(computerKey(owner)),
    assertFree(owner) {
      if (isTaken(owner)) throw fail('browser_in_use');
      const hiddenReason = hiddenReasonOf(owner);
      if (hiddenReason !== null) throw fail('browser_in_use', { message: hiddenMessages[hiddenReason] });
    },
    assertSeen(owner) {
      if (hiddenReasonOf(owner) !== null) throw fail('browser_in_use', { message: 'The screen is private right now.' });
    },
  };
}
