import { fail } from '@vestra/contract/errors';
import { untilAborted } from '../../platform/async/waiters.ts';
import type { Owner } from '../store.ts';
import { type BrowserPool, frontTab, type HiddenReason, isInFront, isPublic, type OpenTab } from './browser-pool.ts';
import { agentRules } from './site-rules.ts';

/** A hung page is not waited for longer than this. The previous result then counts. */
const askMs = 1_000;
const handOffKnownMs = 1_000;

/**
 * Hides the browser while one of its pages asks for a payment, or for a secret during a hand-off. Call it before a page
 * is shown to anyone except its user, and again before it is sent.
 */
export async function updateHidden(browserPool: BrowserPool, owner: Owner): Promise<HiddenReason | null> {
  const browser = browserPool.ifOpen(owner);
  if (!browser) return browserPool.control.hiddenReasonOf(owner);
  let hiddenReason = await hiddenReasonOfTabs(browser.tabs());
  // The page of an ended task waits for nobody.
  if (hiddenReason !== null && (await browserPool.closeEndedTasks(owner))) {
    hiddenReason = await hiddenReasonOfTabs(browser.tabs());
  }
  browserPool.control.hide(owner, hiddenReason);
  return hiddenReason;
}

async function hiddenReasonOfTabs(tabs: readonly OpenTab[]): Promise<HiddenReason | null> {
  const found = await Promise.all(tabs.map(hiddenReasonOfTab));
  return found.includes('paying') ? 'paying' : found.includes('private') ? 'private' : null;
}

/** A hand-off hides its tab only while it is open and its page asks for a secret. */
export async function hiddenReasonOfTab(open: OpenTab): Promise<HiddenReason | null> {
  const { handOff } = open;
  if (handOff && handOff.checkedAt < Date.now() - handOffKnownMs) {
    handOff.checkedAt = Date.now();
    if (!(await handOff.isOpen())) open.handOff = null;
  }
  open.asksFor = await asksFor(open);
  if (open.asksFor === 'payment') return 'paying';
  return open.handOff && (open.handOff.isSecret || open.asksFor === 'secret') ? 'private' : null;
}

async function asksFor({ tab, asksFor: known }: OpenTab): Promise<OpenTab['asksFor']> {
  if (!tab.isOpen() || !/^https?:/.test(tab.url())) return null;
  return untilAborted(tab.run('asksFor', []), AbortSignal.timeout(askMs)).catch(() => known);
}

const pictureMs = 15_000;

/** The picture of the user's screen: the tab in front, or else the most recently used one, or else an empty page. */
export async function takeScreenshot(browserPool: BrowserPool, owner: Owner): Promise<Buffer> {
  await updateHidden(browserPool, owner);
  browserPool.control.assertSeen(owner);
  return browserPool.use(owner, async (browser) => {
    await updateHidden(browserPool, owner);
    browserPool.control.assertSeen(owner);
    const inFront = frontTab(browser.tabs().filter(isInFront));
    if (inFront && !isPublic(inFront)) {
      throw fail('browser_in_use', { message: 'The screen is private right now.' });
    }
    const front = frontTab(browser.tabs().filter(isPublic));
    if (front) {
      const picture = await pictureOf(front).catch((error: unknown) => {
        // The page of a task that ended closes at any moment. The next page is pictured instead.
        if (front.tab.isOpen()) throw error;
        return null;
      });
      if (picture === null) return takeScreenshot(browserPool, owner);
      // The page may have become hidden while the picture was taken.
      await updateHidden(browserPool, owner);
      browserPool.control.assertSeen(owner);
      return picture;
    }
    const empty = await browser.open({ kind: 'agent', taskId: '' }, agentRules(null));
    return pictureOf(empty).finally(() => empty.tab.close());
  });
}

function pictureOf({ tab }: OpenTab): Promise<Buffer> {
  return untilAborted(tab.picture({ width: 1280, quality: 70 }), AbortSignal.timeout(pictureMs)).catch(() => {
    throw fail('computer_unavailable', { message: 'The page did not let itself be pictured. Try again.' });
  });
}

export const jpegAddress = (picture: Buffer) => `data:image/jpeg;base64,${picture.toString('base64')}`;
