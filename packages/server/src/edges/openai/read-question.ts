import { fail } from '@vestra/contract/errors';
import type { openai } from '@vestra/contract/openai';
import type { BodyOf } from '@vestra/contract/route';
import {
  bytesOfDataUrl,
  type ChatLine,
  type ChatQuestion,
  type ConversationMatch,
  digestOf,
} from '../chat-translation/question.ts';
import { chosenTools, readToolChoice } from './tool-choice.ts';
import { userIdFrom } from './user-id.ts';

type ChatBody = BodyOf<(typeof openai)['chat']>;
type ResponseBody = BodyOf<(typeof openai)['respond']>;
type InputItem = Exclude<ResponseBody['input'], string>[number];

const nothing = {
  message: '',
  files: [],
  fileIds: [],
  toolResults: [],
  answers: [],
  earlier: [],
  system: '',
  previous: undefined,
  conversation: undefined,
};

export function readChat(body: ChatBody): ChatQuestion {
  const { messages, model, tools, tool_choice, response_format: format } = body;
  const functions = (tools ?? []).map((tool) => tool.function);
  const { callSchema, ...chosen } = chosenTools(functions, readToolChoice(tool_choice));
  const answered = messages.findLastIndex(({ role }) => role === 'assistant');
  const heard = readMessages(messages.slice(0, answered + 1));
  const fresh = readMessages(messages.slice(answered + 1));
  if (fresh.isEmpty) {
    throw fail('invalid_request', { param: 'messages', message: 'The last message must be the user’s, or a tool’s.' });
  }
  return {
    ...nothing,
    model,
    user: userOf(body),
    message: joined(fresh.said.map(({ text }) => text)),
    files: fresh.files,
    fileIds: fresh.fileIds,
    toolResults: fresh.toolResults,
    earlier: heard.said,
    system: joined([...heard.system, ...fresh.system]),
    ...chosen,
    outputSchema: callSchema ?? formatSchema(format?.type, format?.type === 'json_schema' && format.json_schema.schema),
    metadata: body.metadata ?? undefined,
    match: matchOf(body, heard.said),
  };
}

export function readResponse(body: ResponseBody): ChatQuestion {
  const { input, model, tools, tool_choice, instructions, text, conversation } = body;
  const items: InputItem[] = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  const answered = items.findLastIndex(isOfAgent);
  const heard = readItems(items.slice(0, answered + 1));
  const fresh = readItems(items.slice(answered + 1));
  if (fresh.isEmpty) {
    throw fail('invalid_request', { param: 'input', message: 'The last item must be the user’s, or answer a call.' });
  }
  const format = text?.format;
  const { callSchema, ...chosen } = chosenTools(tools ?? [], readToolChoice(tool_choice));
  return {
    ...nothing,
    model,
    user: userOf(body),
    message: joined(fresh.said.map((each) => each.text)),
    files: fresh.files,
    fileIds: fresh.fileIds,
    toolResults: fresh.toolResults,
    answers: fresh.approvals.map(({ id, approve }) => ({ id, answer: { approve, ...presentIn(body) } })),
    earlier: heard.said,
    system: joined([instructions ?? '', ...heard.system, ...fresh.system]),
    ...chosen,
    outputSchema: callSchema ?? formatSchema(format?.type, format?.type === 'json_schema' && format.schema),
    metadata: body.metadata ?? undefined,
    match: matchOf(body, heard.said),
    previous: body.previous_response_id ?? undefined,
    conversation: (typeof conversation === 'string' ? conversation : conversation?.id) ?? undefined,
  };
}

const formatSchema = (type: string | undefined, schema: Record<string, unknown> | false) =>
  schema || (type === 'json_object' ? { type: 'object' } : undefined);

const userOf = ({ user, safety_identifier }: Pick<ChatBody, 'user' | 'safety_identifier'>): string | undefined =>
  userIdFrom(user) ?? userIdFrom(safety_identifier);

/** The client states that a present user approved. Neither format has a field for it. */
const presentIn = ({ metadata }: Pick<ChatBody, 'metadata'>) =>
  metadata?.present_user === 'true' ? { present_user: true } : {};

