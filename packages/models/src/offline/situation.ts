import type { Message, ToolCall, ToolResult } from '@vestra/agent/message';
import type { ModelRequest } from '@vestra/agent/model';

/** What the model finds when it is called: the last thing a person said, and what has come of it since. */
export type Situation = {
  /** What the person said last. */
  asked: string;
  /** What they said before, the newest first. */
  earlier: string[];
  /** Calls since then, with their results. */
  done: { call: ToolCall; result: ToolResult }[];
  /** Every call of the conversation, for ids that do not come twice. */
  callCount: number;
  /** Whether an earlier answer holds these words. */
  hasSaid: (words: string) => boolean;
};

export function situationOf({ messages }: ModelRequest): Situation {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const since = messages.slice(last + 1);
  const results = new Map(
    since
      .flatMap((each) => (each.role === 'tool' ? each.results : []))
      .map((each) => [each.callId, { ...each, output: withoutFence(each.output) }]),
  );
  const done = since
    .flatMap((each) => (each.role === 'agent' ? each.calls : []))
    .flatMap((call) => {
      const result = results.get(call.id);
      return result ? [{ call, result }] : [];
    });
  return {
    asked: textOf(messages[last]),
    earlier: messages
      .slice(0, Math.max(0, last))
      .filter(({ role }) => role === 'user')
      .map(textOf)
      .reverse(),
    done,
    callCount: messages.reduce((count, each) => count + (each.role === 'agent' ? each.calls.length : 0), 0),
    hasSaid: (words) => messages.some((each) => each.role === 'agent' && each.text.includes(words)),
  };
}

export function textOf(message: Message | undefined): string {
  if (message?.role === 'agent') return message.text;
  if (message?.role !== 'user') return '';
  return message.parts
    .flatMap((part) => (part.kind === 'text' && !part.isPassing ? [withoutFence(part.text)] : []))
    .join('\n')
    .trim();
}

/** The marks around data of others are for models that follow instructions; this one follows none, and quotes the data. */
function withoutFence(text: string): string {
  return text.replace(/<data-([0-9a-f]{24}) of="[^"]*">\n([\s\S]*?)\n<\/data-\1>/g, '$2');
}
