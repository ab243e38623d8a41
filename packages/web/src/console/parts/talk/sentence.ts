import { withoutMarks } from '@vestra/contract/source-marks';

/** A part of a reply that somebody pointed at. A new one is made with each click. */
export type Sentence = { text: string };

/**
 * The paragraph, list item or cell at a place that was clicked. Nothing for links, for text that is being selected, and on
 * a narrow screen, where the trace is out of sight and a tap is often none.
 */
export function sentenceAt(target: EventTarget): Sentence | undefined {
  if (!matchMedia('(width >= 64rem)').matches || getSelection()?.isCollapsed === false) return undefined;
  if (target instanceof Element && target.closest('a, button')) return undefined;
  const block = target instanceof Element ? target.closest('p, li, td, th, h2, h3, h4, pre, blockquote') : null;
  const shown = block?.cloneNode(true) as Element | undefined;
  // References of sources have other numbers than the marks in what the model wrote.
  for (const reference of shown?.querySelectorAll('sup') ?? []) reference.remove();
  const text = shown?.textContent ?? '';
  return text.trim() === '' ? undefined : { text };
}

/** Formatting characters are in what a model wrote, and not in what is shown of it. */
const wordsOf = (text: string) => text.replace(/[^\p{L}\p{N}]+/gu, ' ').trim();

/** Whether a text that a model wrote contains a sentence that is shown. */
export function hasSentence(written: string, { text }: Sentence): boolean {
  const words = wordsOf(withoutMarks(text));
  return words !== '' && ` ${wordsOf(withoutMarks(written))} `.includes(` ${words} `);
}
