import type { CommandInput } from '@vestra/contract/commands';
import type { Client } from '@vestra/sdk/client';
import { type Asked, ask as askAgent } from '@vestra/sdk/commands/ask';
import { isForCompanyCode } from '@vestra/sdk/commands/unanswered-calls';
import { misuse } from '../fault.ts';
import type { Invocation, OwnCommand } from '../invocation.ts';
import { printJson } from '../output/print-answer.ts';
import type { Terminal } from '../terminal.ts';
import { readUpload } from '../upload.ts';
import { showPending, showTools, turnShownAt } from './show-turn.ts';

export const ask: OwnCommand = {
  positional: ['message'],
  flags: [['--attach <path>', 'A file to attach (repeatable).', 'several']],
  run,
};

/** With --json, prints the turn so far; otherwise streams the reply to its end or for --wait-s. */
async function run(invocation: Invocation): Promise<number> {
  const { terminal, isJson } = invocation;
  const given = invocation.values as CommandInput<'ask'>;
  if (!given.message) throw misuse('Missing: <message>.', '<message>');
  const client = await invocation.connect();
  const { signal } = terminal;
  const input = { ...given, ...(await attached(invocation, client)) };
  const asked = isJson
    ? await askAgent(client, input, { signal, onHint: (hint) => terminal.err(`${hint}\n`) })
    : await shownAsk(terminal, client, input, given.wait_s === undefined);
  if (isJson) printJson(terminal, asked);
  return asked.status === 'waiting' ? waits : asked.status === 'failed' ? 1 : 0;
}

/** The exit code of a command whose agent waits for somebody. */
const waits = 5;

/**
 * Shows the calls that the company's code has not answered when --wait-s is over. Interactions for a person were shown
 * when they arrived.
 */
function showUnanswered(terminal: Terminal, { interactions, hint }: Asked): void {
  for (const call of interactions.filter(isForCompanyCode)) showPending(terminal, call);
  if (hint !== null) terminal.err(`${hint}\n`);
}

async function shownAsk(terminal: Terminal, client: Client, input: CommandInput<'ask'>, untilEnd: boolean) {
  const { signal, isInteractive } = terminal;
  const { end, ...shown } = turnShownAt(terminal, client);
  const asked = await askAgent(client, input, { signal, untilEnd, ...shown }).finally(end);
  if (asked.status === 'waiting') {
    showUnanswered(terminal, asked);
  } else if (['replying', 'working'].includes(asked.status)) {
    terminal.err(`The agent continues. Stop it with: vestra conversations stop ${asked.conversation_id}\n`);
  } else if (isInteractive && asked.task_id === null && asked.status === 'settled') {
    await showTools(terminal, client, asked);
  }
  return asked;
}

/** Files are uploaded before the message that names them. */
async function attached({ terminal, values, flags }: Invocation, client: Client) {
  const { attachments = [], user } = values as CommandInput<'ask'>;
  const paths = (flags.attach as string[] | undefined) ?? [];
  if (paths.length === 0) return {};
  const uploaded: { file_id: string }[] = [];
  for (const path of paths) {
    const file = await readUpload(terminal, path);
    const { id } = await client.files.create({ user_id: user, file }, { signal: terminal.signal });
    uploaded.push({ file_id: id });
  }
  return { attachments: [...attachments, ...uploaded] };
}
