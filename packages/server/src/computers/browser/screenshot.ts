import { fail } from '@vestra/contract/errors';
import { untilAborted } from '../../platform/async/until-aborted.ts';
import type { Owner } from '../store.ts';
import { type BrowserPool, frontTab, isInFront, isPublic, type OpenTab } from './browser-pool.ts';
import { noticeSecrets } from './secrecy.ts';
import { agentRules } from './site-rules.ts';

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
