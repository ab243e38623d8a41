import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { untilAborted } from '../../platform/async/until-aborted.ts';
import type { Frame, FrameSource } from '../../platform/http/sse.ts';
import type { Rules } from '../chromium/rules.ts';
import type { Owner } from '../store.ts';
import type { BrowserPool, FetchUse, OpenTab } from './browser-pool.ts';
import { jpegAddress } from './screenshot.ts';
import { noticeSecrets } from './secrecy.ts';
import { verdictOn } from './site-rules.ts';

const lookEveryMs = 300;
const pictureMs = 3_000;

/** The tabs of fetches as they change, as far as anybody may look. It is over when the computer falls asleep or leaves. */
export function watchTabs(browserPool: BrowserPool, owner: Owner, rules: Rules): FrameSource {
  const shown = new Map<string, string>();
  const ending = new AbortController();
  let seq = 0;
  const frameOf = (type: 'browser.frame' | 'browser.closed', data: Seen): Frame => {
    const event = { object: 'browser_frame', type, seq: ++seq, ...data, created_at: new Date().toISOString() };
    return { id: String(seq), event: type, data: event };
  };

  async function look(): Promise<Frame[]> {
    const isHidden = (await noticeSecrets(browserPool, owner)) !== null;
    const seen = isHidden ? [] : (browserPool.ifOpen(owner)?.tabs() ?? []);
    const visible = seen.filter((open) => isShown(open, rules));
    const frames: Frame[] = [];
    for (const open of visible) {
      const data = await see(open, rules);
      const digest = data && createHash('sha256').update(JSON.stringify(data)).digest('base64');
      if (!data || !digest || shown.get(open.id) === digest) continue;
      if ((await noticeSecrets(browserPool, owner)) !== null) break;
      shown.set(open.id, digest);
      frames.push(frameOf('browser.frame', data));
    }
    for (const id of [...shown.keys()].filter((each) => !visible.some((open) => open.id === each))) {
      shown.delete(id);
      frames.push(frameOf('browser.closed', { tab: id, tag: null, stage: null, url: null, image: null }));
    }
    return frames;
  }

  return {
    async next(withinMs) {
      const end = performance.now() + withinMs;
      while (!ending.signal.aborted && performance.now() < end) {
        const frames = await look();
        const isOver = browserPool.isAsleep(owner);
        if (frames.length > 0 || isOver) return { frames, isOver };
        await sleep(Math.min(lookEveryMs, withinMs), undefined, { signal: ending.signal }).catch(() => {});
      }
      return { frames: [], isOver: ending.signal.aborted };
    },
    close: () => ending.abort(),
  };
}

type Seen = { tab: string; tag: string | null; stage: string | null; url: string | null; image: string | null };

const isShown = ({ tab, use }: OpenTab, rules: Rules) =>
  use.kind === 'fetch' && !use.isPrivate && tab.isOpen() && verdictOn(rules, tab.url()).kind === 'open';

/** Null where there is nothing to see now, or the tab has moved on to what nobody may see while it was looked at. */
async function see(open: OpenTab, rules: Rules): Promise<Seen | null> {
  const { tab, id, use } = open;
  const url = tab.url();
  const picture = await untilAborted(tab.picture({ width: 640, quality: 50 }), AbortSignal.timeout(pictureMs)).catch(
    () => null,
  );
  if (!picture || tab.url() !== url || !isShown(open, rules)) return null;
  const { tag, stage } = use as FetchUse;
  return { tab: id, tag, stage, url, image: jpegAddress(picture) };
}
