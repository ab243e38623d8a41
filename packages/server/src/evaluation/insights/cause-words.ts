import { indexedText, isCommonWord } from '../../agents/notebooks/index.ts';

const maxLength = 400;
/** Endings differ: `refund`, `refunds` and `refunded` are one word. */
const stemLength = 6;
const maxWords = 24;

/** The words by which texts are compared, sorted, without numbers, ids, addresses, names and frequent words. */
export function stemsOf(text: string): string[] {
  const words = wordsOf(text);
  const telling = words.filter((word) => !isCommonWord(word));
  const stems = (telling.length > 0 ? telling : words).map((word) => [...word].slice(0, stemLength).join(''));
  return [...new Set(stems)].slice(0, maxWords).sort();
}

/** The text for a title: values that differ from person to person are replaced by an ellipsis. */
export const withoutValues = (text: string): string =>
  replaceValues(text, '…')
    .replace(/\s+/g, ' ')
    .replace(/…(?:[\s…]*…)+/g, '…')
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

function wordsOf(text: string): string[] {
  return (indexedText(replaceValues(text, ' ')).match(/[\p{L}\p{M}]+/gu) ?? []).filter(
    (word) => word.length > 1 || /\P{ASCII}/u.test(word),
  );
}

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
export function sharedWords(one: readonly string[], other: readonly string[]): number {
  const known = new Set(one);
  const shared = other.filter((word) => known.has(word)).length;
  const all = one.length + other.length - shared;
  return all === 0 ? 0 : shared / all;
}
