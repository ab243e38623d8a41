import type { Mark } from './outline.ts';

/** A part of a text, and what it can be cited by. */
export type Passage = {
  text: string;
  /** The headings it stands under, the outermost first; empty where there is none. */
  heading: string;
  /** In a text of several pages, the one on which it begins. */
  page: number | null;
};

/** Characters a passage aims at; what a model reads at a glance, and what one search hit shows. */
const aim = 1200;
const fewest = 600;
const most = 1600;

/** Where a text is best cut that has no marks there: at the first kind that occurs, the place nearest to the aim. */
const breaks = [/\n[^\S\n]*\n\s*/g, /\n/g, /[.!?…]["'”’)\]]*\s+|[。！？]/g, /\s+/g];

/** Ends a page, as programs that turn PDF into text write it. */
const pageEnd = '\f';

/** Cuts a text into passages; joined again they are the text, to the last character. */
export function splitPassages(text: string, marks: readonly Mark[] = []): Passage[] {
  const passages: Passage[] = [];
  const hasPages = text.includes(pageEnd);
  let page = 1;
  let passed = 0;
  let start = 0;
  do {
    const lead = leadOf(text, start);
    while (passed < marks.length && (marks[passed] as Mark).at <= start + lead) passed += 1;
    const left = text.length - start;
    const length = left > most ? lengthOfNext(text, start, breaksFrom(marks, passed, start)) : left;
    const passage = text.slice(start, start + length);
    page += endsIn(passage.slice(0, lead));
    passages.push({ text: passage, heading: marks[passed - 1]?.heading ?? '', page: hasPages ? page : null });
    page += endsIn(passage.slice(lead));
    start += length;
  } while (start < text.length);
  return passages;
}

/** How many blanks it begins with: what begins behind them is what the passage is about. */
function leadOf(text: string, start: number): number {
  let at = start;
  while (at < text.length && at < start + most && /\s/.test(text[at] as string)) at += 1;
  return at - start;
}

const endsIn = (text: string): number => text.split(pageEnd).length - 1;

/** Where the text is well cut, from the beginning of the passage on, by the marks that it has not passed. */
function breaksFrom(marks: readonly Mark[], passed: number, start: number): number[] {
  const found: number[] = [];
  for (let next = passed; next < marks.length; next++) {
    const { at, isBreak } = marks[next] as Mark;
    if (at >= start + most) break;
    if (isBreak && at >= start + fewest) found.push(at - start);
  }
  return found;
}

function lengthOfNext(text: string, start: number, marked: readonly number[]): number {
  if (marked.length > 0) return nearestToAim(marked);
  const window = text.slice(start + fewest, start + most);
  for (const kind of breaks) {
    const ends = [...window.matchAll(kind)].map((found) => fewest + found.index + found[0].length);
    if (ends.length > 0) return nearestToAim(ends);
  }
  // Half of a surrogate pair is no character and would not survive being stored.
  const isInsidePair = isHighSurrogate(text.charCodeAt(start + aim - 1));
  return isInsidePair ? aim - 1 : aim;
}

const nearestToAim = (ends: readonly number[]): number =>
  ends.reduce((best, end) => (Math.abs(end - aim) < Math.abs(best - aim) ? end : best));

const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdbff;
