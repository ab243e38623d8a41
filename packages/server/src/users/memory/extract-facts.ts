import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asData, newFence } from '@vestra/agent/prompt/data';
import { type Ask, saidByUser } from '@vestra/agent/question';
import { memory } from '@vestra/contract/memory';
import { z } from 'zod';
import type { NewFact } from './fact.ts';
import { refusalOf } from './stored-facts.ts';

/** What somebody said, in the order of the conversation. */
export type Line = { by: 'user' | 'agent'; text: string };

/** What the agent was shown: by a tool, in a file, on a page. */
export type Passage = { source: 'tool_observed' | 'upload' | 'screen'; name: string; text: string };

/** A fact that is kept already. Without an id it is shown, and cannot be called outdated. */
export type KnownFact = { id: string | null; text: string };

export type Found = { facts: NewFact[]; outdated: string[] };

type Turn = {
  lines: readonly Line[];
  passages: readonly Passage[];
  ask: Ask;
  knownAbout: (query: string) => Promise<KnownFact[]>;
  /** Also called where nothing was found: then the conversation has been looked through all the same. */
  keep: (found: Found) => Promise<unknown>;
};

const longestQuote = 4000;
const longestQuery = 500;
const mostFactsOfTurn = 10;

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
 * Two questions, so that what a tool, a file or a page says never stands beside the answer that may count as the user's
 * word or call a known fact outdated: whatever it says about itself, its facts keep its source.
 *
 * An answer that is not what was asked for keeps nothing: it is not worth asking again.
 */
export async function keepTurn({ lines, passages, ask, knownAbout, keep }: Turn): Promise<void> {
  const spokenAbout = lines.flatMap(({ by, text }) => (by === 'user' ? [text] : [])).join('\n');
  const known = await knownAbout(spokenAbout.slice(-longestQuery).toWellFormed());
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

const nothing: Found = { facts: [], outdated: [] };

const asNumbered = ({ text }: KnownFact, at: number) => `${at + 1}. ${quoted(text)}`;
const asSpoken = ({ by, text }: Line) => `${by === 'user' ? 'User' : 'Agent'}: ${quoted(text)}`;

const quoted = (text: string) =>
  text.length > longestQuote ? `${text.slice(0, longestQuote).toWellFormed()} [cut]` : text;

function worthKeeping(answer: z.output<typeof saidSchema>, known: readonly KnownFact[], lines: readonly Line[]): Found {
  const textsBy = (speaker: Line['by']) => lines.flatMap(({ by, text }) => (by === speaker ? [text] : []));
  const said = { byUser: textsBy('user'), byOthers: textsBy('agent') };
  const facts = fit(answer.facts).map(({ text, kind, said_by_user }) => ({
    text,
    kind,
    // The agent repeats what tools told it: a name that only it has said is no word of the user's.
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
    .slice(0, mostFactsOfTurn);

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
