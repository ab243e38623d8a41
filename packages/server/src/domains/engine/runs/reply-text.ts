import type { LogEntry } from '../../events/api.ts';

/** Joined for this long, so that a model that writes letter by letter costs no write per letter. */
const joinedMs = 40;

/** Between what was said before a tool was called and what was said after. */
const gap = '\n\n';

/**
 * The text of a reply on its way into the log. The first piece is written at once, later ones are joined; the deltas of
 * a message, put together, are the message.
 */
export type ReplyText = {
  append: (stepIndex: number, text: string) => void;
  /** Ends the writing behind the loop's back: what is not in the log yet, and all that was said. Throws what a write threw. */
  drain: () => Promise<{ whole: string; unstreamed: string }>;
};

export function createReplyText(options: {
  /** What earlier steps have said and the log has. */
  before: string;
  write: (text: string) => Promise<LogEntry>;
  onWritten: (entry: LogEntry) => void;
}): ReplyText {
  const { write, onWritten } = options;
  let whole = options.before;
  let waiting = '';
  let lastStep: number | null = null;
  let writing: Promise<void> | null = null;
  let failure: { error: unknown } | null = null;
  let timer: NodeJS.Timeout | undefined;
  let writtenAt = Number.NEGATIVE_INFINITY;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (waiting === '' || failure) return;
    const text = waiting;
    waiting = '';
    writing = write(text)
      .then(onWritten)
      .catch((error: unknown) => {
        failure = { error };
      })
      .then(() => {
        writing = null;
        writtenAt = performance.now();
        if (waiting !== '') schedule();
      });
  }

  function schedule(): void {
    if (writing || timer) return;
    const dueIn = writtenAt + joinedMs - performance.now();
    if (dueIn <= 0) flush();
    else timer = setTimeout(flush, dueIn);
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
      clearTimeout(timer);
      timer = undefined;
      const unstreamed = waiting;
      waiting = '';
      await writing;
      if (failure) throw failure.error;
      return { whole, unstreamed };
    },
  };
}

/** What recorded steps have said, as the log has it. */
export const joinTexts = (texts: readonly string[]) => texts.filter((text) => text !== '').join(gap);
