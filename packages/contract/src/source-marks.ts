import { trimEndOf } from './trim-end.ts';

/** Marks by which a reply names the passages it used: `[3]`, or several in one bracket: `[3, 5]`. */

/** A mark, and neither the text of a Markdown link nor the definition of one. */
const marks = /\[(\d{1,4}(?:[ \t]*,[ \t]*\d{1,4})*)\](?!\()(?!(?<=^ {0,3}\[\d{1,4}\]):)/gm;

/** Code may contain brackets with numbers, which are not marks. */
const code = /```[\s\S]*?(?:```|$)|~~~[\s\S]*?(?:~~~|$)|`[^`\n]*`/g;

/** The text between marks, and the numbers of each mark, in their order. */
export function splitAtMarks(text: string): (string | number[])[] {
  const parts: (string | number[])[] = [];
  let from = 0;
  for (const found of text.matchAll(marks)) {
    if (found.index > from) parts.push(text.slice(from, found.index));
    parts.push((found[1] as string).split(',').map(Number));
    from = found.index + found[0].length;
  }
  if (from < text.length) parts.push(text.slice(from));
  return parts;
}

/** The marks of a reply in Markdown, in the order of their first use. */
export const marksIn = (markdown: string): number[] => [
  ...new Set(splitAtMarks(markdown.replace(code, '')).flatMap((part) => (typeof part === 'string' ? [] : part))),
];

/** Whether a text may contain marks. It is cheap, because every reply of an agent with notebooks passes here. */
export const mayHaveMarks = (text: string): boolean => /\[\d/.test(text);

/** The text for a listener, or for a comparison: marks are no words of it. */
export const withoutMarks = (text: string): string =>
  splitAtMarks(text)
    .map((part, at, parts) =>
      typeof part !== 'string' ? '' : typeof parts[at + 1] === 'object' ? trimEndOf(part, ' \t') : part,
    )
    .join('');
