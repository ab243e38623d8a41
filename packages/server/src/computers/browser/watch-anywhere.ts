import { setTimeout as sleep } from 'node:timers/promises';
import type { Frame, FrameSource } from '../../platform/http/sse.ts';
import type { RemoteMerge } from '../remote-frames.ts';

const lookEveryMs = 1_000;

/**
 * The tabs of one user wherever their computer is awake, for as long as anybody watches: it may sleep, wake and move to
 * another process meanwhile, and is not woken for it. Counted here, since each holder counts from one.
 */
export function watchAnywhere(ports: {
  isAwake: () => Promise<boolean>;
  /** The tabs at whoever has the computer now; over when it falls asleep or leaves. */
  open: () => Promise<FrameSource>;
}): FrameSource {
  const shown = new Set<string>();
  const ending = new AbortController();
  let current: FrameSource | null = null;
  let seq = 0;

  const numbered = (frames: readonly Frame[]): Frame[] =>
    frames.map(({ event, data }) => {
      seq += 1;
      return { id: String(seq), event, data: { ...(data as object), seq } };
    });

  function note(frames: readonly Frame[]): readonly Frame[] {
    for (const frame of frames) {
      if (frame.event === 'browser.closed') shown.delete(tabOf(frame));
      else shown.add(tabOf(frame));
    }
    return frames;
  }

  /** What a holder showed that is gone is closed. */
  function closedNow(): Frame[] {
    const created_at = new Date().toISOString();
    const gone = [...shown].map((tab) => ({
      id: '',
      event: 'browser.closed',
      data: {
        object: 'browser_frame',
        type: 'browser.closed',
        seq: 0,
        ...{ tab, tag: null, stage: null, url: null, image: null },
        created_at,
      },
    }));
    shown.clear();
    return gone;
  }

  return {
    async next(withinMs) {
      const end = performance.now() + withinMs;
      while (!ending.signal.aborted) {
        if (!current && (await ports.isAwake())) current = await ports.open();
        const left = end - performance.now();
        if (!current) {
          if (left <= 0) break;
          await sleep(Math.min(lookEveryMs, left), undefined, { signal: ending.signal }).catch(() => {});
          continue;
        }
        const { frames, isOver } = await current.next(Math.max(0, left));
        const told = [...note(frames), ...(isOver ? closedNow() : [])];
        if (isOver) {
          current.close();
          current = null;
        }
        if (told.length > 0) return { frames: numbered(told), isOver: false };
        if (left <= 0) break;
      }
      return { frames: [], isOver: ending.signal.aborted };
    },
    close() {
      ending.abort();
      current?.close();
    },
  };
}

const tabOf = ({ data }: Frame) => (data as { tab: string }).tab;

/** Of each tab the newest. */
export const newestOfEachTab: RemoteMerge = (held, more) => [
  ...held.filter((frame) => !more.some((newer) => tabOf(newer) === tabOf(frame))),
  ...more.filter((frame, at) => !more.slice(at + 1).some((newer) => tabOf(newer) === tabOf(frame))),
];
