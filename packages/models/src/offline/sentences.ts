/** Sentences of a text with the headings above them. */
export type Section = { headings: string[]; sentences: string[] };

/** Whole sentences, without Markdown marks and headings. */
export const sentencesOf = (text: string): string[] => sectionsOf(text).flatMap(({ sentences }) => sentences);

/** A heading applies to the text below it and is not a sentence. */
export function sectionsOf(text: string): Section[] {
  const sections: Section[] = [{ headings: [], sentences: [] }];
  for (const line of linesOf(text)) {
    const heading = /^\s*#{1,6}\s(.*)$/s.exec(line)?.[1];
    const last = sections.at(-1) as Section;
    if (heading === undefined) last.sentences.push(...split(withoutMarks(line)));
    else if (last.sentences.length === 0) last.headings.push(withoutMarks(heading));
    else sections.push({ headings: [withoutMarks(heading)], sentences: [] });
  }
  return sections;
}

const widest = 60;
const isOwnLine = /^\s*(?:[-*+>|#]|\d+[.)]\s|[\p{L} ]{1,30}:\s)/u;

/** Joins wrapped lines. */
function linesOf(text: string): string[] {
  const lines: string[] = [];
  let isOpen = false;
  for (const line of text.split('\n')) {
    const before = lines.at(-1) ?? '';
    const goesOn = isOpen && !isOwnLine.test(line) && (before.length >= widest || /^\s*[\p{Ll}(]/u.test(line));
    if (line.trim() !== '' && goesOn) lines[lines.length - 1] = `${before} ${line.trim()}`;
    else lines.push(line.trim());
    // A wrapped line may break after a sentence. A heading is never wrapped.
    isOpen = line.trim() !== '' && !/^\s*#/.test(line);
  }
  return lines;
}

function withoutMarks(line: string): string {
  return line
    .replace(/^\s*(?:(?:[-*+>]|#{1,6}|\d+[.)])\s+)+/, '')
    .replace(/!?\[([^[\]]*)\]\([^()]*\)/g, '$1')
    .replace(/\*\*|__|`|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)/g, '')
    .replace(/^\s*\|(.*)\|\s*$/, (_all, cells: string) =>
      cells
        .split('|')
        .map((cell) => cell.trim())
        .join(', '),
    )
    .trim();
}

/** Words that end in a dot without ending a sentence. */
const abbreviations = new Set(
  `dr mr mrs ms prof st vs etc ca approx inc ltd co jr sr dept est fig e.g i.e a.m p.m bzw evtl ggf inkl zzgl usw tel str hr fr
  z.b d.h u.a sra srta ud uds pág núm av p.ej ee.uu`.split(/\s+/),
);
const months = /^(?:jan|feb|mär|apr|mai|jun|jul|aug|sep|okt|nov|dez)/i;

function split(line: string): string[] {
  const sentences: string[] = [];
  let from = 0;
  for (const match of line.matchAll(/[.!?…]{1,20}["”“’»)]{0,5}\s+|[。！？]+\s*/g)) {
    const end = match.index + match[0].length;
    // Only the word before a dot matters, which keeps this linear.
    const before = line.slice(Math.max(from, match.index - 40), match.index);
    if (isInside(before, match[0], line.slice(end))) continue;
    sentences.push(line.slice(from, end).trim());
    from = end;
  }
  return [...sentences, line.slice(from).trim()].filter((each) => /\p{L}|\p{N}/u.test(each));
}

/** Whether a dot belongs to an abbreviation, an initial or a German date, or a lower-case word follows. */
function isInside(before: string, mark: string, after: string): boolean {
  if (!mark.startsWith('.')) return false;
  if (/^\p{Ll}/u.test(after)) return true;
  const word = (/[\p{L}\p{N}.]+$/u.exec(before)?.[0] ?? '').toLowerCase();
  if (/^(?:no|nr)$/.test(word)) return /^\d/.test(after);
  if (/^\d{1,2}$/.test(word)) return months.test(after);
  return abbreviations.has(word) || /^\p{L}$/u.test(word);
}
