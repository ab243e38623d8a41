/**
 * A text as it is indexed and searched. PostgreSQL's parser is made for European prose in the locale of the database:
 *
 * - it keeps `and/or`, `price_list` and `a\b` together as one path, so these signs become spaces;
 * - under a C locale it takes every sign beyond ASCII for a letter and lowers none of them, so both happen here;
 * - it takes a sentence of Chinese, Japanese, Korean, Thai for one word, so these are indexed as pairs of characters.
 */
export function indexedText(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[/\\_]|[^\p{L}\p{M}\p{N}\p{ASCII}]/gu, ' ')
    .replace(unspacedRun, (run) => ` ${pairsOf(run).join(' ')} `);
}

const unspacedRun =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]+/gu;

function pairsOf(run: string): string[] {
  const characters = [...run];
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}

/** `refund-policy.md` would be taken for the name of a host. */
export const indexedTitle = (title: string): string => indexedText(title.replace(/[.-]/g, ' '));
