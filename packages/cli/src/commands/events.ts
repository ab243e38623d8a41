import type { CommandInput } from '@vestra/contract/commands';
import { webhookEventTypes } from '@vestra/contract/webhook-event-types';
import { conversationMeant, events as readEvents } from '@vestra/sdk/commands/events';
import { followConversation } from '@vestra/sdk/stream';
import { misuse } from '../fault.ts';
import type { Invocation, LocalInvocation, OwnCommand } from '../invocation.ts';
import { printAnswer } from '../output/print-answer.ts';
import { cut, plain, showTime } from '../output/show-value.ts';
import type { Terminal } from '../terminal.ts';
import { followOrgEvents } from './org-events.ts';

export const events: OwnCommand = {
  takesNoUser: true,
  flags: [['--follow', 'Keep printing new events until Ctrl-C.']],
  run,
};

async function run({ terminal, isJson, values, flags, connect }: Invocation): Promise<void> {
  const given = values as CommandInput<'events'>;
  const client = await connect();
  const { signal } = terminal;
  if (!flags.follow) {
    const page = await readEvents(client, given, { signal });
    return isJson ? printAnswer(terminal, page, { isJson }) : printPage(terminal, page);
  }
  const conversation = await conversationMeant(client, given, { signal });
  const stream = conversation
    ? followConversation(client, conversation, { after: given.after, task_id: given.task, signal })
    : followOrgEvents(client, { type: given.type, signal });
  for await (const event of stream) terminal.out(`${isJson ? JSON.stringify(event) : lineOf(terminal, event)}\n`);
}

/** Prints the latest events, oldest first, and then follows new ones. */
export async function logs({ terminal, isJson, flags, connect }: LocalInvocation): Promise<void> {
  const type = flags.type as CommandInput<'events'>['type'];
  if (type !== undefined && !webhookEventTypes.includes(type)) {
    throw misuse(`There is no event type "${type}": \`vestra help logs\` lists the types.`, '--type');
  }
  const client = await connect();
  const { signal } = terminal;
  const say = (event: Shown) => terminal.out(`${isJson ? JSON.stringify(event) : lineOf(terminal, event)}\n`);
  const onReady = (newest: readonly Shown[]) => newest.slice(0, shownAtFirst).toReversed().forEach(say);
  for await (const event of followOrgEvents(client, { type, signal, onReady })) say(event);
}

const shownAtFirst = 20;

function printPage(terminal: Terminal, page: Awaited<ReturnType<typeof readEvents>>): void {
  if (page.data.length === 0) terminal.err('Nothing found.\n');
  for (const event of page.data) terminal.out(`${lineOf(terminal, event)}\n`);
  if ('next_after' in page && page.next_after !== null) {
    terminal.err(terminal.paintError('dim', `There are more: --after ${page.next_after}, or --follow.\n`));
  }
}

type Shown = { type: string; created_at: string; data: Record<string, unknown>; id: string; seq?: number };

/** One event per line: time, type, and the simple fields of its object. */
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