/** Finds the conversation by its earlier messages. */
const matchOf = (
  body: Pick<ChatBody, 'user' | 'safety_identifier'> & { model?: string | undefined },
  said: readonly ChatLine[],
): ConversationMatch | undefined => {
  if (said.length === 0) return undefined;
  if (said.reduce((sum, { text }) => sum + text.length, 0) > maxHistory) {
    throw fail('body_too_large', { message: `The earlier messages may have at most ${maxHistory} characters.` });
  }
  return { digest: conversationDigest({ model: body.model, user: userOf(body) }, said), isWhole: true };
};

/** More than any model reads at once. */
const maxHistory = 4_000_000;

const joined = (texts: readonly string[]) => texts.filter((text) => text.trim() !== '').join('\n\n');

type ReadMessages = Pick<ChatQuestion, 'files' | 'fileIds' | 'toolResults'> & {
  approvals: { id: string; approve: boolean }[];
  said: ChatLine[];
  system: string[];
  isEmpty: boolean;
};

const readNothing = (): ReadMessages => ({
  said: [],
  system: [],
  files: [],
  fileIds: [],
  toolResults: [],
  approvals: [],
  isEmpty: true,
});

function readMessages(messages: ChatBody['messages']): ReadMessages {
  const read = readNothing();
  for (const message of messages) {
    if (message.role === 'system' || message.role === 'developer') {
      read.system.push(textOf(message.content));
      continue;
    }
    read.isEmpty = false;
    if (message.role === 'tool') {
      read.toolResults.push({ call_id: message.tool_call_id, output: textOf(message.content) });
    } else if (message.role === 'assistant') {
      read.said.push({ role: 'assistant', text: textOf(message.content ?? '') });
    } else {
      read.said.push({ role: 'user', text: textOf(message.content) });
      for (const part of typeof message.content === 'string' ? [] : message.content) {
        if (part.type === 'image_url') takeFile(read, { file_data: part.image_url.url });
        if (part.type === 'file') takeFile(read, part.file);
      }
    }
  }
  return read;
}

const isOfAgent = (item: InputItem) => item.type === 'function_call' || ('role' in item && item.role === 'assistant');

function readItems(items: readonly InputItem[]): ReadMessages {
  const read = readNothing();
  for (const item of items) {
    if ('role' in item) {
      const { role, content } = item as Extract<InputItem, { role: unknown }>;
      if (role === 'system' || role === 'developer') {
        read.system.push(textOf(content));
        continue;
      }
      read.isEmpty = false;
      read.said.push({ role, text: textOf(content) });
      for (const part of typeof content === 'string' ? [] : content) {
        if (part.type === 'input_image') takeFile(read, { file_data: part.image_url });
        if (part.type === 'input_file') takeFile(read, part);
      }
    } else if (item.type === 'function_call_output') {
      const { call_id, output } = item as Extract<InputItem, { type: 'function_call_output' }>;
      read.isEmpty = false;
      read.toolResults.push({ call_id, output: textOf(output) });
    } else if (item.type === 'mcp_approval_response') {
      const { approval_request_id: id, approve } = item as Extract<InputItem, { type: 'mcp_approval_response' }>;
      read.isEmpty = false;
      read.approvals.push({ id, approve });
    }
  }
  return read;
}

type Content = string | readonly { type: string; text?: unknown }[];

const textOf = (content: Content): string =>
  typeof content === 'string'
    ? content
    : joined(content.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])));

type FileField = {
  file_data?: string | null | undefined;
  file_id?: string | null | undefined;
  filename?: string | null | undefined;
};

function takeFile(read: ReadMessages, { file_data, file_id, filename }: FileField): void {
  if (file_id) read.fileIds.push(file_id);
  if (!file_data) return;
  const { mediaType, bytes } = bytesOfDataUrl(file_data);
  const ending = mediaType.split(/[/+;]/)[1] ?? 'bin';
  read.files.push({ filename: filename || `file-${read.files.length + 1}.${ending}`, mediaType, bytes });
}

/** Ignores white space around each message. */
export function conversationDigest(
  { model, user }: Pick<ChatQuestion, 'model' | 'user'>,
  said: readonly ChatLine[],
): string {
  const words = said.map(({ role, text }) => [role, text.trim()]).filter(([, text]) => text !== '');
  return digestOf([model ?? null, user ?? null, words]);
}
