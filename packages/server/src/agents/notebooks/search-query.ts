import { indexedText } from './indexed-text.ts';

const maxQueryCharacters = 1000;
const maxWords = 32;

/** What somebody looks for, as PostgreSQL's web search takes it. */
export type SearchQuery = {
  /** Everything at once: every word, quoted phrases in order, `-word` absent. */
  whole: string;
  /** Each word alone, for passages that have only some of them. */
  words: string[];
  /** What `-word` and `-"a phrase"` shut out, still with their signs. */
  excluded: string;
};

export function readSearchQuery(query: string): SearchQuery {
  const whole = indexedText(query.slice(0, maxQueryCharacters)).trim();
  const parts = whole.match(/-?"[^"]*"?|\S+/g) ?? [];
  const isExcluded = (part: string) => /^-["\p{L}\p{N}]/u.test(part);
  const words = parts
    .filter((part) => !isExcluded(part))
    .flatMap((part) => part.split(/["\s-]+/))
    .filter((word) => /[\p{L}\p{N}]/u.test(word) && word !== 'or');
  return {
    whole,
    words: [...new Set(words)].slice(0, maxWords),
    excluded: parts.filter(isExcluded).join(' '),
  };
}
