/**
 * The text without these characters at its end. A pattern such as `[.!]+$` takes quadratic time for a long run of them
 * that another character follows.
 */
export function trimEndOf(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1] as string)) end -= 1;
  return text.slice(0, end);
}
