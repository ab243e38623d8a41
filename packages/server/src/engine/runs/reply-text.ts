import type { Step } from '@vestra/agent/step';
import { beginningIn } from '@vestra/agent/transcript';

/** Joined for this long at least, so that a model that writes letter by letter costs no write per letter. */
const joinedMs = 40;
/** And longer the more replies are written at once: 24 of them in steps of 160 ms. */
const joinedMsPerReply = 5;
/** And for as many times as long as the write before took. */
const patience = 4;
const longestMs = 400;

/** Between what was said before a tool was called and what was said after. */
const gap = '\n\n';

/**
 * The text of a reply on its way into the log. The first piece is written at once, with whatever came in the same moment;
 * later ones are joined. The deltas of a message, put together, are the message.
 */
export type ReplyText = {
  append: (stepIndex: number, text: string) => void;
  /** Ends the writing behind the loop's back: what is not in the log yet, and all that was said. Throws what a write threw. */
  drain: () => Promise<{ whole: string; unstreamed: string }>;
};

export function createReplyText<Written>(options: {
  /** What earlier steps have said and the log has. */
  before: string;
  /** The step that what comes goes on with, without a gap. */
  lastStep: number | null;
  write: (text: string) => Promise<Written>;
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
  let pauseMs = joinedMs;

  function flush(): void {
    hush();
    if (waiting === '' || failure) return;
    const text = waiting;
    waiting = '';
    const began = performance.now();
    written.note(self);
    writing = write(text)
      .then(onWritten)
      .catch((error: unknown) => {
        failure = { error };
      })
      .then(() => {
        writing = null;
        writtenAt = performance.now();
        const joined = joinedMs + joinedMsPerReply * (written.replies() - 1);
        pauseMs = Math.min(longestMs, Math.max(joined, patience * (writtenAt - began)));
        if (waiting !== '') schedule();
      });
  }

  function schedule(): void {
    if (writing || timer || first) return;
    const now = performance.now();
    // A reply that ends in the same moment is then written with its end.
    if (writtenAt + pauseMs <= now) first = setImmediate(flush);
    // All replies of the process in step, so that they share their writes.
    else timer = setTimeout(flush, (Math.floor(now / pauseMs) + 1) * pauseMs - now);
  }

  function hush(): void {
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
      hush();
      const unstreamed = waiting;
      waiting = '';
      await writing;
      if (failure) throw failure.error;
      return { whole, unstreamed };
    },
  };
}

/** What recorded steps have said, as the log has it. */
export const joinTexts = (steps: readonly Step[]): string =>
  steps.reduce((whole, step, at) => {
    if (step.kind !== 'model' || step.text === '') return whole;
    const isMore = whole === '' || beginningIn(steps.slice(0, at)) !== null;
    return whole + (isMore ? '' : gap) + step.text;
  }, '');

const countedMs = 1_000;

/** The replies of which this process has lately written something. */
const written = createWritten();

function createWritten() {
  let since = 0;
  let current = new Set<object>();
  let before = current;
  return {
    note(reply: object): void {
      if (performance.now() - since > countedMs) [since, before, current] = [performance.now(), current, new Set()];
      current.add(reply);
    },
    replies: () => Math.max(1, current.size, before.size),
  };
}
