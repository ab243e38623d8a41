import type { Client } from '@vestra/sdk/client';
import type { AskOptions } from '@vestra/sdk/commands/ask';
import type { Interaction, Turn } from '@vestra/sdk/resources';
import type { StreamEvent } from '@vestra/sdk/stream';
import { type MarkdownPainter, markdownPainter } from '../output/markdown.ts';
import { plain, showMoney, showValue } from '../output/show-value.ts';
import { spinnerAt } from '../output/spinner.ts';
import type { Terminal } from '../terminal.ts';
import { askPerson, howToAnswer, isForPerson, showInteraction } from './interaction.ts';

/**
 * Shows a turn as it happens: the reply on standard output as it is written, what goes on beside it on standard error,
 * and while nothing does, that the agent thinks. At a terminal the person is asked what the agent asks; elsewhere the command ends and says how to answer. `isServed`: a
 * function that is answered beside this.
 */
export function turnShownAt(
  terminal: Terminal,
  client: Client,
  isServed: (functionName: string) => boolean = () => false,
): Required<Pick<AskOptions, 'onEvent' | 'onWait'>> & { end: () => void } {
  const page = pageOf(terminal);
  const spinner = spinnerAt(terminal);
  const think = () => page.isOpen() || spinner.show('Thinking');
  think();
  return {
    onEvent(event) {
      if (event.type === 'turn.settled') {
        spinner.hide();
        page.endLine();
        return sayEnd(terminal, event.data.turn);
      }
      if (!isShown(event)) return;
      spinner.hide();
      show(terminal, page, event);
      think();
    },
    async onWait(interaction) {
      spinner.hide();
      page.endLine();
      if (interaction.type === 'tool_call' && isServed(interaction.details.tool_name)) return true;
      const isGoingOn = await isFollowedOn(terminal, client, interaction);
      if (isGoingOn) think();
      return isGoingOn;
    },
    end: spinner.hide,
  };
}

const isShown = (event: StreamEvent) =>
  event.type === 'reply.delta' || event.type === 'reply.completed' || asideOf(event) !== null;

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

type Page = { write: (messageId: string, text: string) => void; endLine: () => void; isOpen: () => boolean };

/** Keeps what streams and what is said beside it on lines of their own. A terminal shows Markdown, a pipe gets it. */
function pageOf({ out, columns, paint }: Terminal): Page {
  const isStyled = columns !== null && paint('bold', '.') !== '.';
  let isOpen = false;
  let current = '';
  let reply: MarkdownPainter | null = null;
  const say = (text: string) => {
    if (text === '') return;
    out(text);
    isOpen = !text.endsWith('\n');
  };
  const endLine = () => {
    say(reply?.end() ?? '');
    reply = null;
    if (isOpen) out('\n');
    isOpen = false;
  };
  return {
    endLine,
    isOpen: () => isOpen,
    write(messageId, text) {
      if (messageId !== current) endLine();
      current = messageId;
      if (isStyled) reply ??= markdownPainter(paint);
      say(reply ? reply.write(plain(text)) : plain(text));
    },
  };
}

/** The tools that a reply has called, which its events do not tell of: a line each, with how long it took. */
export async function showTools(
  terminal: Terminal,
  client: Client,
  { conversation_id, id }: Pick<Turn, 'conversation_id' | 'id'>,
): Promise<void> {
  const { steps } = await client.conversations.trace({ conversation_id, turn_id: id }, { signal: terminal.signal });
  for (const step of steps) {
    const mark = step.is_error ? terminal.paintError('red', '✖') : '·';
    const took = step.duration_ms === null ? '' : ` (${showValue('_ms', step.duration_ms)})`;
    terminal.err(`${mark} ${terminal.paintError('dim', `${plain(stepOf(step))}${took}`)}\n`);
  }
}
