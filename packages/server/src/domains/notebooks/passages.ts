/** Characters a passage aims at; what a model reads at a glance, and what one search hit shows. */
const aim = 1200;
const fewest = 600;
const most = 1600;

/** Where a text is best cut: at the first kind that occurs, the place nearest to the aim. */
const breaks = [/\n(?=#{1,6} )/g, /\n[^\S\n]*\n\s*/g, /\n/g, /[.!?…]["'”’)\]]*\s+|[。！？]/g, /\s+/g];

/** Cuts a text into passages; joined again they are the text, to the last character. */
export function splitPassages(text: string): string[] {
  const passages: string[] = [];
  let start = 0;
  while (text.length - start > most) {
    const end = start + lengthOfNext(text, start);
    passages.push(text.slice(start, end));
    start = end;
  }
  passages.push(text.slice(start));
  return passages;
}

function lengthOfNext(text: string, start: number): number {
  const window = text.slice(start + fewest, start + most);
  for (const kind of breaks) {
    const ends = [...window.matchAll(kind)].map((found) => fewest + found.index + found[0].length);
    if (ends.length > 0) return ends.reduce((best, end) => (Math.abs(end - aim) < Math.abs(best - aim) ? end : best));
  }
  // Half of a surrogate pair is no character and would not survive being stored.
  const isInsidePair = isHighSurrogate(text.charCodeAt(start + aim - 1));
  return isInsidePair ? aim - 1 : aim;
}

const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdbff;

/** The Markdown heading that each passage stands under, where there is one. */
export function headingsOf(passages: readonly string[]): string[] {
  let heading = '';
  return passages.map((passage) => {
    const found = [...passage.matchAll(/^#{1,6} +(.+)$/gm)].map((line) => line[1] as string);
    const above = heading;
    heading = found.at(-1) ?? heading;
    return above;
  });
}
