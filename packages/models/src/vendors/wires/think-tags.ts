import { type JsonRecord, listOf, recordOf, textOf } from './json.ts';
import { doneMark, type Wire, type WireAnswer } from './wire.ts';

const opening = '<think>';
const closing = '</think>';

/**
 * Servers without a reasoning parser send the reasoning of R1, Qwen and others as text: `<think>…</think>` before the
 * reply. This removes it from chat completions. Tags anywhere else are text.
 *
 * Some chat templates write the opening tag into the prompt, so that the answer contains only the closing one. Such an
 * answer cannot be told from a reply while it is streamed. So text is held back only for a model that is known for it:
 * by its name, or because its last answer contained a lone closing tag. An answer without one ends that.
 */
export function withThinkTags(wire: Wire): Wire {
  let omitsOpening: boolean | null = null;
  return {
    ...wire,
    reader(answer, request) {
      const read = wire.reader(answer, request);
      const isHeld = omitsOpening ?? mayOmitOpening.test(request.modelId);
      const split = createThinkSplitter(answer, isHeld, (isOmitted) => {
        omitsOpening = isOmitted;
      });
      return (event) => read(split(event));
    },
  };
}

/** Models whose templates end with the opening tag: DeepSeek-R1 and its distillations, QwQ, and Qwen's thinking ones. */
const mayOmitOpening = /deepseek-r1|(^|[^a-z])r1-distill|(^|[^a-z])qwq([^a-z]|$)|qwen3[\w.-]*-thinking/i;

/** A closing tag on a separate line is a habit of the model. In a sentence it may be its subject. */
const loneClosing = /(^|\n)<\/think>\s*(\n|$)/;

type Learn = (isOmitted: boolean) => void;

/** The longest end of a text that may be the beginning of a tag on a separate line. */
const seam = 24;

function createThinkSplitter(answer: WireAnswer, isHeld: boolean, learn: Learn): (event: unknown) => unknown {
  // `start`: nothing but white space so far. `held`: a thought or a reply, still unknown. `gap`: after the thought.
  let state: 'start' | 'thought' | 'held' | 'gap' | 'reply' = 'start';
  let kept: string[] = [];
  let last = '';
  let isParsed = false;

  function textIn(content: string): string {
    if (state === 'reply') return watched(content);
    if (state === 'gap') return afterThought(content);
    kept.push(content);
    if (state === 'start') {
      const begun = kept.join('').trimStart();
      if (begun === '' || (begun.length < opening.length && opening.startsWith(begun))) return '';
      if (!begun.startsWith(opening) && (!isHeld || isParsed)) return release();
      state = begun.startsWith(opening) ? 'thought' : 'held';
      return closedIn(begun);
    }
    return closedIn(content);
  }

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
    state = begun === '' ? 'gap' : 'reply';
    return begun;
  }

  function release(): string {
    const text = kept.join('');
    kept = [];
    last = '';
    state = 'reply';
    return watched(text);
  }

  /** Too late for this answer, which has been streamed. The next one is held back. */
  function watched(content: string): string {
    if (isHeld) return content;
    last = (last + content).slice(-seam);
    if (content.includes('>') && loneClosing.test(last)) learn(true);
    return content;
  }

  /** At the end. A reply without tags was held for nothing, and a tag that was never closed is text. */
  function rest(isReply: boolean): string {
    if (state === 'held') learn(false);
    // A thought that was cut off, or led to a call, is no reply.
    if (state !== 'thought' || isReply) return release();
    answer.thoughtLength += lengthOf(kept);
    kept = [];
    return '';
  }

  return (event) => {
    if (state === 'reply') {
      if (!isParsed && !isHeld) watched(contentIn(event));
      return event;
    }
    if (event === doneMark) return kept.length === 0 ? event : chunkOf(rest(answer.calls.length === 0));
    const chunk = recordOf(event);
    const [first, ...others] = listOf(chunk.choices);
    const choice = recordOf(first);
    const field = choice.delta === undefined ? 'message' : 'delta';
    const delta = recordOf(choice[field]);
    const { content, reasoning, reasoning_content, reasoning_details, tool_calls } = delta;
    isParsed ||= textOf(reasoning) !== '' || textOf(reasoning_content) !== '' || listOf(reasoning_details).length > 0;
    const reason = textOf(choice.finish_reason);
    if (typeof content !== 'string' && reason === '') return event;
    let text = textIn(textOf(content));
    if (reason !== '' && kept.length > 0) {
      text += rest(reason !== 'length' && answer.calls.length === 0 && listOf(tool_calls).length === 0);
    }
    if (text === textOf(content)) return event;
    return { ...chunk, choices: [{ ...choice, [field]: { ...delta, content: text } }, ...others] };
  };
}

const contentIn = (event: unknown): string =>
  textOf(recordOf(recordOf(listOf(recordOf(event).choices)[0]).delta).content);

const lengthOf = (pieces: readonly string[]) => pieces.reduce((sum, { length }) => sum + length, 0);

const chunkOf = (content: string): JsonRecord => ({ choices: [{ delta: { content } }] });
