import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Place } from '../machine/computer-folder.ts';
import { startEgressProxy } from '../machine/egress-proxy.ts';
import { type BrowserLimits, defaultBrowserLimits, startChromium } from './chromium.ts';
import { BrowserGone, type DevtoolsSession } from './devtools.ts';
import { guardRequests, nothingAtAll, type Rules } from './request-guard.ts';
import { createTab, type Tab, type TabEnds } from './tab.ts';

/** The browser of one computer. */
export type Browser = {
  openTab: (rules: Rules) => Promise<Tab>;
  /** Names, sites and expiry: a value never leaves the browser. Null: it lasts as long as the browser runs. */
  cookies: () => Promise<Cookie[]>;
  isRunning: () => boolean;
  ended: Promise<void>;
  close: () => Promise<void>;
};

/** `isOfHostAlone`: not sent to hosts under it. */
type Cookie = { name: string; domain: string; isOfHostAlone: boolean; expiresAt: Date | null };

export type StartBrowser = (place: Place) => Promise<Browser>;

/** Starts browsers for computers: each confined, each with a proxy of its own as its only way out. */
export function browserStarter(settings: {
  executable: string;
  allowPrivate: boolean;
  log: Logger;
  limits?: BrowserLimits;
}): StartBrowser {
  const { executable, allowPrivate, log, limits = defaultBrowserLimits } = settings;
  return async (place) => {
    const tabs = new Map<string, TabEnds>();
    const proxy = await startEgressProxy({
      socketPath: await freeSocket(place.sockets),
      allows: ({ host }) => [...tabs.values()].some(({ tab }) => tab.rules().mayReach(host)),
      allowPrivate,
      lookup: resolveHost,
      log,
    });
    try {
      const chromium = await startChromium({ executable, place, egressSocket: proxy.socketPath, limits });
      const { devtools } = chromium;
      const ended = chromium.ended.then(async () => {
        for (const { gone } of tabs.values()) gone();
        tabs.clear();
        await proxy.close();
      });
      const attached = attachTargets(devtools.browser, devtools.session, devtools.forget, tabs);
      await devtools.browser.send('Browser.setDownloadBehavior', { behavior: 'deny' });
      await attached;
      return {
        async openTab(rules) {
          const { targetId } = await devtools.browser.send('Target.createTarget', { url: 'about:blank' });
          const opened = await tabOf(tabs, targetId, chromium.ended);
          opened.setRules(rules);
          return opened;
        },
        async cookies() {
          const { cookies } = await devtools.browser.send('Storage.getCookies');
          return cookies.map(({ name, domain, expires, session }) => ({
            name,
            domain: domain.replace(/^\./, ''),
            isOfHostAlone: !domain.startsWith('.'),
            expiresAt: session ? null : new Date(expires * 1000),
          }));
        },
        isRunning: chromium.isRunning,
        ended,
        async close() {
          await chromium.close();
          await ended;
        },
      };
    } catch (error) {
      await proxy.close();
      throw error;
    }
  };
}

/** Never the path of the one before, which may still be about to be removed. Those that a crash left behind go. */
async function freeSocket(folder: string): Promise<string> {
  const left = (await readdir(folder)).filter((name) => name.startsWith('browser-'));
  await Promise.all(left.map((name) => rm(join(folder, name), { force: true })));
  return join(folder, `browser-${randomBytes(4).toString('hex')}.sock`);
}

/** Told apart from a page by the browser when it is made, which may be a moment after it says so. */
async function tabOf(tabs: ReadonlyMap<string, TabEnds>, targetId: string, ended: Promise<void>): Promise<Tab> {
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  for (let found = tabs.get(targetId); ; found = tabs.get(targetId)) {
    if (found) return found.tab;
    if (isOver) throw new BrowserGone('The browser has ended.');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/**
 * Every target is held at its start until its requests are guarded: pages, frames of other sites, workers of all kinds.
 * A page that a page opens is closed again; the tab opens it itself.
 */
async function attachTargets(
  browser: DevtoolsSession,
  sessionOf: (id: string) => DevtoolsSession,
  forget: (id: string) => void,
  tabs: Map<string, TabEnds>,
): Promise<void> {
  const attachBelow = async (parent: DevtoolsSession, owner: TabEnds | null) => {
    parent.on('Target.attachedToTarget', ({ sessionId, targetInfo }) => {
      attach(sessionOf(sessionId), targetInfo, owner).catch(() => {});
    });
    parent.on('Target.detachedFromTarget', ({ sessionId }) => forget(sessionId));
    await parent.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true });
  };

  async function attach(
    session: DevtoolsSession,
    { type, targetId, openerId, url }: { type: string; targetId: string; openerId?: string; url: string },
    owner: TabEnds | null,
  ): Promise<void> {
    if (type === 'page' && openerId !== undefined) {
      await browser.send('Target.closeTarget', { targetId });
      return;
    }
    const ends = type === 'page' ? makeTab(session, targetId) : owner;
    const guarded = guardRequests(session, {
      rules: ends ? ends.tab.rules : () => strictestFor(tabs, url),
      isWholePage: (frameId) => ends?.tab.id === frameId,
      refused: (refusal) => ends?.refused(refusal),
    });
    // The requests of a worker that belongs to one page pass by the guard of that page.
    await (type === 'worker' ? guarded.catch(() => {}) : guarded);
    // Some targets answer these only once they run: they are asked in order and waited for afterwards.
    const asked = [
      ...(type === 'page'
        ? [session.send('Page.enable'), session.send('Network.setBypassServiceWorker', { bypass: true })]
        : []),
      ends?.listenTo(session),
      attachBelow(session, ends),
      session.send('Runtime.runIfWaitingForDebugger'),
    ];
    await Promise.all(asked);
    if (type === 'page' && ends) tabs.set(targetId, ends);
  }

  const makeTab = (session: DevtoolsSession, targetId: string) =>
    createTab(session, targetId, async () => {
      tabs.delete(targetId);
      const closed = browser.send('Target.closeTarget', { targetId });
      // Whoever still waits for the page waits in vain.
      forget(session.id);
      await closed;
    });

  browser.on('Target.targetCrashed', ({ targetId }) => void tabs.get(targetId)?.tab.close());
  browser.on('Target.targetDestroyed', ({ targetId }) => {
    tabs.get(targetId)?.gone();
    tabs.delete(targetId);
  });
  await browser.send('Target.setDiscoverTargets', { discover: true });
  await attachBelow(browser, null);
}

/** A worker that tabs share is held to what each tab that may use it lets pass. */
function strictestFor(tabs: ReadonlyMap<string, TabEnds>, url: string): Rules {
  const host = URL.canParse(url) ? new URL(url).hostname : '';
  const sharing = [...tabs.values()].map(({ tab }) => tab.rules()).filter((rules) => rules.mayReach(host));
  if (sharing.length === 0) return nothingAtAll;
  const hosts = sharing.flatMap((rules) => (rules.hosts === null ? [] : [rules.hosts]));
  return {
    hosts: hosts.length === 0 ? null : (hosts[0] ?? []).filter((each) => hosts.every((list) => list.includes(each))),
    mayReach: (wanted) => sharing.every((rules) => rules.mayReach(wanted)),
    closedPage: (address) => sharing.map((rules) => rules.closedPage(address)).find((page) => page !== null) ?? null,
  };
}

/** `localhost` and every name under it are this machine, whether or not its resolver knows them (RFC 6761). */
async function resolveHost(host: string): Promise<readonly { address: string }[]> {
  if (/(^|\.)localhost\.?$/.test(host)) return [{ address: '127.0.0.1' }];
  return lookup(host, { all: true });
}
