import { indexedText, isCommonWord } from '../../agents/notebooks/index.ts';

const maxLength = 400;
/** Endings differ: `refund`, `refunds` and `refunded` are one word. */
const stemLength = 6;
const maxWords = 24;

/** A text with the words by which it is compared. `key` is the same for texts with the same words. */
export type ComparedText = { text: string; key: string; stems: ReadonlySet<string> };

/** Reads the words of a text once: without numbers, ids, addresses, names and frequent words. */
export function comparedText(text: string): ComparedText {
  const words = (indexedText(replaceValues(text, ' ')).match(/[\p{L}\p{M}]+/gu) ?? []).filter(isWord);
  const telling = words.filter((word) => !isCommonWord(word));
  const stems = (telling.length > 0 ? telling : words).map((word) => [...word].slice(0, stemLength).join(''));
  const sorted = [...new Set(stems)].slice(0, maxWords).sort();
  return { text, key: sorted.join(' '), stems: new Set(sorted) };
}

/** A single Latin letter says nothing. A single Chinese character is a word. */
const isWord = (word: string) => word.length > 1 || /\P{ASCII}/u.test(word);

/** The text for a title: values that differ from person to person are replaced by an ellipsis. */
export const withoutValues = (text: string): string =>
  replaceValues(text, '…')
    .replace(/\s+/g, ' ')
    .replace(/…(?:[\s.,:/+…-]*…)+/g, '…')
    .trim();

/** A word with a digit is a number or an id. The bounds keep a hostile text from taking quadratic time. */
const replaceValues = (text: string, by: string): string =>
  withoutNames(
    text
      .slice(0, maxLength)
      .replace(/https?:\S{1,400}|[^\s@]{1,64}@[^\s@]{1,200}/gi, by)
      .replace(/["`“][^"`“”\n]{1,60}["`”]/g, by)
      .replace(/[\p{L}\p{M}\p{N}_-]{0,64}\p{N}[\p{L}\p{M}\p{N}_-]{0,64}/gu, by),
    by,
  );

/** The share of capitalised words from which on a language is taken to capitalise all nouns, as German does. */
const mostCapitals = 0.3;

/** Replaces words that are capitalised within a sentence. */
function withoutNames(text: string, by: string): string {
  const inSentence = /(?<=[\p{Ll}\p{N},;:]\s)\p{Lu}\p{Ll}[\p{L}\p{M}’'-]*/gu;
  const names = text.match(inSentence)?.length ?? 0;
  const words = text.match(/\p{L}+/gu)?.length ?? 0;
  return names > words * mostCapitals ? text : text.replace(inSentence, by);
}

/** The share of their words that two texts have in common: 0 to 1. */
export function sharedWords({ stems: one }: ComparedText, { stems: other }: ComparedText): number {
  let shared = 0;
  for (const word of one) if (other.has(word)) shared++;
  const all = one.size + other.size - shared;
  return all === 0 ? 0 : shared / all;
}
