import { readFileSync } from 'node:fs';
import type { JsonSchema } from '@vestra/agent/message';
import type { Model, ModelRequest, Usage } from '@vestra/agent/model';
import { asData, newFence } from '@vestra/agent/prompt/data';
import { memory } from '@vestra/contract/memory';
import { z } from 'zod';
import type { NewFact } from './fact.ts';
import { refusalOf } from './keep-facts.ts';

export type Exchange = { user: string; agent: string };

/** A fact that is kept already. Without an id it is shown, and cannot be called outdated. */
export type Known = { id: string | null; text: string };

type Turn = {
  exchange: readonly Exchange[];
  model: Model;
  modelId: string;
  signal: AbortSignal;
  knownAbout: (query: string) => Promise<Known[]>;
  keep: (found: { facts: NewFact[]; outdated: string[] }) => Promise<unknown>;
};

const mostExchanges = 12;
const longestQuote = 4000;
const longestQuery = 500;
const mostFactsOfTurn = 10;

const found = z.object({
  facts: z.array(z.object({ text: z.string(), kind: memory.create.response.shape.kind, said_by_user: z.boolean() })),
  outdated: z.array(z.int()),
});

/** What a model may answer; vendors take it as it is, so it keeps to what all of them know. */
const outputSchema: JsonSchema = {
  type: 'object',
  properties: {
    facts: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          text: { type: 'string' },
          kind: { type: 'string', enum: memory.create.response.shape.kind.options },
          said_by_user: { type: 'boolean' },
        },
        required: ['text', 'kind', 'said_by_user'],
        additionalProperties: false,
      },
    },
    outdated: { type: 'array', items: { type: 'integer' } },
  },
  required: ['facts', 'outdated'],
  additionalProperties: false,
};

const prompt = readFileSync(new URL('./keep-turn.md', import.meta.url), 'utf8').trim();

/** An answer that is not what was asked for keeps nothing: memory is never worth a failed turn. */
export async function keepTurn({
  exchange,
  model,
  modelId,
  signal,
  knownAbout,
  keep,
}: Turn): Promise<{ usage: Usage }> {
  const last = exchange.slice(-mostExchanges);
  const known = await knownAbout(
    last
      .map(({ user }) => user)
      .join('\n')
      .slice(-longestQuery)
      .toWellFormed(),
  );
  const { text, usage } = await ask(model, {
    model: modelId,
    system: [prompt],
    messages: [{ role: 'user', parts: [{ kind: 'text', text: asked(last, known) }] }],
    tools: [],
    outputSchema,
    signal,
  });
  const { facts, outdated } = read(text, known);
  if (facts.length > 0 || outdated.length > 0) await keep({ facts, outdated });
  return { usage };
}

/** Both are words of others, and each has a fence of its own. */
function asked(exchange: readonly Exchange[], known: readonly Known[]): string {
  const facts = known.map(({ text }, at) => `${at + 1}. ${quoted(text)}`).join('\n');
  const lines = exchange.flatMap(({ user, agent }) => [`User: ${quoted(user)}`, `Agent: ${quoted(agent)}`]).join('\n');
  return [asData(newFence(), 'known facts', facts), asData(newFence(), 'conversation', lines)].join('\n\n');
}

const quoted = (text: string) =>
  text.length > longestQuote ? `${text.slice(0, longestQuote).toWellFormed()} [cut]` : text;

async function ask(model: Model, request: ModelRequest): Promise<{ text: string; usage: Usage }> {
  let text = '';
  let usage: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  for await (const event of model.stream(request)) {
    if (event.type === 'text') text += event.text;
    if (event.type === 'end') usage = event.usage;
  }
  return { text, usage };
}

function read(text: string, known: readonly Known[]): { facts: NewFact[]; outdated: string[] } {
  const answer = found.safeParse(parse(text));
  if (!answer.success) return { facts: [], outdated: [] };
  const facts = answer.data.facts
    .map((fact) => ({ ...fact, text: fact.text.trim() }))
    .filter((fact) => refusalOf(fact.text) === null)
    .slice(0, mostFactsOfTurn)
    .map(({ text: words, kind, said_by_user }) => ({
      text: words,
      kind,
      source: said_by_user ? ('user_direct' as const) : ('agent_inferred' as const),
    }));
  const outdated = answer.data.outdated.flatMap((number) => known[number - 1]?.id ?? []);
  return { facts, outdated: [...new Set(outdated)] };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
