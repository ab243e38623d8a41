import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asData, newFence } from '@vestra/agent/prompt/data';
import { type Ask, saidByUser } from '@vestra/agent/question';
import { memory } from '@vestra/contract/memory';
import { z } from 'zod';
import type { NewFact } from './fact.ts';
import { refusalOf } from './stored-facts.ts';

/** A message of the conversation. */
export type TranscriptLine = { by: 'user' | 'agent'; text: string };

/** Text from a tool, a file or a page. */
export type Passage = { source: 'tool_observed' | 'upload' | 'screen'; name: string; text: string };

/** A stored fact. Without an id, the model sees it but cannot mark it as outdated. */
export type KnownFact = { id: string | null; text: string };

export type ExtractedFacts = { facts: NewFact[]; outdated: string[] };

type Turn = {
  lines: readonly TranscriptLine[];
  passages: readonly Passage[];
  ask: Ask;
  knownAbout: (query: string) => Promise<KnownFact[]>;
  /** Called even if nothing was found, to record that the conversation has been read. */
  keep: (found: ExtractedFacts) => Promise<unknown>;
};

const maxQuoteLength = 4000;
const maxQueryLength = 500;
const maxFactsPerTurn = 10;

const { kind } = memory.create.response.shape;
const saidSchema = z.object({
  facts: z.array(z.object({ text: z.string(), kind, said_by_user: z.boolean() })),
  outdated: z.array(z.int()),
});
const shownSchema = z.object({ facts: z.array(z.object({ text: z.string(), kind, passage: z.int() })) });

const promptOf = (name: string) => readFileSync(join(import.meta.dirname, `${name}.md`), 'utf8').trim();
const saidPrompt = promptOf('keep-turn');
const shownPrompt = promptOf('keep-shown');

/**
 * Asks the model twice. The first answer counts as the user's word and marks facts as outdated. Its question contains
 * no text from tools, files or pages. So injected text cannot claim to be the user's word: its facts keep their source.
 *
 * If the model's answer does not match the schema, nothing is stored and nothing is retried.
 */
export async function keepTurn({ lines, passages, ask, knownAbout, keep }: Turn): Promise<void> {
  const spokenAbout = lines.flatMap(({ by, text }) => (by === 'user' ? [text] : [])).join('\n');
  const known = await knownAbout(spokenAbout.slice(-maxQueryLength).toWellFormed());
  const conversation = asData(newFence(), 'conversation', lines.map(asSpoken).join('\n'));
  const facts = asData(newFence(), 'known facts', known.map(asNumbered).join('\n'));
  const said = await ask({
    purpose: 'keep_memory',
    prompt: saidPrompt,
    messages: [saidByUser([facts, conversation].join('\n\n'))],
    schema: saidSchema,
    read: (answer) => ({ value: answer === null ? nothing : worthKeeping(answer, known, lines) }),
  });
  if (passages.length === 0) return void (await keep(said));
  const fence = newFence();
  const shown = passages.map(({ name, text }, at) => asData(fence, `passage ${at + 1} ${name}`, quoted(text)));
  const found = await ask({
    purpose: 'keep_memory',
    prompt: shownPrompt,
    messages: [saidByUser([facts, conversation, ...shown].join('\n\n'))],
    schema: shownSchema,
    read: (answer) => ({ value: answer === null ? [] : shownFacts(answer, passages) }),
  });
  await keep({ ...said, facts: [...said.facts, ...found] });
}

const nothing: ExtractedFacts = { facts: [], outdated: [] };

const asNumbered = ({ text }: KnownFact, at: number) => `${at + 1}. ${quoted(text)}`;
const asSpoken = ({ by, text }: TranscriptLine) => `${by === 'user' ? 'User' : 'Agent'}: ${quoted(text)}`;

const quoted = (text: string) =>
  text.length > maxQuoteLength ? `${text.slice(0, maxQuoteLength).toWellFormed()} [cut]` : text;

