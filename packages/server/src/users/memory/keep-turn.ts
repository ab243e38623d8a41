import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asData, newFence } from '@vestra/agent/prompt/data';
import { type Ask, saidByUser } from '@vestra/agent/question';
import { memory } from '@vestra/contract/memory';
import { z } from 'zod';
import type { NewFact } from './fact.ts';
import { refusalOf } from './keep-facts.ts';
import { hasNameOfOthers } from './said-by-user.ts';

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
