import type { WireAnswer } from './wire.ts';

const opening = '<think>';
const closing = '</think>';

/** Removes tagged reasoning from the answers of one model. */
export type ThinkTags = {
  filter: (answer: WireAnswer, modelId: string) => ThinkFilter;
  /** Called with the whole text of each answer. */
  onWritten: (text: string) => void;
};

/** Removes tagged reasoning from the text of one answer. */
export type ThinkFilter = {
  /** Whether all further text belongs to the reply. */
  isDone: boolean;
  /** Returns the part of a text that belongs to the reply. `isParsed`: the server reports reasoning separately. */
  textIn: (content: string, isParsed: boolean) => string;
  /** Returns the text that was held back, at the end. `isReply`: the answer was not cut off and contains no call. */
  rest: (isReply: boolean) => string;
};

/**
 * Servers without a reasoning parser send the reasoning of R1, Qwen and others as text: `<think>…</think>` before the
 * reply. Tags anywhere else are text.
 *
 * Some chat templates write the opening tag into the prompt, so that the answer contains only the closing one. Such an
 * answer cannot be told from a reply while it is streamed. So text is held back only for a model that is known for it:
 * by its name, or because its last answer contained a lone closing tag. An answer without one ends that.
 */
export function createThinkTags(): ThinkTags {
  let omitsOpening: boolean | null = null;
  const learn = (isOmitted: boolean) => {
    omitsOpening = isOmitted;
  };
  return {
    filter: (answer, modelId) => createFilter(answer, omitsOpening ?? mayOmitOpening.test(modelId), learn),
    // Too late for this answer, which has been streamed. The next one is held back.
    onWritten(text) {
      if (text.includes(closing) && loneClosing.test(text)) learn(true);
    },
  };
}

/** Models whose templates end with the opening tag: DeepSeek-R1 and its distillations, QwQ, and Qwen's thinking ones. */
const mayOmitOpening = /deepseek-r1|(^|[^a-z])r1-distill|(^|[^a-z])qwq([^a-z]|$)|qwen3[\w.-]*-thinking/i;

/** A closing tag on a separate line is a habit of the model. In a sentence it may be its subject. */
const loneClosing = /(^|\n)<\/think>[^\S\n]*(\n|$)/;

const beginsReply = /^[^\s<]/;

/** The longest end of a text that may be the beginning of a closing tag. */
const seam = closing.length - 1;

function createFilter(answer: WireAnswer, isHeld: boolean, learn: (isOmitted: boolean) => void): ThinkFilter {
  // `start`: nothing but white space so far. `held`: a thought or a reply, still unknown. `gap`: after the thought.
  let state: 'start' | 'thought' | 'held' | 'gap' = 'start';
  let kept: string[] = [];
  let last = '';

  /** Returns the reply behind the closing tag, which may arrive in pieces. */
  function closedIn(content: string): string {
    const text = last + content;
    const end = text.indexOf(closing);
    last = text.slice(-seam);
    if (end === -1) return '';
    if (state === 'held') learn(true);
    answer.thoughtLength += lengthOf(kept) - (text.length - end);
    kept = [];
    return afterThought(text.slice(end + closing.length));
  }

  /** The blank lines between the reasoning and the reply belong to neither. */
  function afterThought(content: string): string {
    const begun = content.trimStart();
    state = 'gap';
    filter.isDone = begun !== '';
    return begun;
  }

  /** Most answers begin with a word, which no tag can follow. */
  function begin(content: string): string {
    filter.isDone = true;
    return content;
  }

  function release(): string {
    const text = kept.join('');
    kept = [];
    filter.isDone = true;
    return text;
  }

  const filter: ThinkFilter = {
    isDone: false,
    textIn(content, isParsed) {
      if (state === 'gap') return afterThought(content);
      if (state === 'start' && !isHeld && kept.length === 0 && beginsReply.test(content)) return begin(content);
      kept.push(content);
      if (state !== 'start') return closedIn(content);
      const begun = kept.join('').trimStart();
      if (begun === '' || (begun.length < opening.length && opening.startsWith(begun))) return '';
      if (!begun.startsWith(opening) && (!isHeld || isParsed)) return release();
      state = begun.startsWith(opening) ? 'thought' : 'held';
      return closedIn(begun);
    },
    rest(isReply) {
      if (kept.length === 0) return '';
      // A reply without tags was held for nothing, and a tag that was never closed is text.
      if (state === 'held') learn(false);
      if (state !== 'thought' || isReply) return release();
      // A thought that was cut off, or led to a call, is no reply.
      answer.thoughtLength += lengthOf(kept);
      kept = [];
      return '';
    },
  };
  return filter;
}

const lengthOf = (pieces: readonly string[]) => pieces.reduce((sum, { length }) => sum + length, 0);
