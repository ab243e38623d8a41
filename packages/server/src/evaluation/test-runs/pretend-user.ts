import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Message } from '@vestra/agent/message';
import type { Ask } from '@vestra/agent/question';
import { z } from 'zod';
import type { Transcript } from '../../engine/conversations/index.ts';
import { storableText } from '../../platform/db/storable-text.ts';
import type { PlayedScenario } from './tables.ts';

const prompt = readFileSync(join(import.meta.dirname, 'pretend-user.md'), 'utf8').trim();
const schema = z.object({ says: z.string(), is_done: z.boolean() });
const longestLine = 4000;

/** What the person of the scenario says next; null where they have nothing more to say. */
export async function nextLine(
  ask: Ask,
  { persona, goal }: Pick<PlayedScenario, 'persona' | 'goal'>,
  said: Transcript['said'],
): Promise<string | null> {
  const values: Record<string, string> = { persona: oneLine(persona), goal: oneLine(goal) };
  const filled = prompt.replace(/\{\{(\w+)\}\}/g, (place, name: string) => values[name] ?? place);
  const messages = fromTheOtherSide(said);
  const { says, is_done } = await ask({ purpose: 'pretend_user', prompt: filled, messages, schema, read: whatTheySay });
  const line = storableText(says).trim();
  return line === '' || is_done ? null : line.slice(0, longestLine).toWellFormed();
}

type Line = z.output<typeof schema>;

/** A model that knows no JSON has said a line all the same. */
const whatTheySay = (line: Line | null, _isLast: boolean, text: string) => ({
  value: line ?? { says: text, is_done: false },
});

/** The agent's words come as the user's and the user's as the agent's own; speakers take turns, as vendors ask for. */
function fromTheOtherSide(said: Transcript['said']): Message[] {
  const heard = [{ isOwn: false, text: '[The conversation begins. You speak first.]' }];
  for (const { role, text } of said) {
    const isOwn = role === 'user';
    const last = heard.at(-1);
    if (last && last.isOwn === isOwn) last.text += `\n\n${text}`;
    else heard.push({ isOwn, text });
  }
  if (heard.at(-1)?.isOwn) heard.push({ isOwn: false, text: '[The agent said nothing.]' });
  return heard.map(({ isOwn, text }) =>
    isOwn ? { role: 'agent', text, calls: [] } : { role: 'user', parts: [{ kind: 'text', text: text || '[nothing]' }] },
  );
}

const oneLine = (text: string) => text.replace(/\s+/gu, ' ').trim();
