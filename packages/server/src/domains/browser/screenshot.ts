import { fail } from '@vestra/contract/errors';
import type { Owner } from '../computers/api.ts';
import type { Desks, OpenTab } from './desks.ts';
import { frontTab, isPublic } from './front-tab.ts';
import { agentRules } from './site-rules.ts';
import { within } from './within.ts';

const pictureMs = 15_000;

/** What the person would see on the screen: the tab in front, else the one that was used last, else an empty page. */
export function takeScreenshot(desks: Desks, owner: Owner): Promise<Buffer> {
  desks.hands.assertSeen(owner);
  return desks.use(owner, async (desk) => {
    const front = frontTab(desk.tabs().filter(isPublic));
    if (front) return pictureOf(front);
    const empty = await desk.open({ kind: 'agent', taskId: '' }, agentRules(null));
    return pictureOf(empty).finally(() => empty.tab.close());
  });
}

function pictureOf({ tab }: OpenTab): Promise<Buffer> {
  return within(tab.picture({ width: 1280, quality: 70 }), AbortSignal.timeout(pictureMs)).catch(() => {
    throw fail('computer_unavailable', { message: 'The page did not let itself be pictured. Try again.' });
  });
}