function worthKeeping(
  answer: z.output<typeof saidSchema>,
  known: readonly KnownFact[],
  lines: readonly TranscriptLine[],
): ExtractedFacts {
  const textsBy = (speaker: TranscriptLine['by']) => lines.flatMap(({ by, text }) => (by === speaker ? [text] : []));
  const said = { byUser: textsBy('user'), byOthers: textsBy('agent') };
  const facts = fit(answer.facts).map(({ text, kind, said_by_user }) => ({
    text,
    kind,
    // The agent repeats text from tools, so a name that only the agent used does not count as the user's word.
    source: said_by_user && !hasNameOfOthers(text, said) ? ('user_direct' as const) : ('agent_inferred' as const),
  }));
  const outdated = answer.outdated.flatMap((number) => known[number - 1]?.id ?? []);
  return { facts, outdated: [...new Set(outdated)] };
}

const shownFacts = (answer: z.output<typeof shownSchema>, passages: readonly Passage[]): NewFact[] =>
  fit(answer.facts).flatMap(({ text, kind, passage }) => {
    const source = passages[passage - 1]?.source;
    return source === undefined ? [] : [{ text, kind, source }];
  });

const fit = <Fact extends { text: string }>(facts: readonly Fact[]): Fact[] =>
  facts
    .map((fact) => ({ ...fact, text: fact.text.trim() }))
    .filter((fact) => refusalOf(fact.text) === null)
    .slice(0, maxFactsPerTurn);

/**
 * Whether a text is in the user's own words. They must have used half of its significant words, and every name and
 * number. Text that the agent took from a tool, a file or a page must not count as the user's.
 */
export function isInWordsOf(text: string, said: readonly string[]): boolean {
  const theirs = wordsOf(said.join('\n'));
  const significant = wordsOf(text).filter(isSignificant);
  const covered = significant.filter((word) => theirs.some((other) => isSameWord(word, other)));
  return (
    covered.length > 0 && covered.length * 2 >= significant.length && namesIn(text).every((name) => isIn(theirs, name))
  );
}

/** Whether a name or number of the text was used by others and not by the user. */
export function hasNameOfOthers(
  text: string,
  said: { byUser: readonly string[]; byOthers: readonly string[] },
): boolean {
  const theirs = wordsOf(said.byUser.join('\n'));
  const others = wordsOf(said.byOthers.join('\n'));
  return namesIn(text).some((name) => isIn(others, name) && !isIn(theirs, name));
}

/** Created on first use, because its tables take 2.5 MB. */
let segmenter: Intl.Segmenter | undefined;

function spokenWords(text: string): string[] {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'word' });
  return [...segmenter.segment(text.normalize('NFKC'))]
    .filter(({ isWordLike }) => isWordLike)
    .map(({ segment }) => segment.replace(/['’]s$/, ''));
}

const wordsOf = (text: string) => [...new Set(spokenWords(text).map((word) => word.toLowerCase()))];

/** Numbers, and capitalised words that are not the first. */
const namesIn = (text: string) =>
  spokenWords(text)
    .filter((word, at) => /\d/.test(word) || (at > 0 && /^\p{Lu}/u.test(word) && word !== 'I'))
    .map((word) => word.toLowerCase());

const isIn = (words: readonly string[], word: string) => words.includes(word);

const stopWords = new Set(
  'a an and are as at be been by can do does for from had has have he her his i in is it its me my of on or she that the their them they this to user was were who will with you your'.split(
    ' ',
  ),
);

const isSignificant = (word: string) => !stopWords.has(word);

/** Treats "sits" as "sit" and "allergic" as "allergy": words that differ only in their last letters. */
function isSameWord(one: string, other: string): boolean {
  if (one === other) return true;
  if (/\d/.test(one + other)) return false;
  const shorter = Math.min(one.length, other.length);
  const alike = [...one].findIndex((letter, at) => letter !== other[at]);
  const same = alike === -1 ? one.length : alike;
  return same >= 3 && same >= shorter - 2 && Math.max(one.length, other.length) - same <= 3;
}
