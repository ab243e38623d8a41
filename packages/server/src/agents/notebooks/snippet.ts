const snippetLength = 320;

/**
 * The part of a passage where the words of a query stand closest. Stems are guessed from how words begin, in every
 * language alike; the search itself has found the passage by real stems.
 */
export function snippetOf(passage: string, words: readonly string[]): string {
  const text = passage.replace(/\s+/g, ' ').trim();
  if (text.length <= snippetLength) return text;
  const start = bestStart(text, matchesIn(text, words));
  const end = Math.min(text.length, start + snippetLength);
  const from = start === 0 ? 0 : nextSpace(text, start, end);
  const to = end === text.length ? end : lastSpace(text, from, end);
  // A cut through a surrogate pair leaves half a character at the edge.
  const cut = text.slice(from, to).replace(/^\p{Cs}|\p{Cs}$/gu, '');
  return `${from > 0 ? '… ' : ''}${cut.trim()}${to < text.length ? ' …' : ''}`;
}

type Match = { at: number; word: string };

function matchesIn(text: string, words: readonly string[]): Match[] {
  const lowered = text.toLowerCase();
  const beginnings = words.map((word) => ({
    word,
    beginning: word.slice(0, Math.max(2, Math.ceil(word.length * 0.7))),
  }));
  return beginnings
    .flatMap(({ word, beginning }) => placesOf(lowered, beginning).map((at) => ({ at, word })))
    .sort((a, b) => a.at - b.at);
}

/** Where a word begins so; in scripts without spaces, anywhere. */
function placesOf(text: string, beginning: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(beginning); at !== -1; at = text.indexOf(beginning, at + 1)) {
    const isInsideWord = /^[\p{ASCII}\p{Script=Latin}]/u.test(beginning) && /[\p{L}\p{N}]/u.test(text[at - 1] ?? ' ');
    if (!isInsideWord) places.push(at);
  }
  return places;
}

/** The window with the most different words begins a little before one of them. */
function bestStart(text: string, matches: readonly Match[]): number {
  const lead = 40;
  let best = { start: 0, count: 0 };
  matches.forEach(({ at }, first) => {
    const start = Math.max(0, Math.min(at - lead, text.length - snippetLength));
    const inside = matches.slice(first).filter((match) => match.at < start + snippetLength);
    const count = new Set(inside.map(({ word }) => word)).size;
    if (count > best.count) best = { start, count };
  });
  return best.start;
}

function nextSpace(text: string, start: number, end: number): number {
  const space = text.indexOf(' ', start);
  return space === -1 || space > Math.min(end, start + 30) ? start : space + 1;
}

function lastSpace(text: string, start: number, end: number): number {
  const space = text.lastIndexOf(' ', end);
  return space <= Math.max(start, end - 30) ? end : space;
}
