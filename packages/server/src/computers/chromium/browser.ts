import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { ComputerFolders } from '../machine/computer-folder.ts';
import { startEgressProxy } from '../machine/egress-proxy.ts';
import { type BrowserLimits, defaultBrowserLimits, startChromium } from './chromium.ts';
import { BrowserGone, type DevtoolsSession } from './devtools.ts';
import { allowNothing, guardRequests, type SiteRules } from './request-guard.ts';
import { createTab, type Tab, type TabInternals } from './tab.ts';

export type Browser = {
  openTab: (rules: SiteRules) => Promise<Tab>;
  /** Names, sites and expiry only: values never leave the browser. `expiresAt` is null for a session cookie. */
  cookies: () => Promise<Cookie[]>;
  isRunning: () => boolean;
  ended: Promise<void>;
  close: () => Promise<void>;
};

/** `isOfHostAlone`: not sent to subdomains. */
type Cookie = { name: string; domain: string; isOfHostAlone: boolean; expiresAt: Date | null };

export type StartBrowser = (folders: ComputerFolders) => Promise<Browser>;

/** Starts confined browsers. Each one reaches the network only through its own proxy. */
export function browserStarter(settings: {
  executable: string;
  allowPrivate: boolean;
  log: Logger;
  limits?: BrowserLimits;
}): StartBrowser {
  const { executable, allowPrivate, log, limits = defaultBrowserLimits } = settings;
  return async (folders) => {
    const tabs = new Map<string, TabInternals>();
    const proxy = await startEgressProxy({
      socketPath: await freeSocket(folders.sockets),
      allows: ({ host }) => [...tabs.values()].some(({ tab }) => tab.rules().mayReach(host)),
      allowPrivate,
      lookup: resolveHost,
      log,
    });
    try {
      const chromium = await startChromium({ executable, folders, egressSocket: proxy.socketPath, limits });
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

/** Never reuses the previous path, which may still be about to be removed. Also removes sockets that a crash left. */
async function freeSocket(folder: string): Promise<string> {
  const left = (await readdir(folder)).filter((name) => name.startsWith('browser-'));
  await Promise.all(left.map((name) => rm(join(folder, name), { force: true })));
  return join(folder, `browser-${randomBytes(4).toString('hex')}.sock`);
}

/** The attach event may arrive a moment after the target was created. */
async function tabOf(tabs: ReadonlyMap<string, TabInternals>, targetId: string, ended: Promise<void>): Promise<Tab> {
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
 * Holds every target at its start until its requests are guarded: pages, frames of other sites and all workers. Closes
 * pages that a page opened; the tab loads them itself.
 */
async function attachTargets(
  browser: DevtoolsSession,
  sessionOf: (id: string) => DevtoolsSession,
  forget: (id: string) => void,
  tabs: Map<string, TabInternals>,
): Promise<void> {
  const attachBelow = async (parent: DevtoolsSession, owner: TabInternals | null) => {
    parent.on('Target.attachedToTarget', ({ sessionId, targetInfo }) => {
      attach(sessionOf(sessionId), targetInfo, owner).catch(() => {});
    });
    parent.on('Target.detachedFromTarget', ({ sessionId }) => forget(sessionId));
    await parent.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true });
  };

  async function attach(
    session: DevtoolsSession,
    { type, targetId, openerId, url }: { type: string; targetId: string; openerId?: string; url: string },
    owner: TabInternals | null,
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
    // Requests of a dedicated worker pass through the guard of its page.
    await (type === 'worker' ? guarded.catch(() => {}) : guarded);
    // Some targets answer only once they run, so all commands are sent first and awaited together.
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
      // Rejects the pending commands of the page.
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

/** A shared worker gets the intersection of the rules of all tabs that may use it. */
function strictestFor(tabs: ReadonlyMap<string, TabInternals>, url: string): SiteRules {
  const host = URL.canParse(url) ? new URL(url).hostname : '';
  const sharing = [...tabs.values()].map(({ tab }) => tab.rules()).filter((rules) => rules.mayReach(host));
  if (sharing.length === 0) return allowNothing;
  const hosts = sharing.flatMap((rules) => (rules.hosts === null ? [] : [rules.hosts]));
  return {
    hosts: hosts.length === 0 ? null : (hosts[0] ?? []).filter((each) => hosts.every((list) => list.includes(each))),
    mayReach: (wanted) => sharing.every((rules) => rules.mayReach(wanted)),
    blockedPage: (address) => sharing.map((rules) => rules.blockedPage(address)).find((page) => page !== null) ?? null,
  };
}

/** RFC 6761: `localhost` and its subdomains are this machine, even if the resolver does not know them. */
async function resolveHost(host: string): Promise<readonly { address: string }[]> {
  if (/(^|\.)localhost\.?$/.test(host)) return [{ address: '127.0.0.1' }];
  return lookup(host, { all: true });
}
