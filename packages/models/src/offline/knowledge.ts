import { type Section, sectionsOf, sentencesOf } from './sentences.ts';
import { coverage, stemsOf } from './words.ts';

/**
 * A text to quote, and the words before the quote; null if the agent says it as its own. `mark` is written behind the
 * quote.
 */
export type Source = { from: string | null; mark?: string | undefined; sections: Section[] };

/** Parses the results of `search_notebooks` and `read_document`: each passage has a heading that names its document. */
export function sourcesOf(output: string, from = 'From'): Source[] {
  return passagesOf(output).map(({ source, text }) => {
    const mark = markLine.exec(text)?.[1];
    const sections = sectionsOf(text.replace(markLine, ''));
    const title = source ?? sections[0]?.headings[0] ?? null;
    return { from: title === null ? '' : `${from} ${nameOf(title)}: `, mark, sections: sections.map(wholeOf) };
  });
}

/** The line below the heading of a passage that names its mark. */
const markLine = /(?<=^# [^\n]*\n)Cite as (\[\d+\])\n/;

/** Facts are one per line. */
export const sourceOfLines = (from: string | null, lines: readonly string[]): Source => ({
  from,
  sections: [{ headings: [], sentences: [...lines] }],
});

/**
 * Returns the sentences that share most words with the question, verbatim; null if none shares enough. A heading counts
 * for the text under it and is never quoted.
 */
export function quoteFrom(sources: readonly Source[], question: string): string | null {
  const asked = [question, ...sentencesOf(question).slice(0, mostQuestions)]
    .map((part) => [...new Set(stemsOf(part))])
    .filter((each) => each.length > 0);
  const ranked = sources
    .flatMap(({ from, mark, sections }) =>
      sections.flatMap(({ headings, sentences }) =>
        sentences.map((sentence, at) => ({ from, mark, sentence, ...scoreOf(asked, sentence, headings, at) })),
      ),
    )
    .map((each, index) => ({ ...each, index }))
    .filter(({ isEnough }) => isEnough)
    .sort((left, right) => right.score - left.score || left.index - right.index);
  const best = ranked[0]?.score ?? 0;
  const chosen = ranked
    .filter(
      ({ score, sentence }, at) =>
        score >= best * 0.75 && ranked.findIndex((other) => other.sentence === sentence) === at,
    )
    .slice(0, mostSentences)
    .sort((left, right) => left.index - right.index);
  return chosen.length === 0 ? null : told(chosen);
}

const mostSentences = 3;
const mostQuestions = 20;

function scoreOf(asked: readonly string[][], sentence: string, headings: readonly string[], at: number) {
  const said = new Set(stemsOf(sentence));
  const above = new Set(headings.flatMap((heading) => stemsOf(nameOf(heading))));
  const scores = asked.map((wanted) => {
    const found = wanted.filter((word) => said.has(word));
    const left = wanted.filter((word) => !said.has(word));
    const share = found.length / wanted.length;
    const isNamed = at === 0 && coverage(wanted, above) >= 0.6;
    // One small number in common is no evidence.
    const isEvidence = found.some((word) => /\p{L}|\d{3}/u.test(word));
    return {
      score: share + (0.3 * left.filter((word) => above.has(word)).length) / wanted.length,
      isEnough: isNamed || (isEvidence && (share >= 0.4 || found.length > 1)),
    };
  });
  return {
    score: Math.max(0, ...scores.map(({ score }) => score)),
    isEnough: scores.some(({ isEnough }) => isEnough),
  };
}

/** Each source is named once. A mark is behind the last sentence of its passage. */
function told(chosen: readonly { from: string | null; mark: string | undefined; sentence: string }[]): string {
  return [...new Set(chosen.map(({ from }) => from))]
    .map((from) => {
      const ofSource = chosen.filter((each) => each.from === from);
      if (from === null) return ofSource.map(({ sentence }) => sentence).join(' ');
      const quotes = ofSource.map(({ sentence, mark }, at) =>
        mark === undefined || ofSource[at + 1]?.mark === mark
          ? inQuotes([sentence])
          : `${inQuotes([sentence])} ${mark}`,
      );
      return from + quotes.join(' ');
    })
    .join('\n');
}

export const inQuotes = (sentences: readonly string[]) => sentences.map((sentence) => `“${sentence}”`).join(' ');

/** A passage cut from a longer text may begin inside a sentence, which is not quoted. */
const wholeOf = ({ headings, sentences }: Section): Section => ({
  headings,
  sentences: sentences.filter((sentence, at) => at > 0 || !/^[\p{Ll},;)]/u.test(sentence)),
});

const nameOf = (title: string) => title.replace(/^Document: |\s{0,20}\(part \d{1,9} of \d{1,9}\)/g, '').trim();

const nothing =
  /^\s*(?:no|nothing|none|0)\b[^.\n]{0,60}\.?\s*$|^\s*$|^\s*(?:you remember nothing|nothing was found|there is nothing)\b/i;
/** Whether a search or memory result reports that there is nothing. */
export const saysNothing = (text: string) => nothing.test(text);

const textKeys = ['text', 'content', 'passage', 'excerpt', 'snippet', 'fact', 'value', 'memory'];
const titleKeys = ['title', 'document', 'filename', 'source', 'notebook', 'name'];

type Passage = { source: string | null; text: string };

function passagesOf(output: string): Passage[] {
  let value: unknown;
  try {
    value = JSON.parse(output);
  } catch {
    if (nothing.test(output)) return [];
    // A passage may have headings. Notes about the search itself are not quoted.
    const told = output.replace(/^\[The notebooks are still being indexed[^\n]*\]$/m, '');
    return told.split(/^(?=# Document: )/m).map((text) => ({ source: null, text }));
  }
  return passagesIn(value);
}

function passagesIn(value: unknown): Passage[] {
  if (typeof value === 'string') return nothing.test(value) ? [] : [{ source: null, text: value }];
  if (Array.isArray(value)) return value.flatMap(passagesIn);
  if (typeof value !== 'object' || value === null) return [];
  const record = value as Record<string, unknown>;
  const text = textKeys.map((key) => record[key]).find((each): each is string => typeof each === 'string');
  if (text === undefined)
    return Object.values(record)
      .filter((each) => typeof each === 'object')
      .flatMap(passagesIn);
  const source = titleKeys.map((key) => record[key]).find((each): each is string => typeof each === 'string');
  return nothing.test(text) ? [] : [{ source: source ?? null, text }];
}
