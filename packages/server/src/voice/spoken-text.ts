import { withoutMarks } from '@vestra/contract/source-marks';

const codeOnPage = ' The code is on the page. ';

/** Markdown as spoken text, without signs that no one pronounces. */
export function spokenText(markdown: string): string {
  return withoutMarks(markdown.replace(/```[\s\S]*?(```|$)/g, codeOnPage))
    .replace(/!\[([^[\]]*)\]\([^()]*\)/g, '$1')
    .replace(/\[([^[\]]+)\]\([^()]*\)/g, '$1')
    .replace(/https?:\/\/(?:www\.)?([^\s/)]+)[^\s)]*/g, '$1')
    .replace(/^[ \t:|-]+$/gm, (line) => (line.includes('---') ? '' : line))
    .replace(
      /^[ \t]*\|(.*)\|[ \t]*$/gm,
      (_, row: string) =>
        `${row
          .split('|')
          .map((cell) => cell.trim())
          .join(', ')}.`,
    )
    .replace(/^\s{0,3}(#{1,6}|>+)\s*/gm, '')
    .replace(/^[ \t]*[-*+](?:[ \t]+|$)/gm, '')
    .replace(/[*_`~]+/g, '')
    .replace(/\p{Extended_Pictographic}|\p{Emoji_Modifier}|\u{FE0F}|\u{200D}/gu, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** The dot of an abbreviation or a number does not end a sentence. */
const endOfSentence =
  /(?<!\b(?:e\.g|i\.e|etc|vs|Mr|Mrs|Ms|Dr|St|No|approx)|\b\p{Lu})[.!?…]["'”’)\]]*(?=\s)|\n(?:[^\S\n]*\n)+|\n(?=[^\S\n]*[-*\d])|[。！？]/gu;
/** A long sentence is split at a comma, so that its first sound comes earlier. */
const longClause = 90;

/** The first clause of a reply is spoken while the rest is synthesised. It contains plain words only. */
const firstClause = /^\s*[\p{L}\p{N}][\p{L}\p{N} '’-]{10,}[,;:](?=\s)/u;

/** Splits a growing reply into sentences; `finish` returns the rest. No sentence ends inside a code block. */
export function createSentenceSplitter() {
  let rest = '';
  let isFirst = true;

  const cut = (at: number) => {
    const sentence = spokenText(rest.slice(0, at));
    rest = rest.slice(at);
    isFirst &&= sentence === '';
    return sentence === '' ? [] : [sentence];
  };

  return {
    add(text: string): string[] {
      rest = (rest + text).replace(/```[\s\S]*?```/g, codeOnPage);
      const sentences: string[] = [];
      for (;;) {
        const end = (isFirst && firstClause.exec(rest)?.[0].length) || endIn(rest);
        if (end === null) return sentences;
        sentences.push(...cut(end));
      }
    },
    finish: (): string[] => cut(rest.length),
  };
}

/** The end of the first sentence, or of the first part of a long one. Nothing ends inside an open code block. */
function endIn(rest: string): number | null {
  const fence = rest.indexOf('```');
  const text = fence === -1 ? rest : rest.slice(0, fence + 1);
  endOfSentence.lastIndex = 0;
  const end = endOfSentence.exec(text);
  if (end) return end.index + end[0].length;
  const comma = text.length > longClause ? text.slice(0, -1).search(/(?<=.{50}[,;:])\s/s) : -1;
  return comma === -1 ? null : comma;
}

/** The spoken part of an interrupted sentence, in whole words. */
export function partSaid(sentence: string, share: number): string {
  const words = sentence.split(' ');
  return words.slice(0, Math.floor(words.length * share)).join(' ');
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Whether the microphone picked up the agent: nearly all words were just spoken, in the same order. */
export function isEcho(heard: string, saying: string): boolean {
  const words = wordsOf(heard);
  if (words.length < 2) return false;
  const said = wordsOf(saying);
  let at = 0;
  let found = 0;
  for (const word of words) {
    const next = said.indexOf(word, at);
    if (next === -1) continue;
    found += 1;
    at = next + 1;
  }
  return found / words.length >= 0.8;
}
