import type { Message, ToolCall, ToolResult } from '@vestra/agent/message';
import type { ModelRequest } from '@vestra/agent/model';

/** A call and what came of it. */
export type Deed = { call: ToolCall; result: ToolResult };

/** What the model finds when it is called: the last thing a person said, and what has come of it since. */
export type Situation = {
  /** What the person said last, with the files that came with it. */
  asked: string;
  /** The same without the files. */
  question: string;
  /** The files that came with it, and what the caller's system said about it. */
  enclosed: string[];
  /** What is remembered about the person. */
  memory: string[];
  /** What they said before, the newest first. */
  earlier: string[];
  /** Calls since then, with their results. */
  done: Deed[];
  /** Calls of earlier turns, the newest first. */
  doneBefore: Deed[];
  /** Every call of the conversation, for ids that do not come twice. */
  callCount: number;
  /** Whether an earlier answer holds these words. */
  hasSaid: (words: string) => boolean;
};

export function situationOf({ messages }: ModelRequest): Situation {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const before = messages.slice(0, Math.max(0, last));
  const said = rawTextOf(messages[last], false);
  const passing = dataIn(rawTextOf(messages[last], true));
  const dataOf = (label: string) => passing.filter((each) => each.label === label).map(({ text }) => text);
  return {
    asked: textOf(messages[last]),
    question: said.replace(fenced, '').trim(),
    enclosed: [...dataIn(said).map(({ text }) => text), ...dataOf('context')],
    memory: dataOf('memory').flatMap((text) => text.split('\n').map((line) => line.replace(/^- /, ''))),
    earlier: before
      .filter(({ role }) => role === 'user')
      .map(textOf)
      .reverse(),
    done: deedsIn(messages.slice(last + 1)),
    doneBefore: deedsIn(before).reverse(),
    callCount: messages.reduce((count, each) => count + (each.role === 'agent' ? each.calls.length : 0), 0),
    hasSaid: (words) => messages.some((each) => each.role === 'agent' && each.text.includes(words)),
  };
}

function deedsIn(messages: readonly Message[]): Deed[] {
  const results = new Map(
    messages
      .flatMap((each) => (each.role === 'tool' ? each.results : []))
      .map((each) => [each.callId, { ...each, output: withoutFence(each.output) }]),
  );
  return messages
    .flatMap((each) => (each.role === 'agent' ? each.calls : []))
    .flatMap((call) => {
      const result = results.get(call.id);
      return result ? [{ call, result }] : [];
    });
}

export function textOf(message: Message | undefined): string {
  return message?.role === 'agent' ? message.text : withoutFence(rawTextOf(message, false)).trim();
}

/** Its own text, or what holds for this request alone. */
function rawTextOf(message: Message | undefined, isPassing: boolean): string {
  if (message?.role !== 'user') return '';
  return message.parts
    .flatMap((part) => (part.kind === 'text' && (part.isPassing ?? false) === isPassing ? [part.text] : []))
    .join('\n');
}

const fenced = /<data-([0-9a-f]{24}) of="([^"]*)">\n([\s\S]*?)\n<\/data-\1>/g;

const dataIn = (text: string) =>
  [...text.matchAll(fenced)].map((match) => ({ label: match[2] as string, text: match[3] as string }));

/** The marks around data of others are for models that follow instructions; this one follows none, and quotes the data. */
export const withoutFence = (text: string): string => text.replace(fenced, '$3');
