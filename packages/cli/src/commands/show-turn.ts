import type { Client } from '@vestra/sdk/client';
import type { AskOptions } from '@vestra/sdk/commands/ask';
import type { Interaction, Message, Turn } from '@vestra/sdk/resources';
import type { StreamEvent } from '@vestra/sdk/stream';
import { type MarkdownPainter, markdownPainter } from '../output/markdown.ts';
import { plain, showMoney, showValue } from '../output/show-value.ts';
import type { Terminal } from '../terminal.ts';
import { askPerson, howToAnswer, isForPerson, showInteraction } from './interaction.ts';

/**
 * Shows a turn as it happens: the reply on standard output, everything else on standard error, and a spinner while
 * waiting. In a terminal it asks the user the agent's questions; elsewhere the command ends and prints how to answer.
 */
export function turnShownAt(
  terminal: Terminal,
  client: Client,
): Required<Pick<AskOptions, 'onEvent' | 'onWait' | 'onHint'>> & { end: () => void } {
  const page = pageOf(terminal);
  const spinner = spinnerAt(terminal);
  const think = () => page.isOpen() || spinner.show('Thinking');
  let isPrompting = false;
  think();
  return {
    async onEvent(event) {
      if (event.type === 'turn.settled') {
        spinner.hide();
        page.endLine();
        return sayEnd(terminal, event.data.turn);
      }
      if (!isShown(event)) return;
      spinner.hide();
      show(terminal, page, event);
      if (event.type === 'reply.completed') await showSources(terminal, client, event.data.message);
      think();
    },
    async onWait(interaction) {
      spinner.hide();
      page.endLine();
      isPrompting = true;
      const isFollowed = await isFollowedOn(terminal, client, interaction);
      isPrompting = false;
      if (isFollowed) think();
      return isFollowed;
    },
    onHint(hint) {
      if (isPrompting) return false;
      spinner.hide();
      page.endLine();
      terminal.err(`${terminal.paintError('yellow', '!')} ${plain(hint)}\n`);
      think();
      return true;
    },
    end: () => spinner.hide(),
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

/** The documents behind the marks of a reply, such as `[1]`. The reply is whole without them. */
async function showSources(
  terminal: Terminal,
  client: Client,
  { id, conversation_id, sources = [] }: Message,
): Promise<void> {
  if (sources.length === 0) return;
  const call = { signal: terminal.signal };
  const read = await client.conversations.messageSources({ conversation_id, message_id: id }, call).catch(() => null);
  for (const { mark, title, heading, page } of read?.data ?? []) {
    const place = [title, heading, page === null ? '' : `page ${page}`].filter(Boolean).join(', ');
    terminal.err(terminal.paintError('dim', `[${mark}] ${plain(place)}\n`));
  }
}

/** Activity besides the reply, in a few words. */
function asideOf({ type, data }: StreamEvent): string | null {
  switch (type) {
    case 'task.started':
      return `working: ${data.task.title}`;
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

/** Whether to keep following the turn: a user at a terminal answers, or waits for somebody else to. */
async function isFollowedOn(terminal: Terminal, client: Client, interaction: Interaction): Promise<boolean> {
  if (!terminal.isInteractive || !isForPerson(interaction)) {
    showPending(terminal, interaction);
    return terminal.isInteractive;
  }
  terminal.err(showInteraction(terminal, interaction));
  const answer = await askPerson(interaction);
  await client.interactions.answer({ interaction_id: interaction.id, ...answer }, { signal: terminal.signal });
  return true;
}

/** A pending interaction, with the commands that answer it. */
export function showPending(terminal: Terminal, interaction: Interaction): void {
  terminal.err(showInteraction(terminal, interaction));
  for (const command of howToAnswer(interaction)) terminal.err(`  ${command}\n`);
}

function sayEnd(terminal: Terminal, { conversation_id, status, cost_usd, error }: Turn): void {
  if (error) terminal.err(`${terminal.paintError('red', '✖')} ${plain(error.message)} (${plain(error.code)})\n`);
  else if (status === 'stopped') terminal.err('Stopped.\n');
  terminal.err(terminal.paintError('dim', `${conversation_id} · ${showMoney(cost_usd)}\n`));
}

type Page = { write: (messageId: string, text: string) => void; endLine: () => void; isOpen: () => boolean };

/**
 * Keeps the streamed reply and other messages on separate lines. A terminal shows styled Markdown, a pipe receives the
 * source.
 */
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

/** Shows the tools that a reply called, with durations. Its events do not contain them. */
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

type Spinner = {
  /** Shows that something is running, until `hide`. */
  show: (words: string) => void;
  /** Removes the line, so that something else can be printed. */
  hide: () => void;
};

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const clearLine = '\r\u001b[K';

/** An animated line on standard error while nothing else is printed; silent outside a terminal. */
function spinnerAt({ isInteractive, err, paintError }: Terminal): Spinner {
  if (!isInteractive) return { show: () => {}, hide: () => {} };
  let timer: NodeJS.Timeout | null = null;
  return {
    show(words) {
      if (timer) clearInterval(timer);
      const startedAt = performance.now();
      let frame = 0;
      const draw = () => {
        const seconds = Math.floor((performance.now() - startedAt) / 1000);
        const time = seconds > 0 ? ` ${seconds} s` : '';
        err(`${clearLine}${paintError('dim', `${frames[frame++ % frames.length]} ${words}${time}`)}`);
      };
      draw();
      timer = setInterval(draw, 100).unref();
    },
    hide() {
      if (!timer) return;
      clearInterval(timer);
      timer = null;
      err(clearLine);
    },
  };
}
