import { fail } from '@vestra/contract/errors';
import type { Client } from '@vestra/sdk/client';
import type { Interaction } from '@vestra/sdk/resources';
import { yesTo } from '@vestra/sdk/yes';
import type { IncomingParts } from './parts.ts';

type Answer = { interactionId: string; body: Record<string, unknown> };

/**
 * Takes a message as the answer to what is waited for; whether that was all of it. Which answer fits is the route's to
 * say.
 */
export async function answerOpen(client: Client, open: readonly Interaction[], said: IncomingParts): Promise<boolean> {
  const left = new Set(open.map(({ id }) => id));
  for (const { interactionId, body } of answersIn(said, open)) {
    left.delete(interactionId);
    await client.request('interactions.answer', { params: { interaction_id: interactionId }, body });
  }
  return left.size === 0;
}

/** Data answers as it stands, and may say which wait it means; words alone answer the only one there is. */
function answersIn({ data, texts }: IncomingParts, open: readonly Interaction[]): Answer[] {
  const given = data.map((value, at) => {
    if (!isRecord(value)) throw fail('answer_mismatch', { param: `message.parts.${at}.data` });
    const { interaction_id, ...body } = value;
    return { interactionId: meant(open, interaction_id).id, body };
  });
  if (given.length > 0) return given;
  const only = meant(open, undefined);
  return [{ interactionId: only.id, body: inWords(only, texts) }];
}

function meant(open: readonly Interaction[], id: unknown): Interaction {
  const [only, another] = open;
  const found = id === undefined && !another ? only : open.find((each) => each.id === id);
  if (found) return found;
  if (id !== undefined) throw fail('interaction_not_found', { param: 'interaction_id' });
  throw fail('invalid_request', {
    param: 'interaction_id',
    message: `Say which is meant in a data part: ${open.map((each) => each.id).join(', ')}.`,
  });
}

const decisions = ['done', 'could_not', 'not_now'];

function inWords(interaction: Interaction, texts: readonly string[]): Record<string, unknown> {
  const { type } = interaction;
  const [first = ''] = texts;
  if (type === 'handoff' && texts.length === 1 && decisions.includes(first.trim())) return { decision: first.trim() };
  // A word is no yes: whoever approves says so in data.
  if (type === 'approval')
    throw fail('answer_mismatch', {
      message: `Approve or decline in a data part: ${JSON.stringify(yesTo(interaction))} or {"approve":false}.`,
    });
  return { answers: [...texts] };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
