import type { Client } from '@vestra/sdk/client';
import type { AskOptions } from '@vestra/sdk/commands/ask';
import type { Interaction, Turn } from '@vestra/sdk/resources';
import type { StreamEvent } from '@vestra/sdk/stream';
import { plain, showMoney } from '../output/show-value.ts';
import type { Terminal } from '../terminal.ts';
import { askPerson, howToAnswer, isForPerson, showInteraction } from './interaction.ts';

/**
 * Shows a turn as it happens: the reply on standard output as it is written, what goes on beside it on standard error.
 * At a terminal the person is asked what the agent asks; elsewhere the command ends and says how to answer. `isServed`: a
 * function that is answered beside this.
 */
export function turnShownAt(
  terminal: Terminal,
  client: Client,
  isServed: (functionName: string) => boolean = () => false,
): Required<Pick<AskOptions, 'onEvent' | 'onWait'>> {
  const page = pageOf(terminal);
  return {
    onEvent(event) {
      if (event.type !== 'turn.settled') return show(terminal, page, event);
      page.endLine();
      sayEnd(terminal, event.data.turn);
    },
    async onWait(interaction) {
      page.endLine();
      if (interaction.type === 'tool_call' && isServed(interaction.details.tool_name)) return true;
      return isFollowedOn(terminal, client, interaction);
    },
  };
}

function show(terminal: Terminal, page: Page, event: StreamEvent): void {
  const { type, data } = event;
  if (type === 'reply.delta') page.write(data.message_id, data.text);
  if (type === 'reply.completed') page.endLine();
  const aside = asideOf(event);
  if (aside === null) return;
  page.endLine();
  terminal.err(terminal.paintError('dim', `· ${plain(aside)}\n`));
}

/** What goes on beside the reply, in a few words. */
function asideOf({ type, data }: StreamEvent): string | null {
  switch (type) {
    case 'task.started':
      return `working: ${data.task.title ?? 'a task'}`;
    case 'task.progress':
      return progressOf(data.progress);
    case 'task.step':
      return stepOf(data.step);
    case 'task.failed':
      return 'task failed';
    case 'task.stopped':
      return data.message ?? 'task stopped';
    case 'tool_call.progress':
      return `${data.name}: ${data.text}`;
    case 'file.created':
      return `made ${data.file.filename ?? 'a file'}`;
    default:
      return null;
  }
}

type Plan = readonly { content: string; status: string }[];

function progressOf(plan: Plan): string {
  const done = plan.filter(({ status }) => status === 'completed').length;
  const now = plan.find(({ status }) => status === 'in_progress') ?? plan.find(({ status }) => status === 'pending');
  return now ? `${done} of ${plan.length}: ${now.content}` : `${done} of ${plan.length} done`;
}

function stepOf({ name, input_summary }: { name: string | null; input_summary: string | null }): string {
  return [name ?? 'a step', input_summary].filter(Boolean).join(': ');
}

/** Whether the turn goes on here. What is left to others to answer ends the command, unless a person is watching. */
async function isFollowedOn(terminal: Terminal, client: Client, interaction: Interaction): Promise<boolean> {
  terminal.err(showInteraction(terminal, interaction));
  if (!terminal.isInteractive || !isForPerson(interaction)) {
    for (const command of howToAnswer(interaction)) terminal.err(`  ${command}\n`);
    // At a terminal a function may be answered by the org's own code meanwhile, and the reply goes on here.
    return terminal.isInteractive;
  }
  const answer = await askPerson(interaction);
  await client.interactions.answer({ interaction_id: interaction.id, ...answer }, { signal: terminal.signal });
  return true;
}

function sayEnd(terminal: Terminal, { conversation_id, status, cost_usd, error }: Turn): void {
  if (error) terminal.err(`${terminal.paintError('red', '✖')} ${plain(error.message)} (${plain(error.code)})\n`);
  else if (status === 'stopped') terminal.err('Stopped.\n');
  terminal.err(terminal.paintError('dim', `${conversation_id} · ${showMoney(cost_usd)}\n`));
}

type Page = { write: (messageId: string, text: string) => void; endLine: () => void };

/** Keeps what streams and what is said beside it on lines of their own. */
function pageOf({ out }: Terminal): Page {
  let isOpen = false;
  let current = '';
  const endLine = () => {
    if (isOpen) out('\n');
    isOpen = false;
  };
  return {
    endLine,
    write(messageId, text) {
      if (messageId !== current) endLine();
      current = messageId;
      out(plain(text));
      isOpen = !text.endsWith('\n');
    },
  };
}
