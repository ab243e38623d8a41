import type { Client } from '@vestra/sdk/client';
import { followConversation } from '@vestra/sdk/stream';
import type { WebhookEvent } from '@vestra/sdk/webhook';
import { misuse } from '../fault.ts';
import type { Invocation, OwnCommand } from '../invocation.ts';
import { printAnswer } from '../output/print-answer.ts';
import { cut, plain, showTime } from '../output/show-value.ts';
import type { Terminal } from '../terminal.ts';
import { followOrgEvents } from './org-events.ts';

export const events: OwnCommand = {
  flags: [['--follow', 'Go on with what happens from now on, until Ctrl-C.']],
  run,
};

type Options = {
  conversation?: string;
  task?: string;
  after?: number;
  type?: WebhookEvent['type'];
  limit?: number;
};

async function run({ terminal, isJson, values, flags, connect }: Invocation): Promise<void> {
  const given = values as Options;
  if (!given.conversation && (given.task !== undefined || given.after !== undefined)) {
    throw misuse('--task and --after go with --conversation.', '--conversation');
  }
  if (given.conversation && given.type) throw misuse('--type goes with the org’s events.', '--type');
  const client = await connect();
  if (!flags.follow) return read(client, given, terminal, isJson);
  const stream = given.conversation
    ? followConversation(client, given.conversation, {
        after: given.after,
        task_id: given.task,
        signal: terminal.signal,
      })
    : followOrgEvents(client, { type: given.type, signal: terminal.signal });
  for await (const event of stream) terminal.out(`${isJson ? JSON.stringify(event) : lineOf(terminal, event)}\n`);
}

async function read(client: Client, given: Options, terminal: Terminal, isJson: boolean): Promise<void> {
  const { signal } = terminal;
  const limit = given.limit ?? 20;
  if (!given.conversation) {
    const page = await client.events.list({ limit, ...(given.type && { type: given.type }) }, { signal });
    return isJson ? printAnswer(terminal, page, { isJson }) : printLines(terminal, page.data);
  }
  const page = await client.conversations.events(
    {
      conversation_id: given.conversation,
      format: 'json',
      limit,
      ...(given.after !== undefined && { after: given.after }),
      ...(given.task !== undefined && { task_id: given.task }),
    },
    { signal },
  );
  if (isJson) return printAnswer(terminal, page, { isJson });
  printLines(terminal, page.data);
  if (page.next_after !== null) {
    terminal.err(terminal.paintError('dim', `There are more: --after ${page.next_after}, or --follow.\n`));
  }
}

function printLines(terminal: Terminal, found: readonly Shown[]): void {
  if (found.length === 0) terminal.err('Nothing found.\n');
  for (const event of found) terminal.out(`${lineOf(terminal, event)}\n`);
}

type Shown = { type: string; created_at: string; data: Record<string, unknown>; id: string; seq?: number };

/** One event on one line: when, what, and the plain facts of what it is about. */
function lineOf({ paint, columns }: Terminal, { type, created_at, data, id, seq }: Shown): string {
  const head = `${showTime(created_at)}  ${String(seq ?? id)}  `;
  const line = `${head}${type.padEnd(20)}  ${factsOf(data)}`.trimEnd();
  const shown = columns === null ? line : cut(line, columns);
  return shown.startsWith(head) ? paint('dim', head) + shown.slice(head.length) : shown;
}

function factsOf(data: Record<string, unknown>): string {
  const [inner] = Object.values(data);
  const about = Object.keys(data).length === 1 && typeof inner === 'object' && inner !== null ? inner : data;
  const wanted = ['id', 'status', 'title', 'summary', 'text', 'name', 'filename', 'reason'];
  const told = wanted.flatMap((name) => {
    const value = (about as Record<string, unknown>)[name];
    return typeof value === 'string' && value !== '' ? [plain(value).replace(/\s+/g, ' ')] : [];
  });
  return told.join(' · ');
}
