import { createHash } from 'node:crypto';
import { fail } from '@vestra/contract/errors';
import { jsonBytes } from '@vestra/contract/json-bytes';
import type { openai } from '@vestra/contract/openai';
import type { BodyOf } from '@vestra/contract/route';
import { userId } from '@vestra/contract/user-id';
import {
  bytesOfDataUrl,
  type ChatLine,
  type ChatQuestion,
  type ConversationMatch,
  callerTools,
  type DeclaredFunction,
  digestOf,
  forcedCall,
} from '../chat-translation/question.ts';

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

/**
 * The user for a text in `user`. OpenAI accepts any text, and some clients send an empty one. A valid id stays as it is.
 * Other text becomes a readable stem with a digest, so that the same text is always the same user and no other one.
 */
export function userIdFrom(given: string | null | undefined): string | undefined {
  if (given === null || given === undefined || given.trim() === '') return undefined;
  if (userId().safeParse(given).success) return given;
  const stem = given
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9._:@-]+/g, '-')
    .slice(0, maxStemOfUser)
    .replace(/^-+|-+$/g, '');
  return `${stem || 'user'}-${createHash('sha256').update(given).digest('hex').slice(0, 16)}`;
}

const maxStemOfUser = 80;

/** The choice of either API in one form. `names`: the functions that may be called; null: all of them. */
type ToolChoice = { mode: 'auto' | 'none' | 'required'; names: readonly string[] | null };

type WrittenChoice =
  | 'auto'
  | 'none'
  | 'required'
  | { type: 'function'; name?: unknown; function?: { name: string } }
  | { type: 'allowed_tools'; mode?: unknown; tools?: unknown; allowed_tools?: { mode: string; tools: unknown[] } }
  | null
  | undefined;

/** Reads `tool_choice` of chat completions and of responses, which nests the names differently. */
function readToolChoice(given: WrittenChoice): ToolChoice {
  if (given === null || given === undefined) return { mode: 'auto', names: null };
  if (typeof given === 'string') return { mode: given, names: null };
  if (given.type === 'function') return { mode: 'required', names: [nameIn(given)] };
  const { mode, tools } = given.allowed_tools ?? (given as { mode: string; tools: unknown[] });
  return { mode: mode === 'required' ? 'required' : 'auto', names: tools.map(nameIn) };
}

const nameIn = (choice: unknown): string => {
  const { name, function: inner } = choice as { name?: string; function?: { name: string } };
  return inner?.name ?? name ?? '';
};

/** The functions that the agent is offered, or the schema of an answer that must be a call. */
function chosenTools(
  given: readonly DeclaredFunction[],
  { mode, names }: ToolChoice,
): Pick<ChatQuestion, 'tools' | 'briefSchema'> & { callSchema: ChatQuestion['outputSchema'] } {
  const unknown = names?.find((name) => !given.some((each) => each.name === name));
  if (unknown !== undefined) {
    throw fail('invalid_request', {
      param: 'tool_choice',
      message: `\`${unknown.slice(0, 100)}\` is not one of \`tools\`.`,
    });
  }
  const allowed = names === null ? given : given.filter(({ name }) => names.includes(name));
  if (mode !== 'required') return { tools: callerTools(mode === 'none' ? [] : allowed), callSchema: undefined };
  const [only] = allowed;
  if (!only) {
    throw fail('invalid_request', { param: 'tool_choice', message: 'Send `tools` for the call that is required.' });
  }
  const isOne = allowed.every(({ name }) => name === only.name);
  // An open turn that waits for results continues with the names under which its functions were declared.
  const namesHere = { ...callerTools(given).names, [forcedCall]: isOne ? only.name : '' };
  const tools = { declared: [], names: namesHere };
  return isOne ? { tools, callSchema: schemaOf(only) } : { tools, ...schemasOfChoice(allowed) };
}

type Schema = Record<string, unknown>;

/** The answer is the arguments. The description tells the model what they are for. */
const schemaOf = (called: DeclaredFunction): Schema => ({
  ...called.parameters,
  type: 'object',
  description: `The arguments for a call of the function \`${called.name}\`.${aboutOf(called)}`,
});

const aboutOf = ({ description }: DeclaredFunction) =>
  description?.trim() ? ` ${description.trim().slice(0, maxAbout).toWellFormed()}` : '';

const maxAbout = 4000;

/** The limit of `output_schema`. */
const maxSchemaBytes = 32 * 1024;

/** The answer names a function and has its arguments. The brief schema is used if the whole one is too large. */
function schemasOfChoice(functions: readonly DeclaredFunction[]): { callSchema: Schema; briefSchema: Schema } {
  const briefSchema = choiceOf(functions, (each) => ({ $defs: {}, schema: fieldsOf(each) }));
  if (jsonBytes(briefSchema) > maxSchemaBytes) {
    throw fail('output_schema_too_large', {
      param: 'tool_choice',
      message: `A required call of one of these functions needs a schema of more than ${maxSchemaBytes / 1024} KB: name one function, or send fewer.`,
    });
  }
  const whole = choiceOf(functions, argumentsIn);
  return { callSchema: jsonBytes(whole) <= maxSchemaBytes ? whole : briefSchema, briefSchema };
}

type Arguments = { schema: Schema; $defs: Schema };

function choiceOf(
  functions: readonly DeclaredFunction[],
  argumentsOf: (each: DeclaredFunction, prefix: string) => Arguments,
): Schema {
  const parts = functions.map((each, at) => ({ each, ...argumentsOf(each, `f${at}_`) }));
  const $defs = Object.assign({}, ...parts.map((part) => part.$defs)) as Schema;
  const calls = parts.map(({ each, schema }) => ({
    type: 'object',
    description: `A call of \`${each.name}\`.${aboutOf(each).slice(0, 1000).toWellFormed()}`,
    properties: { function: { type: 'string', enum: [each.name] }, arguments: schema },
    required: ['function', 'arguments'],
    additionalProperties: false,
  }));
  return {
    type: 'object',
    description: 'The one function to call now, with its arguments.',
    properties: { call: { anyOf: calls } },
    required: ['call'],
    additionalProperties: false,
    ...(Object.keys($defs).length > 0 && { $defs }),
  };
}

/**
 * The parameters below another root: their definitions move to that root under names with a prefix. Other references
 * cannot be moved, so that only the names of the arguments are left.
 */
function argumentsIn(each: DeclaredFunction, prefix: string): Arguments {
  const { $defs, definitions, $schema, $id, ...schema } = (each.parameters ?? {}) as Record<string, Schema | undefined>;
  let isMoved = true;
  const moved = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(moved);
    if (typeof node !== 'object' || node === null) return node;
    return Object.fromEntries(
      Object.entries(node).map(([key, value]) => {
        if (key !== '$ref' || typeof value !== 'string') return [key, moved(value)];
        const name = /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(value)?.[1];
        isMoved &&= name !== undefined;
        return [key, `#/$defs/${prefix}${name}`];
      }),
    );
  };
  const shared = Object.entries({ ...definitions, ...$defs }).map(([name, value]) => [prefix + name, moved(value)]);
  const own = { ...(moved(schema) as Schema), type: 'object' };
  return isMoved ? { schema: own, $defs: Object.fromEntries(shared) } : { schema: fieldsOf(each), $defs: {} };
}

/** Only the names of the arguments, which cost no subschemas. The client checks their values. */
const fieldsOf = ({ parameters }: DeclaredFunction): Schema => ({
  type: 'object',
  description: `Its arguments: ${Object.keys((parameters?.properties ?? {}) as object).join(', ')}`,
  ...(Array.isArray(parameters?.required) && { required: parameters.required }),
});
