/** `[page title, address, heading, words]` of `search.json`. */
export type Section = [page: string, address: string, heading: string, words: string];

export type FoundSection = { section: Section; excerpt: { text: string; isMatch: boolean }[] };

/** The sections that contain every word as a prefix, best first. If none does, those with most of the words. */
export function find(sections: readonly Section[], asked: string, atMost = 12): FoundSection[] {
  const words = wordsOf(asked);
  if (words.length === 0) return [];
  const scored = sections.map((section) => ({ section, ...scoreOf(section, words) })).filter(({ score }) => score > 0);
  const most = Math.max(0, ...scored.map(({ matches }) => matches));
  return scored
    .filter(({ matches }) => matches === most)
    .sort((a, b) => b.score - a.score)
    .slice(0, atMost)
    .map(({ section }) => ({ section, excerpt: excerptOf(section[3], words) }));
}

/** Words of questions that say nothing about their subject. */
const empty = new Set('a an and can do does how i in is it my of on the to what where which with'.split(' '));

function wordsOf(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}_]+(?:[.-][\p{L}\p{N}_]+)*/gu) ?? [];
  const meant = words.filter((word) => !empty.has(word));
  return meant.length > 0 ? meant : words;
}

/** Lists of everything contain every word, so they come after the pages that explain it. */
const lists = /\/docs\/(api|guide\/(errors|routes|session-access|reference|changelog|language))\b/;

/** A title with every word wins. Titles weigh most, then headings, then text; whole words weigh more than prefixes. */
function scoreOf([page, address, heading, text]: Section, words: readonly string[]) {
  let score = 0;
  let matches = 0;
  const isPage = heading === page;
  for (const word of words) {
    const places: [string, number][] = [
      [heading, isPage ? 20 : 10],
      [page, 12],
      [text, 1],
    ];
    const best = Math.max(...places.map(([place, weight]) => weight * fitOf(place.toLowerCase(), word)));
    if (best > 0) matches += 1;
    score += best;
  }
  const isNamed = words.every((word) => fitOf(heading.toLowerCase(), word) > 0);
  return { score: (lists.test(address) ? score / 3 : score) + (isNamed ? 40 : 0), matches };
}

/** 2 for a whole word or its plural, 1 for another prefix, 0 for no match. */
function fitOf(place: string, word: string): number {
  let fit = 0;
  for (let at = place.indexOf(word); at !== -1 && fit < 2; at = place.indexOf(word, at + 1)) {
    if (isOfWord(place[at - 1])) continue;
    const end = at + word.length;
    const isWhole = !isOfWord(place[end]) || (place[end] === 's' && !isOfWord(place[end + 1]));
    fit = Math.max(fit, isWhole ? 2 : 1);
  }
  return fit;
}

const isOfWord = (sign: string | undefined) => sign !== undefined && /[\p{L}\p{N}]/u.test(sign);

/** The text around the first match. */
function excerptOf(text: string, words: readonly string[]): FoundSection['excerpt'] {
  const lower = text.toLowerCase();
  const places = words.map((word) => lower.indexOf(word)).filter((place) => place !== -1);
  const first = Math.max(0, Math.min(...places, text.length) - 50);
  const from = first === 0 ? 0 : text.indexOf(' ', first) + 1;
  const shown = text.slice(from, from + 160);
  const pattern = new RegExp(`(${words.map((word) => word.replaceAll('.', '\\.')).join('|')})`, 'giu');
  return [from > 0 ? '… ' : '', ...shown.split(pattern)]
    .filter((part) => part !== '')
    .map((part) => ({ text: part, isMatch: words.includes(part.toLowerCase()) }));
}
