import { fail } from '@vestra/contract/errors';
import type { Engine } from '../../engine/index.ts';
import { pendingInteractions } from '../../engine/interactions/index.ts';
import { untilAborted } from '../../platform/async/waiters.ts';
import type { Database } from '../../platform/db/pool.ts';
import type { RequestRefusal, SiteRules } from '../chromium/request-guard.ts';
import type { Tab } from '../chromium/tab.ts';
import type { Owner } from '../store.ts';
import type { BrowserPool, OpenBrowser, OpenTab } from './browser-pool.ts';
import { hiddenReasonOfTab, jpegAddress } from './screen-redaction.ts';

const maxPartLength = 12_000;
const loadMs = 4_000;

/** Undefined if the task has no open tab. */
export const tabOfTask = (browser: OpenBrowser, taskId: string): OpenTab | undefined =>
  browser.tabs().find(({ use }) => use.kind === 'agent' && use.taskId === taskId);

/** Runs `work` and returns what the tab refused to load meanwhile. */
export async function collectRefusals<T>(
  tab: Tab,
  work: () => Promise<T>,
): Promise<{ result: T; refusals: readonly RequestRefusal[] }> {
  const refusals: RequestRefusal[] = [];
  const stop = tab.onRefused((refusal) => refusals.push(refusal));
  try {
    return { result: await work(), refusals };
  } finally {
    stop();
  }
}

/** The tab of the task, created if there is none. */
export async function openForTask(browser: OpenBrowser, taskId: string, rules: SiteRules): Promise<OpenTab> {
  const known = tabOfTask(browser, taskId);
  known?.tab.setRules(rules);
  return known ?? browser.open({ kind: 'agent', taskId }, rules);
}

/** The page as text. A long page is read in parts. */
export async function readPage(tab: Tab, part: number, signal: AbortSignal): Promise<string> {
  await untilAborted(
    tab.until(() => tab.readiness() === 'loaded', AbortSignal.timeout(loadMs)),
    signal,
  ).catch(() => signal.throwIfAborted());
  if (!tab.isOpen()) throw fail('no_open_tab', { message: 'The page was closed. Open it again with browser_open.' });
  const { title, text } = await untilAborted(tab.run('read', []), signal);
  const parts = Math.max(1, Math.ceil(text.length / maxPartLength));
  const at = Math.min(part, parts);
  const head = `${title === '' ? 'Page without a title' : title}\n${tab.url()}${parts === 1 ? '' : `\nPart ${at} of ${parts}`}`;
  return `${head}\n\n${text.slice((at - 1) * maxPartLength, at * maxPartLength) || 'The page shows no text.'}`;
}

const pictureMs = 5_000;
/** The interaction of a hand-off is written shortly after its page was handed over. */
const beginsWithinMs = 10_000;

export type HandOffRequest = { taskId: string; conversationId: string; isSecret: boolean };

/** Hands the page of a task to its user, and hides it while they enter a secret. */
export async function handOver(
  { db, browserPool }: { db: Database; browserPool: BrowserPool },
  owner: Owner,
  { taskId, conversationId, isSecret }: HandOffRequest,
): ReturnType<Engine['taskBrowsers']['handOver']> {
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
  const isHidden = async () => (await hiddenReasonOfTab(open)) !== null;
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
