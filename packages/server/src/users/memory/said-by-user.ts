/**
 * Whether a text says no more than the person has: at least half of its telling words are theirs, and every name and
 * number. What a tool, a file or a page has put into the agent's mouth does not pass for what the person said.
 */
export function isInWordsOf(text: string, said: readonly string[]): boolean {
  const theirs = wordsOf(said.join('\n'));
  const telling = wordsOf(text).filter(isTelling);
  const covered = telling.filter((word) => theirs.some((other) => isSameWord(word, other)));
  return (
    covered.length > 0 && covered.length * 2 >= telling.length && namesIn(text).every((name) => isIn(theirs, name))
  );
}

/** Whether a name or number of the text was said by others and not by the person. */
export function hasNameOfOthers(
  text: string,
  said: { byUser: readonly string[]; byOthers: readonly string[] },
): boolean {
  const theirs = wordsOf(said.byUser.join('\n'));
  const others = wordsOf(said.byOthers.join('\n'));
  return namesIn(text).some((name) => isIn(others, name) && !isIn(theirs, name));
}

/** Made with its first use: its tables are 2.5 MB, which a server at rest need not have. */
let segmenter: Intl.Segmenter | undefined;

function spokenWords(text: string): string[] {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'word' });
  return [...segmenter.segment(text.normalize('NFKC'))]
    .filter(({ isWordLike }) => isWordLike)
    .map(({ segment }) => segment.replace(/['’]s$/, ''));
}

const wordsOf = (text: string) => [...new Set(spokenWords(text).map((word) => word.toLowerCase()))];

/** Numbers, and words that begin with a capital where no sentence does. */
const namesIn = (text: string) =>
  spokenWords(text)
    .filter((word, at) => /\d/.test(word) || (at > 0 && /^\p{Lu}/u.test(word) && word !== 'I'))
    .map((word) => word.toLowerCase());

const isIn = (words: readonly string[], word: string) => words.includes(word);

const saysNothing = new Set(
  'a an and are as at be been by can do does for from had has have he her his i in is it its me my of on or she that the their them they this to user was were who will with you your'.split(
    ' ',
  ),
);

const isTelling = (word: string) => !saysNothing.has(word);

/** "Sits" is "sit", and "allergic" is "allergy": they begin alike and differ in the last letters alone. */
function isSameWord(one: string, other: string): boolean {
  if (one === other) return true;
  if (/\d/.test(one + other)) return false;
  const shorter = Math.min(one.length, other.length);
  const alike = [...one].findIndex((letter, at) => letter !== other[at]);
  const same = alike === -1 ? one.length : alike;
  return same >= 3 && same >= shorter - 2 && Math.max(one.length, other.length) - same <= 3;
}
