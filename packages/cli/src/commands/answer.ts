import type { CommandInput } from '@vestra/contract/commands';
import type { Client } from '@vestra/sdk/client';
import { answer as answerAgent, onlyOpen } from '@vestra/sdk/commands/answer';
import type { Interaction } from '@vestra/sdk/resources';
import { yesTo } from '@vestra/sdk/yes';
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
  const meant = isAsked ? await askedHere(terminal, client, given) : await withNeeds(terminal, client, given);
  const settled = await answerAgent(client, meant, { signal });
  if (isJson) return printAnswer(terminal, settled, { isJson });
  terminal.out(`${plain(settled.summary)}: ${settled.outcome?.decision ?? settled.status}\n`);
}

/** Shows the pending interaction and reads the user's answer at the terminal. */
async function askedHere(
  terminal: Terminal,
  client: Client,
  { interaction: named, user }: CommandInput<'answer'>,
): Promise<CommandInput<'answer'>> {
  const waiting = await meantBy(terminal, client, { interaction: named, user });
  terminal.err(showInteraction(terminal, waiting));
  if (!isForPerson(waiting)) throw refuse(['Answer it with:', ...howToAnswer(waiting)].join('\n'));
  return { interaction: waiting.id, ...(await askPerson(waiting)) };
}

/**
 * Adds what the interaction needs to an approval typed at a terminal, because that user is present. A program must send
 * it itself; the error explains how.
 */
async function withNeeds(
  terminal: Terminal,
  client: Client,
  given: CommandInput<'answer'>,
): Promise<CommandInput<'answer'>> {
  if (given.approve !== true) return given;
  const waiting = await meantBy(terminal, client, given);
  const isWhole = waiting.needs.every((need) => need in given);
  if (waiting.status !== 'pending' || isWhole) return { ...given, interaction: waiting.id };
  const isDoneElsewhere = waiting.needs.some((need) => need === 'connection' || need === 'installation');
  if (terminal.isInteractive && !isDoneElsewhere) return { ...yesTo(waiting), ...given, interaction: waiting.id };
  throw refuse(['This approval needs more:', ...howToAnswer(waiting)].join('\n'));
}

const meantBy = (
  { signal }: Terminal,
  client: Client,
  { interaction, user }: Pick<CommandInput<'answer'>, 'interaction' | 'user'>,
): Promise<Interaction> =>
  interaction
    ? client.interactions.get({ interaction_id: interaction }, { signal })
    : onlyOpen(client, user, { signal });
