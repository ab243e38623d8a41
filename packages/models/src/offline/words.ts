const fillers = new Set(
  'a an and are as at be been but by can could did do does for from get give had has have he her him his how i if in into is it its just let like make me my need no not of on or our out please she should show so some tell than that the their them then there these they this to up us use want was we were what when where which who why will with would you your hi hello hey thanks thank using used uses returns return given new also any all about'.split(
    ' ',
  ),
);

/** The words that carry meaning, each without its ending, so that `orders`, `ordered` and `order` are one. */
export function stemsOf(text: string): string[] {
  return (text.replace(/([a-z])([A-Z])/g, '$1 $2').match(/[\p{L}\p{N}]+/gu) ?? [])
    .map((word) => word.toLowerCase())
    .filter((word) => !fillers.has(word) && (word.length > 1 || /\d/.test(word)))
    .map(stem);
}

function stem(word: string): string {
  if (word.length <= 3 || /\d/.test(word)) return word;
  const cut = word
    .replace(/(ations?|ating|ated|ates?)$/, 'at')
    .replace(/ies$/, 'y')
    .replace(/(sses|shes|ches|xes)$/, (ending) => ending.slice(0, -2))
    .replace(/([^su])s$/, '$1')
    .replace(/(ing|ed|ly|ment)$/, '');
  if (cut.length < 3) return word;
  return cut.replace(/([b-df-hj-np-tv-z])\1$/, '$1').replace(/e$/, '');
}

/** How much of `wanted` is found in `text`: 0 to 1. */
export function coverage(wanted: readonly string[], text: ReadonlySet<string>): number {
  if (wanted.length === 0) return 0;
  return wanted.filter((word) => text.has(word)).length / wanted.length;
}

export function sentencesOf(text: string): string[] {
  return text
    .split(/(?<=[.!?])\s+|\n+/)
    .map((sentence) => sentence.replace(/^[-*#>\s]+/, '').trim())
    .filter((sentence) => /\p{L}|\p{N}/u.test(sentence));
}

/** The JSON object that stands in a text; undefined where there is none. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)) as unknown;
  } catch {
    return undefined;
  }
}
