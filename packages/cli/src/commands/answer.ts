import type { Client } from '@vestra/sdk/client';
import { misuse, refuse } from '../fault.ts';
import type { Invocation, OwnCommand } from '../invocation.ts';
import { printAnswer } from '../output/print-answer.ts';
import { plain } from '../output/show-value.ts';
import { askPerson, howToAnswer, type Interaction, isForPerson, showInteraction } from './interaction.ts';

export const answer: OwnCommand = { positional: ['interaction'], run };

const bodyFields = ['approve', 'answers', 'decision', 'output', 'error', 'present_user', 'nonce'];

async function run({ terminal, isJson, values, connect }: Invocation): Promise<void> {
  const client = await connect();
  const { signal } = terminal;
  const given = Object.fromEntries(bodyFields.filter((name) => name in values).map((name) => [name, values[name]]));
  const named = values.interaction as string | undefined;
  const isAsked = Object.keys(given).length === 0;
  if (isAsked && !terminal.isInteractive)
    throw misuse('Missing the answer: --approve, --answers, --decision or --output.');

  const waiting = named && !isAsked ? null : await find(client, named, values.user as string | undefined, signal);
  const body = isAsked && waiting ? await asked(waiting) : given;
  const interaction_id = named ?? (waiting?.id as string);
  const settled = await client.interactions.answer({ interaction_id, ...body }, { signal });
  if (isJson) return printAnswer(terminal, settled, { isJson });
  terminal.out(`${plain(settled.summary)}: ${settled.outcome?.decision ?? settled.status}\n`);

  async function asked(interaction: Interaction) {
    terminal.err(showInteraction(terminal, interaction));
    if (!isForPerson(interaction)) throw refuse(`Answer this one with: ${howToAnswer(interaction)}`);
    return askPerson(interaction);
  }
}

/** The one that was named, else the only one that is open. */
async function find(
  client: Client,
  named: string | undefined,
  user_id: string | undefined,
  signal: AbortSignal,
): Promise<Interaction> {
  if (named) return client.interactions.get({ interaction_id: named }, { signal });
  const { data } = await client.interactions.list({ ...(user_id !== undefined && { user_id }) }, { signal });
  const [only, ...others] = data;
  if (!only) throw refuse('The agent waits on nothing.');
  if (others.length === 0) return only;
  const lines = data.map(({ id, summary }) => `  ${id}  ${plain(summary)}`);
  throw refuse(`The agent waits on several things. Name one:\n${lines.join('\n')}`);
}
