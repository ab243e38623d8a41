import type { agUi } from '@vestra/contract/ag-ui';
import { fail } from '@vestra/contract/errors';
import type { BodyOf } from '@vestra/contract/route';
import { bytesOfBase64 } from '../chat-translation/base64.ts';
import { callerTools } from '../chat-translation/caller-tools.ts';
import {
  digestOf,
  type GivenAnswer,
  type GivenFile,
  type Question,
  type TalkLine,
} from '../chat-translation/question.ts';

export type RunInput = BodyOf<(typeof agUi)['run']>;
type Message = RunInput['messages'][number];
type UserMessage = Extract<Message, { role: 'user' }>;
type Content = UserMessage['content'];

/** A thread is a conversation; what it has heard of the messages that a client sends whole is known there. */
export function readRun(input: RunInput, of: { deploymentId: string; user: string | undefined }): Question {
  const { messages, tools, context, resume = [], threadId } = input;
  const answered = messages.findLastIndex(({ role }) => role !== 'user' && role !== 'tool' && !isOfSystem(role));
  const fresh = messages.slice(answered + 1);
  const said = fresh.filter((each): each is UserMessage => each.role === 'user');
  const toolResults = fresh.flatMap((each) => {
    if (each.role !== 'tool') return [];
    const { toolCallId: call_id, error, content } = each as Extract<Message, { role: 'tool' }>;
    return [error ? { call_id, error } : { call_id, output: textOf(content) }];
  });
  if (said.length === 0 && toolResults.length === 0 && resume.length === 0) {
    throw fail('invalid_request', {
      param: 'messages',
      message:
        'Nothing is asked: the last message must be the user’s or a tool’s, or `resume` must answer an interrupt.',
    });
  }
  const system = messages.flatMap((each) =>
    isOfSystem(each.role) ? [String((each as { content: string }).content)] : [],
  );
  const facts = context.map(({ description, value }) => `${description}: ${value}`);
  return {
    model: of.deploymentId,
    user: of.user,
    message: said.map(({ content }) => textOf(content)).join('\n\n'),
    files: said.flatMap(({ content }) => filesOf(content)),
    fileIds: said.flatMap(({ content }) => fileIdsOf(content)),
    toolResults,
    answers: resume.map(readAnswer),
    earlier: messages.slice(0, answered + 1).flatMap(saidIn),
    system: [...system, ...facts].join('\n\n'),
    tools: callerTools(tools, 'auto'),
    outputSchema: undefined,
    metadata: undefined,
    previous: undefined,
    conversation: undefined,
    talk: { digest: threadDigest(of, threadId), isWhole: false },
  };
}

/** A client's thread is its own deployment's and user's. */
export const threadDigest = (
  { deploymentId, user }: { deploymentId: string; user: string | undefined },
  threadId: string,
) => digestOf(['ag-ui', deploymentId, user ?? null, threadId]);

const isOfSystem = (role: Message['role']) => role === 'system' || role === 'developer';

function saidIn(message: Message): TalkLine[] {
  if (message.role === 'user') return [{ role: 'user', text: textOf((message as UserMessage).content) }];
  if (message.role !== 'assistant') return [];
  const text = (message as { content?: string | null }).content ?? '';
  return text === '' ? [] : [{ role: 'assistant', text }];
}

const textOf = (content: Content): string =>
  typeof content === 'string'
    ? content
    : content.flatMap((part) => (part.type === 'text' ? [String(part.text)] : [])).join('\n\n');

const sourcesIn = (content: Content) =>
  typeof content === 'string'
    ? []
    : content.flatMap((part) => ('source' in part && part.type !== 'text' ? [part.source as Source] : []));

type Source = { type: 'data'; value: string; mimeType: string } | { type: 'file'; value: string };

const fileIdsOf = (content: Content): string[] =>
  sourcesIn(content).flatMap((source) => (source.type === 'file' ? [source.value] : []));

const filesOf = (content: Content): GivenFile[] =>
  sourcesIn(content).flatMap((source, at) => {
    if (source.type !== 'data') return [];
    const ending = source.mimeType.split(/[/+;]/)[1] ?? 'bin';
    const bytes = bytesOfBase64(source.value);
    return [{ filename: `file-${at + 1}.${ending}`, mediaType: source.mimeType, bytes }];
  });

/** The payload is what the interrupt's `responseSchema` asked for. */
function readAnswer({ interruptId: id, status, payload }: NonNullable<RunInput['resume']>[number]): GivenAnswer {
  if (status === 'cancelled') return { id, answer: 'cancel' };
  if (typeof payload === 'boolean') return { id, answer: { approve: payload } };
  if (typeof payload === 'string') return { id, answer: { answers: [payload] } };
  return { id, answer: (payload ?? {}) as Exclude<GivenAnswer['answer'], string> };
}
