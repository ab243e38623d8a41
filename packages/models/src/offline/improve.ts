import type { ModelRequest } from '@vestra/agent/model';
import { sectionsOf, sentencesOf } from './sentences.ts';
import { textOf } from './situation.ts';
import { coverage, jsonIn, stemsOf } from './words.ts';

type Failure = { scenario: string; goal: string };
type Given = {
  conversation?: string;
  complaints?: string[];
  instructions?: string;
  documents?: { title: string; text?: string }[];
  failures?: Failure[];
  tried?: { change?: { instructions?: { after?: string } | null } | null }[];
};

/**
 * Fixes one kind of fault: the instructions state another number than a document. It compares words and numbers and
 * understands neither. The first message contains the failure, or the failing tests, as JSON.
 */
export function improve(request: ModelRequest): object {
  const given = (jsonIn(textOf(request.messages.find(({ role }) => role === 'user'))) ?? {}) as Given;
  return given.failures ? propose(given, given.failures) : draft(given);
}

/** Without a sentence in a document nothing says what would have been right, and the draft has no criteria. */
function draft({ conversation = '', complaints = [], documents = [] }: Given): object {
  const lines = conversation.split(/^(?=(?:User|Agent|Tool): )/m);
  const said = (speaker: string) =>
    lines.filter((line) => line.startsWith(`${speaker}: `)).map((line) => line.slice(speaker.length + 2).trim());
  const question = said('User')[0] ?? '';
  const right = sentenceAbout([question, ...complaints].join(' '), documents);
  const wrong = said('Agent')
    .map(withoutCitations)
    .flatMap(figuresIn)
    .filter((figure) => ![...(right ? figuresIn(right) : []), ...figuresIn(question)].includes(figure));
  return {
    name: cut(question, 80),
    persona: 'A person who uses this agent.',
    success_criteria: right ? figuresIn(right).slice(0, 2).map(says) : [],
    must_never: [...new Set(wrong)].slice(0, 2).map(says),
    personal_values: [],
    steering: false,
  };
}

const says = (words: string) => `The agent says "${words}".`;

/** States what the document says, instead of the sentence that contradicts it. */
function propose({ instructions = '', documents = [], tried = [] }: Given, failures: readonly Failure[]): object {
  let text = instructions;
  const cannotFix: { scenario: string; reason: string }[] = [];
  for (const { scenario, goal } of failures) {
    const right = sentenceAbout(goal, documents);
    if (right === null) cannotFix.push({ scenario, reason: 'No document says what is right.' });
    else text = stating(text, right, goal);
  }
  const isKnown = text === instructions || tried.some(({ change }) => change?.instructions?.after === text);
  return {
    instructions: isKnown ? null : text,
    instructions_reason: isKnown ? '' : 'The instructions contradict a document.',
    tools: [],
    documents: [],
    cannot_fix: cannotFix,
  };
}

function stating(instructions: string, right: string, goal: string): string {
  if (instructions.includes(right)) return instructions;
  const about = new Set([...stemsOf(right), ...stemsOf(goal)].filter((word) => !/\d/.test(word)));
  const wrong = sentencesOf(instructions)
    .filter((sentence) => figuresIn(sentence).length > 0 && instructions.includes(sentence))
    .map((sentence) => ({ sentence, shared: coverage(wordsOnly(sentence), about) }))
    .filter(({ shared }) => shared >= 0.3)
    .toSorted((one, other) => other.shared - one.shared)[0]?.sentence;
  return wrong === undefined ? `${instructions}\n${right}`.trim() : instructions.replace(wrong, () => right);
}

const wordsOnly = (text: string) => stemsOf(text).filter((word) => !/\d/.test(word));

/** The sentence with a number that shares most words with the question, or null. */
function sentenceAbout(question: string, documents: NonNullable<Given['documents']>): string | null {
  const wanted = wordsOnly(question);
  const found = documents
    .flatMap(({ title, text = '' }) =>
      sectionsOf(text).flatMap(({ headings, sentences }) =>
        sentences.map((sentence) => ({ sentence, words: new Set(stemsOf([title, ...headings, sentence].join(' '))) })),
      ),
    )
    .filter(({ sentence }) => figuresIn(sentence).length > 0)
    .map(({ sentence, words }) => ({ sentence, shared: coverage(wanted, words) }))
    .toSorted((one, other) => other.shared - one.shared)[0];
  return found && found.shared > 0 ? found.sentence : null;
}

const figuresIn = (text: string): string[] => text.match(/\d+(?:[.,:]\d+)*/g) ?? [];

/** The number of a cited document, such as ` [1]`, is no statement. */
const withoutCitations = (text: string): string => text.replaceAll(/ \[\d+\]/g, '');

const cut = (text: string, length: number) =>
  text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`;
