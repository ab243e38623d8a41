import type { Step } from '@vestra/agent/step';
import { beginningIn } from '@vestra/agent/transcript';

/** Shortest pause between two writes, so that a model that streams single letters does not cause a write for each. */
const minPauseMs = 40;
/** Added for each further reply of the process: 24 replies write about every 160 ms. */
const pauseMsPerReply = 5;
/** The pause is at least this many times as long as the last write took. */
const pauseFactor = 4;
const maxPauseMs = 400;

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
}): ReplyText {
  const { write, onWritten } = options;
  let whole = options.before;
  const self = {};
  let waiting = '';
  let { lastStep } = options;
  let writing: Promise<void> | null = null;
  let failure: { error: unknown } | null = null;
  let timer: NodeJS.Timeout | undefined;
  let first: NodeJS.Immediate | undefined;
  let writtenAt = Number.NEGATIVE_INFINITY;
  let pauseMs = minPauseMs;

  function flush(): void {
    cancelScheduled();
    if (waiting === '' || failure) return;
    const text = waiting;
    waiting = '';
    const began = performance.now();
    recentReplies.note(self);
    writing = write(text, whole)
      .then(onWritten)
      .catch((error: unknown) => {
        failure = { error };
      })
      .then(() => {
        writing = null;
        writtenAt = performance.now();
        const shared = minPauseMs + pauseMsPerReply * (recentReplies.count() - 1);
        pauseMs = Math.min(maxPauseMs, Math.max(shared, pauseFactor * (writtenAt - began)));
        if (waiting !== '') schedule();
      });
  }

  function schedule(): void {
    if (writing || timer || first) return;
    const now = performance.now();
    // A reply that ends in the same tick is then written with its end.
    if (writtenAt + pauseMs <= now) first = setImmediate(flush);
    // All replies of the process write at the same time, so that they share their writes.
    else timer = setTimeout(flush, (Math.floor(now / pauseMs) + 1) * pauseMs - now);
  }

  function cancelScheduled(): void {
    clearTimeout(timer);
    clearImmediate(first);
    timer = undefined;
    first = undefined;
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

const countedMs = 1_000;

/** Replies that this process has written to in the last seconds. */
const recentReplies = createReplyCounter();

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
