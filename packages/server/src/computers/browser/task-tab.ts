import { fail } from '@vestra/contract/errors';
import { untilAborted } from '../../platform/async/until-aborted.ts';
import type { Refusal, Rules } from '../chromium/rules.ts';
import type { Tab } from '../chromium/tab.ts';
import type { OpenBrowser, OpenTab } from './browser-pool.ts';

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
