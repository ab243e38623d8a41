import type { Step } from '@vestra/agent/step';
import { beginningIn } from '@vestra/agent/transcript';
import { createReplyPace, type ReplyPace } from './reply-pace.ts';

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
