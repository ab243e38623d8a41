import type { CommandInput } from '@vestra/contract/commands';
import type { Client } from '@vestra/sdk/client';
import { answer as answerAgent, onlyOpen } from '@vestra/sdk/commands/answer';
import { misuse, refuse } from '../fault.ts';
import type { Invocation, OwnCommand } from '../invocation.ts';
import { printAnswer } from '../output/print-answer.ts';
import { plain } from '../output/show-value.ts';
import type { Terminal } from '../terminal.ts';
import { askPerson, howToAnswer, isForPerson, showInteraction } from './interaction.ts';

export const answer: OwnCommand = { positional: ['interaction'], run };

async function run({ terminal, isJson, values, connect }: Invocation): Promise<void> {
  const given = values as CommandInput<'answer'>;
  const { user: _user, interaction: _interaction, ...body } = given;
  const isAsked = Object.keys(body).length === 0;
  if (isAsked && !terminal.isInteractive)
    throw misuse('Missing the answer: --approve, --answers, --decision or --output.');

  const client = await connect();
  const { signal } = terminal;
  const settled = await answerAgent(client, isAsked ? await askedHere(terminal, client, given) : given, { signal });
  if (isJson) return printAnswer(terminal, settled, { isJson });
  terminal.out(`${plain(settled.summary)}: ${settled.outcome?.decision ?? settled.status}\n`);
}

/** Shows the person at the terminal what is waited for, and takes their answer. */
async function askedHere(
  terminal: Terminal,
  client: Client,
  { interaction: named, user }: CommandInput<'answer'>,
): Promise<CommandInput<'answer'>> {
  const { signal } = terminal;
  const waiting = named
    ? await client.interactions.get({ interaction_id: named }, { signal })
    : await onlyOpen(client, user, { signal });
  terminal.err(showInteraction(terminal, waiting));
  if (!isForPerson(waiting)) throw refuse(`Answer this one with: ${howToAnswer(waiting)}`);
  return { interaction: waiting.id, ...(await askPerson(waiting)) };
}
