import type { Message, ToolCall, ToolResult } from '@vestra/agent/message';
import type { ModelRequest } from '@vestra/agent/model';

/** A call and its result. */
export type Deed = { call: ToolCall; result: ToolResult };

/** The state of a conversation: the user's last message, and everything since. */
export type Situation = {
  /** The user's last message, with its files. */
  asked: string;
  /** The same without the files. */
  question: string;
  /** The files of the last message. */
  enclosed: string[];
  /** The files of earlier messages, newest first. */
  enclosedBefore: string[];
  /** Memory about the user. */
  memory: string[];
  /** The user's earlier messages, newest first. */
  earlier: string[];
  /** The same without the files. */
  saidBefore: string[];
  /** Reports of ended tasks, newest first. */
  endedWork: string[];
  /** Running tasks, and questions that wait for the user, a line each. */
  openWork: string[];
  openQuestions: string[];
  /** Calls since the last message, with their results. */
  done: Deed[];
  /** Calls of earlier turns, newest first. */
  doneBefore: Deed[];
  /** The number of calls in the conversation, for unique ids. */
  callCount: number;
  /** Whether an earlier answer contains these words. */
  hasSaid: (words: string) => boolean;
};

export function situationOf({ messages }: ModelRequest): Situation {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const before = messages.slice(0, Math.max(0, last));
  const said = rawTextOf(messages[last], false);
  const passing = dataIn(rawTextOf(messages[last], true));
  const linesOf = (label: string) =>
    passing
      .filter((each) => each.label === label)
      .flatMap(({ text }) => text.split('\n').map((line) => line.replace(/^- /, '')));
  const heard = before
    .filter(({ role }) => role === 'user')
    .reverse()
    .map((message) => ({ message, data: dataIn(rawTextOf(message, false)) }));
  return {
    asked: textOf(messages[last]),
    question: said.replace(fenced, '').trim(),
    enclosed: dataIn(said).map(({ text }) => text),
    enclosedBefore: heard.flatMap(({ data }) => data.filter(({ label }) => isFile.test(label)).map(({ text }) => text)),
    memory: linesOf('memory'),
    earlier: heard.filter(({ data }) => !data.some(isOfWork)).map(({ message }) => textOf(message)),
    saidBefore: heard.map(({ message }) => rawTextOf(message, false).replace(fenced, '').trim()),
    endedWork: heard.flatMap(({ data }) => data.filter(isOfWork).map(({ text }) => text)),
    openWork: linesOf('open work'),
    openQuestions: linesOf('open questions'),
    done: deedsIn(messages.slice(last + 1)),
    doneBefore: deedsIn(before).reverse(),
    callCount: messages.reduce((count, each) => count + (each.role === 'agent' ? each.calls.length : 0), 0),
    hasSaid: (words) => messages.some((each) => each.role === 'agent' && each.text.includes(words)),
  };
}

const isFile = /^file /;
const isOfWork = ({ label }: { label: string }) => label === 'work';

/** A call is next to its result. Ids may repeat in another turn. */
function deedsIn(messages: readonly Message[]): Deed[] {
  return messages.flatMap((message, at) => {
    const next = messages[at + 1];
    if (message.role !== 'agent' || next?.role !== 'tool') return [];
    return message.calls.flatMap((call) => {
      const result = next.results.find(({ callId }) => callId === call.id);
      return result ? [{ call, result: { ...result, output: toldBy(result) } }] : [];
    });
  });
}

/** The tool's own output, without the platform's notes about the call. */
function toldBy({ output }: ToolResult): string {
  const data = dataIn(output);
  return data.length === 0 ? output : data.map(({ text }) => text).join('\n');
}

export function textOf(message: Message | undefined): string {
  return message?.role === 'agent' ? message.text : withoutFence(rawTextOf(message, false)).trim();
}

/** The user's text, or the part that holds for this request only. */
function rawTextOf(message: Message | undefined, isPassing: boolean): string {
  if (message?.role !== 'user') return '';
  return message.parts
    .flatMap((part) => (part.kind === 'text' && (part.isPassing ?? false) === isPassing ? [part.text] : []))
    .join('\n');
}

const fenced = /<data-([0-9a-f]{24}) of="([^"]*)">\n([\s\S]*?)\n<\/data-\1>/g;

const dataIn = (text: string) =>
  [...text.matchAll(fenced)].map((match) => ({ label: match[2] as string, text: match[3] as string }));

/** The fence around data is for models that follow instructions. This one follows none, and quotes the data. */
export const withoutFence = (text: string): string => text.replace(fenced, '$3');
