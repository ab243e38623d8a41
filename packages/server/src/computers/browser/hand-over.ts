import type { Engine } from '../../engine/index.ts';
import { pendingInteractions } from '../../engine/interactions/index.ts';
import { untilAborted } from '../../platform/async/until-aborted.ts';
import type { Database } from '../../platform/db/pool.ts';
import type { Owner } from '../store.ts';
import type { BrowserPool } from './browser-pool.ts';
import { jpegAddress } from './screenshot.ts';
import { secrecyOfTab } from './secrecy.ts';
import { tabOfTask } from './task-tab.ts';

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
