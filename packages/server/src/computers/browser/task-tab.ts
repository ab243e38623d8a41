import { fail } from '@vestra/contract/errors';
import type { Engine } from '../../engine/index.ts';
import { pendingInteractions } from '../../engine/interactions/index.ts';
import { untilAborted } from '../../platform/async/until-aborted.ts';
import type { Database } from '../../platform/db/pool.ts';
import type { Refusal, Rules } from '../chromium/request-guard.ts';
import type { Tab } from '../chromium/tab.ts';
import type { Owner } from '../store.ts';
import type { BrowserPool, OpenBrowser, OpenTab } from './browser-pool.ts';
import { jpegAddress, secrecyOfTab } from './screen-redaction.ts';

const longestPart = 12_000;
const loadMs = 4_000;

/** The tab that a piece of work has for itself; undefined where it has none open. */
export const tabOfTask = (browser: OpenBrowser, taskId: string): OpenTab | undefined =>
  browser.tabs().find(({ use }) => use.kind === 'agent' && use.taskId === taskId);

/** What was refused in a tab while something was done in it. */
export async function watching<T>(
  tab: Tab,
  work: () => Promise<T>,
): Promise<{ result: T; refusals: readonly Refusal[] }> {
  const refusals: Refusal[] = [];
  const stop = tab.onRefused((refusal) => refusals.push(refusal));
  try {
    return { result: await work(), refusals };
  } finally {
    stop();
  }
}

/** Opens an address in the task's tab, which is made where there is none. Says what the browser says where it fails. */
export async function openForTask(browser: OpenBrowser, taskId: string, rules: Rules): Promise<OpenTab> {
  const known = tabOfTask(browser, taskId);
  known?.tab.setRules(rules);
  return known ?? browser.open({ kind: 'agent', taskId }, rules);
}

/** The page as text. Long ones are read part by part. */
export async function readPage(tab: Tab, part: number, signal: AbortSignal): Promise<string> {
  await untilAborted(
    tab.until(() => tab.readiness() === 'loaded', AbortSignal.timeout(loadMs)),
    signal,
  ).catch(() => signal.throwIfAborted());
  if (!tab.isOpen()) throw fail('no_open_tab', { message: 'The page was closed. Open it again with browser_open.' });
  const { title, text } = await untilAborted(tab.run('read', []), signal);
  const parts = Math.max(1, Math.ceil(text.length / longestPart));
  const at = Math.min(part, parts);
  const head = `${title === '' ? 'Page without a title' : title}\n${tab.url()}${parts === 1 ? '' : `\nPart ${at} of ${parts}`}`;
  return `${head}\n\n${text.slice((at - 1) * longestPart, at * longestPart) || 'The page shows no text.'}`;
}

const pictureMs = 5_000;
/** The interaction of a hand-off is written a moment after its page was handed over. */
const beginsWithinMs = 10_000;

export type HandedOver = { taskId: string; conversationId: string; isSecret: boolean };

/** Gives the person the page that a piece of work has open, and hides it while they give a secret away in it. */
export async function handOver(
  { db, browserPool }: { db: Database; browserPool: BrowserPool },
  owner: Owner,
  { taskId, conversationId, isSecret }: HandedOver,
): ReturnType<Engine['workBrowsers']['handOver']> {
  const browser = browserPool.ifOpen(owner);
  const open = browser && tabOfTask(browser, taskId);
  if (!open || !/^https?:/.test(open.tab.url())) return null;
  const givenAt = Date.now();
  const isOpen = async () => {
    if (Date.now() - givenAt < beginsWithinMs) return true;
    const pending = await pendingInteractions(db, [conversationId]);
    return pending.some(({ task_id, type }) => task_id === taskId && type === 'handoff');
  };
  open.handOff = { isSecret, isOpen, checkedAt: givenAt };
  const isHidden = async () => (await secrecyOfTab(open)) !== null;
  const take = async () => {
    if (await isHidden()) return null;
    const picture = await open.tab.picture({ width: 640, quality: 50 });
    return (await isHidden()) ? null : picture;
  };
  const picture = await untilAborted(take(), AbortSignal.timeout(pictureMs)).catch(() => null);
  return { url: open.tab.url(), frame: picture && jpegAddress(picture) };
}

export function takeBackPage(browserPool: BrowserPool, owner: Owner, taskId: string): void {
  const browser = browserPool.ifOpen(owner);
  const open = browser && tabOfTask(browser, taskId);
  if (open) open.handOff = null;
}
