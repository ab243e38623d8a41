import { readFileSync } from 'node:fs';
import { asData, newFence } from '@vestra/agent/prompt/data';
import { type Ask, saidByUser } from '@vestra/agent/question';
import { memory } from '@vestra/contract/memory';
import { z } from 'zod';
import type { NewFact } from './fact.ts';
import { refusalOf } from './keep-facts.ts';

export type Exchange = { user: string; agent: string };

/** A fact that is kept already. Without an id it is shown, and cannot be called outdated. */
export type Known = { id: string | null; text: string };

type Found = { facts: NewFact[]; outdated: string[] };

type Turn = {
  exchange: readonly Exchange[];
  ask: Ask;
  knownAbout: (query: string) => Promise<Known[]>;
  keep: (found: Found) => Promise<unknown>;
};

const mostExchanges = 12;
const longestQuote = 4000;
const longestQuery = 500;
const mostFactsOfTurn = 10;

const schema = z.object({
  facts: z.array(z.object({ text: z.string(), kind: memory.create.response.shape.kind, said_by_user: z.boolean() })),
  outdated: z.array(z.int()),
});

const prompt = readFileSync(new URL('./keep-turn.md', import.meta.url), 'utf8').trim();

/** An answer that is not what was asked for keeps nothing: memory is never worth a failed turn. */
export async function keepTurn({ exchange, ask, knownAbout, keep }: Turn): Promise<void> {
  const last = exchange.slice(-mostExchanges);
  const spokenAbout = last.map(({ user }) => user).join('\n');
  const known = await knownAbout(spokenAbout.slice(-longestQuery).toWellFormed());
  const { facts, outdated } = await ask({
    purpose: 'keep_memory',
    prompt,
    messages: [saidByUser(asked(last, known))],
    schema,
    read: (answer) => ({ value: answer === null ? { facts: [], outdated: [] } : worthKeeping(answer, known) }),
  });
  if (facts.length > 0 || outdated.length > 0) await keep({ facts, outdated });
}

/** Both are words of others, and each has a fence of its own. */
function asked(exchange: readonly Exchange[], known: readonly Known[]): string {
  const facts = known.map(({ text }, at) => `${at + 1}. ${quoted(text)}`).join('\n');
  const lines = exchange.flatMap(({ user, agent }) => [`User: ${quoted(user)}`, `Agent: ${quoted(agent)}`]).join('\n');
  return [asData(newFence(), 'known facts', facts), asData(newFence(), 'conversation', lines)].join('\n\n');
}

const quoted = (text: string) =>
  text.length > longestQuote ? `${text.slice(0, longestQuote).toWellFormed()} [cut]` : text;

function worthKeeping(answer: z.output<typeof schema>, known: readonly Known[]): Found {
  const facts = answer.facts
    .map((fact) => ({ ...fact, text: fact.text.trim() }))
    .filter((fact) => refusalOf(fact.text) === null)
    .slice(0, mostFactsOfTurn)
    .map(({ text: words, kind, said_by_user }) => ({
      text: words,
      kind,
      source: said_by_user ? ('user_direct' as const) : ('agent_inferred' as const),
    }));
  const outdated = answer.outdated.flatMap((number) => known[number - 1]?.id ?? []);
  return { facts, outdated: [...new Set(outdated)] };
}
