import type { Client } from '@vestra/sdk/client';
import { misuse } from '../fault.ts';
import type { Invocation, OwnCommand } from '../invocation.ts';
import { printJson } from '../output/print-answer.ts';
import { readUpload } from '../upload.ts';
import { followTurnHere } from './follow-turn.ts';

export const ask: OwnCommand = {
  positional: ['message'],
  flags: [['--attach <path>', 'A file to send along (may be given several times).', 'several']],
  run,
};

async function run(invocation: Invocation): Promise<number> {
  const { isJson, values } = invocation;
  const message = values.message as string | undefined;
  if (!message) throw misuse('Missing: <message>.', '<message>');
  const client = await invocation.connect();
  const sent = { ...(await messageOf(invocation, client)), message };
  return isJson ? askForJson(invocation, client, sent) : askAloud(invocation, client, sent);
}

/** The reply as it is written. */
async function askAloud(invocation: Invocation, client: Client, sent: Sent): Promise<number> {
  const { terminal } = invocation;
  const { conversationId, status } = await followTurnHere(terminal, client, await open(invocation, client, sent));
  if (terminal.signal.aborted && conversationId) {
    terminal.err(`The agent goes on. Stop it with: vestra conversations stop ${conversationId}\n`);
  }
  return status === 'failed' ? 1 : 0;
}

type Sent = Awaited<ReturnType<typeof messageOf>> & { message: string };

/** The turn as the API answers it, once it is settled or waits for somebody. */
async function askForJson({ terminal, values }: Invocation, client: Client, sent: Sent): Promise<number> {
  const { signal } = terminal;
  const conversation_id =
    (values.conversation as string | undefined) ?? (await client.conversations.create(places(values), { signal })).id;
  const wait = (values.wait_s as number | undefined) ?? 60;
  const turn = await client.conversations.send({ conversation_id, ...sent }, { signal, wait });
  printJson(terminal, turn);
  return turn.status === 'failed' ? 1 : 0;
}

function open({ terminal, values }: Invocation, client: Client, sent: Sent) {
  const { signal } = terminal;
  const conversation_id = values.conversation as string | undefined;
  if (conversation_id) return client.conversations.send({ conversation_id, ...sent, stream: true }, { signal });
  return client.conversations.create({ ...places(values), ...sent, stream: true }, { signal });
}

const places = ({ user, deployment }: Invocation['values']) => ({
  ...(user !== undefined && { user_id: user as string }),
  ...(deployment !== undefined && { deployment: deployment as string }),
});

/** What goes with the message; files are uploaded first. */
async function messageOf({ terminal, values, flags }: Invocation, client: Client) {
  const { context, output_schema, success_criteria, hand_off, attachments = [], user } = values as Options;
  const uploaded: { file_id: string }[] = [];
  for (const path of (flags.attach as string[] | undefined) ?? []) {
    const file = await readUpload(terminal, path);
    const { id } = await client.files.create({ ...(user && { user_id: user }), file }, { signal: terminal.signal });
    uploaded.push({ file_id: id });
  }
  const all = [...attachments, ...uploaded];
  return {
    ...(context && { context }),
    ...(output_schema && { output_schema }),
    ...(success_criteria && { success_criteria }),
    ...(hand_off && { hand_off }),
    ...(all.length > 0 && { attachments: all }),
  };
}

type Options = {
  context?: Record<string, unknown>;
  output_schema?: Record<string, unknown>;
  success_criteria?: string;
  hand_off?: 'auto' | 'always';
  attachments?: { file_id: string }[];
  user?: string;
};
