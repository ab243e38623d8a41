/** `[page title, address, heading, words]` of `search.json`. */
export type Section = [page: string, address: string, heading: string, words: string];

export type FoundSection = { section: Section; excerpt: { text: string; isMatch: boolean }[] };

/** The sections that contain every word as a prefix, best first. */
export function find(sections: readonly Section[], asked: string, atMost = 12): FoundSection[] {
  const words = wordsOf(asked);
  if (words.length === 0) return [];
  return sections
    .map((section) => ({ section, score: scoreOf(section, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, atMost)
    .map(({ section }) => ({ section, excerpt: excerptOf(section[3], words) }));
}

const wordsOf = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}_]+(?:[.-][\p{L}\p{N}_]+)*/gu) ?? [];

/** Titles weigh more than text, whole words more than prefixes. */
function scoreOf([page, , heading, text]: Section, words: readonly string[]): number {
  let score = 0;
  for (const word of words) {
    const places: [string, number][] = [
      [heading, 12],
      [page, 8],
      [text, 1],
    ];
    const best = Math.max(...places.map(([place, weight]) => weight * fitOf(place.toLowerCase(), word)));
    if (best === 0) return 0;
    score += best;
  }
  // A page ranks above its sections.
  return heading === page ? score + 0.5 : score;
}

/** 2 for a whole word, 1 for a prefix, 0 for no match. */
function fitOf(place: string, word: string): number {
  let fit = 0;
  for (let at = place.indexOf(word); at !== -1 && fit < 2; at = place.indexOf(word, at + 1)) {
    if (isOfWord(place[at - 1])) continue;
    fit = Math.max(fit, isOfWord(place[at + word.length]) ? 1 : 2);
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
