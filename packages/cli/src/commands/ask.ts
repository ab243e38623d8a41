import type { CommandInput } from '@vestra/contract/commands';
import type { Client } from '@vestra/sdk/client';
import { ask as askAgent } from '@vestra/sdk/commands/ask';
import { misuse } from '../fault.ts';
import type { Invocation, OwnCommand } from '../invocation.ts';
import { printJson } from '../output/print-answer.ts';
import { readUpload } from '../upload.ts';
import { turnShownAt } from './show-turn.ts';

export const ask: OwnCommand = {
  positional: ['message'],
  flags: [['--attach <path>', 'A file to send along (may be given several times).', 'several']],
  run,
};

/** With --json the turn as far as it came; else the reply as it is written, to its end unless --wait-s says otherwise. */
async function run(invocation: Invocation): Promise<number> {
  const { terminal, isJson } = invocation;
  const given = invocation.values as CommandInput<'ask'>;
  if (!given.message) throw misuse('Missing: <message>.', '<message>');
  const client = await invocation.connect();
  const { signal } = terminal;
  const input = { ...given, ...(await attached(invocation, client)) };
  const shown = isJson ? {} : { ...turnShownAt(terminal, client), untilEnd: given.wait_s === undefined };
  const asked = await askAgent(client, input, { signal, ...shown });
  if (isJson) printJson(terminal, asked);
  else if (['replying', 'working'].includes(asked.status)) {
    terminal.err(`The agent goes on. Stop it with: vestra conversations stop ${asked.conversation_id}\n`);
  }
  return asked.status === 'failed' ? 1 : 0;
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
