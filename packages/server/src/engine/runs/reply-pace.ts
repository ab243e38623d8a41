/** Shortest pause between two writes, so that a model that streams single letters does not cause a write for each. */
const shortestMs = 40;
/** Added for each further reply: 24 replies write every 86 ms. */
const msPerReply = 2;
/** Replies that are read together (`reading-pace.ts` of the models) arrive every 100 ms, and are then written at once. */
const longestForReplies = 90;
/** A database that is slow is written to less often: the pause is this many times as long as the last write took. */
const pauseFactor = 4;
const longestMs = 400;

const countedMs = 1_000;

/** Tells the replies of a process when to write. */
export type ReplyPace = {
  /** Calls back when the replies may write again: all that wait are called in the same tick. Returns how to cancel it. */
  wait: (write: () => void) => () => void;
  /** Notes that a reply begins to write. The returned function must be called when it has written. */
  begin: (reply: object) => () => void;
};

export function createReplyPace(): ReplyPace {
  const recent = createReplyCounter();
  const waiting = new Set<() => void>();
  let begunAt = Number.NEGATIVE_INFINITY;
  let lastTookMs = 0;
  let isTimed = false;

  function writeAll(): void {
    isTimed = false;
    const writes = [...waiting];
    waiting.clear();
    for (const write of writes) write();
  }

  function pauseMs(): number {
    const forReplies = Math.min(longestForReplies, shortestMs + msPerReply * (recent.count() - 1));
    return Math.min(longestMs, Math.max(forReplies, pauseFactor * lastTookMs));
  }

  return {
    wait(write) {
      if (!isTimed) setTimeout(writeAll, Math.max(0, begunAt + pauseMs() - performance.now()));
      isTimed = true;
      waiting.add(write);
      return () => waiting.delete(write);
    },
    begin(reply) {
      const at = performance.now();
      begunAt = at;
      recent.note(reply);
      return () => {
        lastTookMs = performance.now() - at;
      };
    },
  };
}

/** Counts the replies that were written to in the last seconds. */
function createReplyCounter() {
  let since = 0;
  let current = new Set<object>();
  let before = current;
  return {
    note(reply: object): void {
      if (performance.now() - since > countedMs) [since, before, current] = [performance.now(), current, new Set()];
      current.add(reply);
    },
    count: () => Math.max(1, current.size, before.size),
  };
}
