/**
 * A text in parts of at most so many characters, whole sentences where they fit, else whole words, all of about the same
 * length: a short rest at the end would say little.
 */
export function cutText(text: string, most: number): string[] {
  if (text.length <= most) return [text];
  const aim = Math.ceil(text.length / Math.ceil(text.length / (most * 0.8)));
  const parts: string[] = [];
  for (const unit of unitsOf(text, most)) {
    const last = parts.at(-1);
    const isFull = last === undefined || last.length >= aim || last.length + unit.length > most;
    if (isFull) parts.push(unit);
    else parts[parts.length - 1] = last + unit;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

/** Sentences with the space after them; of one that is too long its words, and of a word that is its characters. */
function unitsOf(text: string, most: number): string[] {
  const sentences = text.match(/[^.!?…。！？\n]*[.!?…。！？\n]*\s*/g) ?? [];
  return sentences.flatMap((sentence) => {
    if (sentence.length <= most) return [sentence];
    const words = sentence.match(/\S*\s*/g) ?? [];
    return words.flatMap((word) => (word.length <= most ? [word] : charactersOf(word, most)));
  });
}

function charactersOf(word: string, most: number): string[] {
  const characters = [...word];
  const size = Math.floor(most / 2);
  return Array.from({ length: Math.ceil(characters.length / size) }, (_, at) =>
    characters.slice(at * size, (at + 1) * size).join(''),
  );
}
