import { untilAborted } from '../../platform/async/until-aborted.ts';
import type { Owner } from '../store.ts';
import type { BrowserPool, OpenTab } from './browser-pool.ts';
import type { Secrecy } from './control.ts';

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
