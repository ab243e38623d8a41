import { fail } from '@vestra/contract/errors';
import { untilAborted } from '../../platform/async/until-aborted.ts';
import type { Owner } from '../store.ts';
import { type BrowserPool, frontTab, isInFront, isPublic, type OpenTab, type Secrecy } from './browser-pool.ts';
import { agentRules } from './site-rules.ts';

/** A page that hangs is asked no longer than this; what was known of it before stands. */
const askMs = 1_000;
const handOffKnownMs = 1_000;

/**
 * Looks at what the owner's pages ask for, and hides the browser while one of them asks for a payment, or for a secret in
 * a hand-off. Called before anything of a page is shown to anybody but its person, and again before it is sent.
 */
export async function noticeSecrets(browserPool: BrowserPool, owner: Owner): Promise<Secrecy | null> {
  const browser = browserPool.ifOpen(owner);
  if (!browser) return browserPool.control.secrecyOf(owner);
  const found = await Promise.all(browser.tabs().map(secrecyOfTab));
  const secrecy = found.includes('paying') ? 'paying' : found.includes('private') ? 'private' : null;
  browserPool.control.hide(owner, secrecy);
  return secrecy;
}

/** Of one tab. A hand-off that is over, or whose page asks for no secret any more, hides nothing. */
export async function secrecyOfTab(open: OpenTab): Promise<Secrecy | null> {
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

/** What the person would see on the screen: the tab in front, else the one that was used last, else an empty page. */
export async function takeScreenshot(browserPool: BrowserPool, owner: Owner): Promise<Buffer> {
  await noticeSecrets(browserPool, owner);
  browserPool.control.assertSeen(owner);
  return browserPool.use(owner, async (browser) => {
    await noticeSecrets(browserPool, owner);
    browserPool.control.assertSeen(owner);
    const inFront = frontTab(browser.tabs().filter(isInFront));
    if (inFront && !isPublic(inFront)) {
      throw fail('browser_in_use', { message: 'The screen is private right now.' });
    }
    const front = frontTab(browser.tabs().filter(isPublic));
    if (front) {
      const picture = await pictureOf(front);
      // It may have come to a page that nobody is to see while it was taken.
      await noticeSecrets(browserPool, owner);
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

/** A picture as an address that holds it whole. */
export const jpegAddress = (picture: Buffer) => `data:image/jpeg;base64,${picture.toString('base64')}`;
