import type { Step } from '@vestra/agent/step';
import { beginningIn } from '@vestra/agent/transcript';

/** Separates the texts before and after a tool call. */
const gap = '\n\n';

/**
 * Buffers the text of a reply on its way into the log. The first piece is written at once, together with text of
 * the same tick. Later pieces are joined. The deltas of a message add up to the message.
 */
export type ReplyText = {
  append: (stepIndex: number, text: string) => void;
  /** Stops the background writes. Returns the whole text and the part not yet in the log. Rethrows a failed write. */
  drain: () => Promise<{ whole: string; unstreamed: string }>;
};

export function createReplyText<Written>(options: {
  /** Text of earlier steps, which is in the log already. */
  before: string;
  /** Text of this step continues without a gap. */
  lastStep: number | null;
  /** `whole` is the text of the reply up to the end of this piece. */
  write: (text: string, whole: string) => Promise<Written>;
  onWritten: (written: Written) => void;
  pace?: ReplyPace;
}): ReplyText {
  const { write, onWritten, pace = sharedPace } = options;
  const self = {};
  let whole = options.before;
  let waiting = '';
  let { lastStep } = options;
  let writing: Promise<void> | null = null;
  let failure: { error: unknown } | null = null;
  let hasBegun = false;
  let cancelFlush: (() => void) | null = null;

  function flush(): void {
    cancelScheduled();
    if (waiting === '' || failure) return;
    const text = waiting;
    waiting = '';
    hasBegun = true;
    const ended = pace.begin(self);
    writing = write(text, whole)
      .then(onWritten)
      .catch((error: unknown) => {
        failure = { error };
      })
      .then(() => {
        writing = null;
        ended();
        if (waiting !== '') schedule();
      });
  }

  function schedule(): void {
    if (writing || cancelFlush) return;
    cancelFlush = hasBegun ? pace.wait(flush) : soon(flush);
  }

  function cancelScheduled(): void {
    cancelFlush?.();
    cancelFlush = null;
  }

  return {
    append(stepIndex, text) {
      if (failure) throw failure.error;
      const piece = lastStep !== stepIndex && whole !== '' ? gap + text : text;
      lastStep = stepIndex;
      whole += piece;
      waiting += piece;
      schedule();
    },
    async drain() {
      cancelScheduled();
      const unstreamed = waiting;
      waiting = '';
      await writing;
      if (failure) throw failure.error;
      return { whole, unstreamed };
    },
  };
}

/** The text of recorded steps, joined as in the log. */
export const joinTexts = (steps: readonly Step[]): string =>
  steps.reduce((whole, step, at) => {
    if (step.kind !== 'model' || step.text === '') return whole;
    const isMore = whole === '' || beginningIn(steps.slice(0, at)) !== null;
    return whole + (isMore ? '' : gap) + step.text;
  }, '');

/** All replies of the process write at the same time, so that they share their writes. */
const sharedPace = createReplyPace();

/** A reply that ends in the same tick is then written with its end. */
function soon(flush: () => void): () => void {
  const immediate = setImmediate(flush);
  return () => clearImmediate(immediate);
}

/** Shortest pause between two writes, so that a model that streams single letters does not cause a write for each. */
const shortestPauseMs = 40;
/** Added for each further reply: 24 replies write every 86 ms. */
const msPerReply = 2;
/** Replies that are read together (`reading-pace.ts` of the models) arrive every 100 ms, and are then written at once. */
const longestForReplies = 90;
/** A database that is slow is written to less often: the pause is this many times as long as the last write took. */
const pauseFactor = 4;
const longestPauseMs = 400;

const countedMs = 1_000;

/** Tells the replies of a process when to write. */
type ReplyPace = {
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
    const forReplies = Math.min(longestForReplies, shortestPauseMs + msPerReply * (recent.count() - 1));
    return Math.min(longestPauseMs, Math.max(forReplies, pauseFactor * lastTookMs));
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
