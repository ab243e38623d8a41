import type { Frame, FrameSource } from '../platform/http/sse.ts';

/** What is left to show of what was not yet taken once more has come. */
export type RemoteMerge = (held: readonly Frame[], more: readonly Frame[]) => readonly Frame[];

/**
 * Frames of another process. They are read as they come, whether anybody takes them or not: what waited in between on the
 * way would be shown late, and might be something that nobody is to see any more.
 */
export function remoteFrames(
  arriving: AsyncIterable<readonly Frame[]>,
  { merge, end }: { merge: RemoteMerge; end: () => void },
): FrameSource {
  let held: readonly Frame[] = [];
  let isOver = false;
  let ring = () => {};
  void read();

  async function read(): Promise<void> {
    try {
      for await (const frames of arriving) {
        held = merge(held, frames);
        ring();
      }
    } catch {
      // Whoever held the computer is gone: the stream is over, as when it falls asleep.
    }
    isOver = true;
    ring();
  }

  return {
    async next(withinMs) {
      const until = performance.now() + withinMs;
      for (;;) {
        const frames = held;
        held = [];
        const left = until - performance.now();
        if (frames.length > 0 || isOver || left <= 0) return { frames, isOver };
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, left);
          ring = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
    },
    close() {
      isOver = true;
      end();
      ring();
    },
  };
}
