import { randomUUID } from 'node:crypto';
import type { AgentMessage, Message, ToolResult, UserPart } from '@vestra/agent/message';
import type { Usage } from '@vestra/agent/model';
import { vendorErrorOf } from '../fault.ts';
import { piecesOf, think, writeText } from '../reasoning.ts';
import { countOf, dataUrlOf, type JsonRecord, listOf, recordOf, textOf } from './json.ts';
import { effortForCompatible } from './reasoning-level.ts';
import { createThinkTags, type ThinkFilter } from './think-tags.ts';
import { doneMark, mediaOf, type Wire, type WireAnswer, type WireRequest, type WrittenCall } from './wire.ts';

/**
 * Chat completions, as in OpenAI's older endpoint and all servers like it: POST …/chat/completions. Each model has its
 * own, which learns whether the model writes reasoning into its text.
 */
export function createCompatibleWire(): Wire {
  const tags = createThinkTags();
  return {
    body,
    spare,
    reader: (answer, { modelId }) => createReader(answer, tags.filter(answer, modelId)),
    onWritten: tags.onWritten,
  };
}

const body: Wire['body'] = ({
  modelId,
  system,
  messages,
  tools,
  output,
  maxOutputTokens,
  reasoning,
  isReasoningLeftOut,
}) => ({
  model: modelId,
  stream: true,
  stream_options: { include_usage: true },
  max_tokens: maxOutputTokens,
  ...effortForCompatible({ reasoning }),
  messages: [
    // A single message: the chat templates of Qwen 3.5 and others reject a second one.
    ...(system.length > 0 ? [{ role: 'system', content: system.join('\n\n') }] : []),
    ...inTemplateOrder(messages.flatMap((message) => messagesOf(message, isReasoningLeftOut))),
  ],
  ...(tools.length > 0 && {
    tools: tools.map(({ name, description, inputSchema }) => ({
      type: 'function',
      function: { name, description, parameters: inputSchema },
    })),
  }),
  response_format: formatOf(output),
});

const spare: Wire['spare'] = {
  reasoning_effort: { paths: ['reasoning_effort'], named: /does not support thinking/i },
  stream_options: { paths: ['stream_options'] },
  max_tokens: { paths: ['max_tokens'], renamedTo: 'max_completion_tokens' },
  max_completion_tokens: { paths: ['max_completion_tokens'] },
};

function createReader(answer: WireAnswer, tagged: ThinkFilter): (event: unknown) => void {
  const readCallPiece = createCallPieces(answer.calls);
  const readThoughts = createThoughts(answer);
  let hasRefused = false;
  let isParsed = false;

  const write = (text: string) => {
    if (text === '') return;
    answer.text += text;
    writeText(answer, text);
  };

  function readCalls(pieces: unknown): void {
    for (const piece of listOf(pieces)) {
      const known = answer.calls.length;
      readCallPiece(recordOf(piece));
      if (answer.calls.length > known) keepCallIds(answer);
    }
  }

  /** Returns the text of the reply. Most answers contain no tags, and are written as they arrive. */
  function replyIn(delta: JsonRecord, endReason: string): string {
    const written = writtenIn(delta.content);
    if (tagged.isDone) return written;
    isParsed ||= hasThoughts(delta);
    const text = typeof delta.content === 'string' ? tagged.textIn(written, isParsed) : written;
    if (endReason === '') return text;
    const hasCalls = answer.calls.length > 0 || listOf(delta.tool_calls).length > 0;
    return text + tagged.rest(endReason !== 'length' && !hasCalls);
  }

  return (event) => {
    if (event === doneMark) {
      write(tagged.rest(answer.calls.length === 0));
      return;
    }
    const { error, usage, x_groq, choices } = recordOf(event);
    if (error) throw vendorErrorOf(error);
    const { delta: piece, message, finish_reason, usage: usageOfChoice } = recordOf(listOf(choices)[0]);
    // A server that ignores `stream` answers with a whole message.
    const delta = recordOf(piece ?? message);
    // Groq and Moonshot report usage in other fields.
    const counts = usage ?? recordOf(x_groq).usage ?? usageOfChoice;
    if (counts) answer.usage = usageOf(counts) ?? answer.usage;
    const endReason = textOf(finish_reason);
    write(replyIn(delta, endReason));
    const { refusal, tool_calls } = delta;
    if (typeof refusal === 'string' && refusal !== '') {
      write(refusal);
      hasRefused = true;
    }
    if (tool_calls !== undefined) readCalls(tool_calls);
    readThoughts(delta);
    // Counts may follow in a separate event.
    if (endReason !== '') {
      answer.end = endOf(endReason, hasRefused);
      answer.endReason = endReason;
    }
  };
}

/** Whether the server reports reasoning apart from the text. */
const hasThoughts = ({ reasoning, reasoning_content, reasoning_details }: JsonRecord): boolean =>
  textOf(reasoning) !== '' || textOf(reasoning_content) !== '' || listOf(reasoning_details).length > 0;

/** Adds a part for a new call. Calls may arrive out of order, so their ids are assigned again. */
function keepCallIds({ calls, parts }: WireAnswer): void {
  // The empty mark keeps the id even without reasoning, for models that read their own ids.
  parts.push({ kind: 'call', id: '', mark: {} });
  let at = 0;
  for (const part of parts) {
    if (part.kind !== 'call') continue;
    const { id } = calls[at++] as WrittenCall;
    part.id = isOurs(id) ? '' : id;
  }
}

const isOurs = (id: string) => /^call_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id);

function messagesOf(message: Message, isReasoningLeftOut: boolean): JsonRecord[] {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: contentOf(message.parts.map(partOf)) }];
    case 'agent': {
      const tool_calls = message.calls.map(({ id, name, arguments: given }) => ({
        id,
        type: 'function',
        function: { name, arguments: JSON.stringify(given) },
      }));
      const thoughts = thoughtsOf(message, isReasoningLeftOut);
      if (tool_calls.length === 0) return [{ role: 'assistant', content: message.text, ...thoughts }];
      return [{ role: 'assistant', content: message.text || null, tool_calls, ...thoughts }];
    }
    case 'tool':
      return [
        ...message.results.map(({ callId, output }) => ({ role: 'tool', tool_call_id: callId, content: output })),
        ...message.results.flatMap(picturesOf),
      ];
  }
}

/** Many servers accept only one text as content. */
function contentOf(parts: readonly JsonRecord[]): string | readonly JsonRecord[] {
  return parts.every(({ type }) => type === 'text') ? parts.map(({ text }) => text).join('\n\n') : parts;
}

/**
 * Chat templates reject a whole request for the order of its roles. Gemma and Mistral require user and assistant to
 * alternate, starting with the user. Mistral also rejects a user message directly after a tool result, and an assistant
 * message at the end.
 */
function inTemplateOrder(messages: readonly JsonRecord[]): JsonRecord[] {
  const ordered: JsonRecord[] = [];
  for (const message of messages) {
    const last = ordered.at(-1);
    const isSameSpeaker = last?.role === message.role && message.role !== 'tool' && last?.tool_calls === undefined;
    if (last && isSameSpeaker) {
      ordered[ordered.length - 1] = joined(last, message);
      continue;
    }
    if (!last && message.role !== 'user') ordered.push(said('user', '[The conversation begins.]'));
    if (last?.role === 'tool' && message.role === 'user') ordered.push(said('assistant', '[Results received.]'));
    ordered.push(message);
  }
  const last = ordered.at(-1);
  if (last?.role === 'assistant' && last.tool_calls === undefined) ordered.push(said('user', '[Continue.]'));
  return ordered;
}

const said = (role: string, content: string): JsonRecord => ({ role, content });

/** Merges two messages of one role. */
function joined(one: JsonRecord, other: JsonRecord): JsonRecord {
  const details = [...listOf(one.reasoning_details), ...listOf(other.reasoning_details)];
  const content = contentOf([...partsIn(one.content), ...partsIn(other.content)]);
  return { ...one, ...other, content, ...(details.length > 0 && { reasoning_details: details }) };
}

function partsIn(content: unknown): JsonRecord[] {
  if (Array.isArray(content)) return content;
  return textOf(content) === '' ? [] : [{ type: 'text', text: content }];
}

/** These endpoints accept pictures only from the user, so a text names their source. */
function picturesOf(result: ToolResult): JsonRecord[] {
  const media = mediaOf(result);
  if (media.length === 0) return [];
  const text = `[From the tool ${result.name}, not from the person: what it answered with.]`;
  const pictures = media.map(({ mediaType, content }) => ({
    type: 'image_url',
    image_url: { url: dataUrlOf(mediaType, content) },
  }));
  return [{ role: 'user', content: [{ type: 'text', text }, ...pictures] }];
}

/**
 * `reasoning_content` belongs only to calls: DeepSeek and similar endpoints reject calls without it, and others reject
 * it anywhere else. If the reasoning is unavailable, they accept an empty one.
 */
function thoughtsOf(message: AgentMessage, isLeftOut: boolean): JsonRecord {
  const hasCalls = message.calls.length > 0;
  if (isLeftOut) return hasCalls ? { reasoning_content: '' } : {};
  const items = piecesOf(message).flatMap((piece) => (piece.kind === 'thought' ? [piece.item] : []));
  const { reasoning_content, ...others }: JsonRecord = Object.assign({}, ...items);
  return { ...others, ...(hasCalls && reasoning_content !== undefined && { reasoning_content }) };
}

function partOf(part: UserPart): JsonRecord {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  const data = dataUrlOf(part.mediaType, part.bytes);
  if (part.mediaType.startsWith('image/')) return { type: 'image_url', image_url: { url: data } };
  return { type: 'file', file: { filename: part.filename, file_data: data } };
}

function formatOf(output: WireRequest['output']) {
  if (output.type === 'text') return undefined;
  if (output.type === 'json') return { type: 'json_object' };
  return { type: 'json_schema', json_schema: { name: 'answer', schema: output.schema, strict: output.strict } };
}

/** A text, or a list of parts that may include reasoning. */
function writtenIn(content: unknown): string {
  if (!Array.isArray(content)) return textOf(content);
  return content
    .map(recordOf)
    .map(({ type, text }) => (type === 'text' ? textOf(text) : ''))
    .join('');
}

/**
 * `completion_tokens` of xAI and of Gemini's endpoint omit reasoning, which is billed as output; `total_tokens`
 * includes it. Some gateways omit the cache from `prompt_tokens`, which shows when the cache is larger than the prompt.
 */
function usageOf(usage: unknown): Usage | null {
  if (!usage) return null;
  const { prompt_tokens, completion_tokens, total_tokens, prompt_tokens_details, ...others } = recordOf(usage);
  const details = recordOf(prompt_tokens_details);
  const completion = countOf(completion_tokens);
  const total = countOf(total_tokens);
  const prompt = countOf(prompt_tokens) || Math.max(0, total - completion);
  const cacheReadTokens = firstCount(details.cached_tokens, others.cached_tokens, others.prompt_cache_hit_tokens);
  const cacheWriteTokens = firstCount(details.cache_write_tokens, others.cache_creation_input_tokens);
  const cached = cacheReadTokens + cacheWriteTokens;
  const read = cached <= prompt ? prompt : prompt + cached;
  return {
    inputTokens: read - cached,
    outputTokens: Math.max(completion, total - read),
    cacheReadTokens,
    cacheWriteTokens,
  };
}

/** The first count that is not zero: vendors report one number under several names. */
const firstCount = (...values: unknown[]): number => values.map(countOf).find((count) => count > 0) ?? 0;

/** OpenRouter reports a failed provider as `error`, DeepSeek a lack of machines as `insufficient_system_resource`. */
const ends: Readonly<Record<string, WireAnswer['end']>> = {
  stop: 'complete',
  tool_calls: 'complete',
  function_call: 'complete',
  length: 'cut',
  model_length: 'cut',
  content_filter: 'filtered',
  error: 'broken',
  insufficient_system_resource: 'broken',
};

function endOf(reason: string, hasRefused: boolean): WireAnswer['end'] {
  if (reason === 'stop' && hasRefused) return 'filtered';
  return Object.hasOwn(ends, reason) ? (ends[reason] as WireAnswer['end']) : 'unknown';
}

type Open = { call: WrittenCall; wireId: string; index: number | null };

/**
 * Assembles tool calls from their pieces. Servers number them, or not, or number all of them 0. They repeat id and name
 * in every piece, or send empty ones, or send the name late. Calls are kept in the order of their numbers.
 */
function createCallPieces(calls: WrittenCall[]): (piece: JsonRecord) => void {
  const open: Open[] = [];
  return (piece) => {
    const { name, arguments: json } = recordOf(piece.function);
    const id = textOf(piece.id).trim();
    const index = typeof piece.index === 'number' ? piece.index : null;
    const called = textOf(name).trim();
    const given = textOf(json);
    const known = open.findLast((each) => isOf(each, id, index)) ?? (called || id ? undefined : open.at(-1));
    if (known && !beginsAnew(known, id, called, given)) {
      known.call.name ||= called;
      known.call.arguments += given;
      return;
    }
    const call = { id: id || `call_${randomUUID()}`, name: called, arguments: given };
    const later = index === null ? -1 : open.findIndex((each) => each.index !== null && each.index > index);
    const at = later === -1 ? open.length : later;
    open.splice(at, 0, { call, wireId: id, index });
    calls.splice(at, 0, call);
  };
}

const isOf = (of: Open, id: string, index: number | null) =>
  index !== null && of.index !== null ? of.index === index : id !== '' && of.wireId === id;

/** A second name starts a new call: that of another tool, or one after complete arguments. */
function beginsAnew({ call, wireId }: Open, id: string, name: string, json: string): boolean {
  if (!name || !call.name) return false;
  if (name !== call.name) return true;
  return isComplete(call.arguments) && ((id !== '' && id !== wireId) || json.trimStart().startsWith('{'));
}

function isComplete(json: string): boolean {
  if (!json.trimEnd().endsWith('}')) return false;
  try {
    JSON.parse(json);
    return true;
  } catch {
    return false;
  }
}

const mostDetails = 1000;
const growing = ['text', 'summary', 'data'];

/**
 * Collects the reasoning that a chat-completions endpoint sends and requires back. It is one text, as from DeepSeek, or
 * a list of details, as from OpenRouter. The pieces of details belong together by number and kind.
 */
function createThoughts(answer: WireAnswer): (delta: JsonRecord) => void {
  let content: JsonRecord | null = null;
  let details: JsonRecord[] | null = null;
  const open = <Item extends JsonRecord>(item: Item): Item => {
    // At the front: these endpoints know no order among reasoning, text and calls.
    answer.parts.unshift({ kind: 'thought', item });
    return item;
  };

  function readDetail(list: JsonRecord[], piece: JsonRecord): void {
    const known = list.find(({ index, type }) => index !== undefined && index === piece.index && type === piece.type);
    if (!known && list.length >= mostDetails) {
      answer.thoughtLength = Number.POSITIVE_INFINITY;
      return;
    }
    const detail = known ?? {};
    if (!known) list.push(detail);
    for (const [field, value] of Object.entries(piece)) {
      if (growing.includes(field) && typeof value === 'string') think(answer, detail, field, value);
      else if (value !== null || !(field in detail)) detail[field] = value;
    }
  }

  return ({ reasoning_content, reasoning_details }) => {
    if (typeof reasoning_content === 'string') {
      content ??= open({ reasoning_content: '' });
      think(answer, content, 'reasoning_content', textOf(reasoning_content));
    }
    const pieces = listOf(reasoning_details);
    if (pieces.length === 0) return;
    details ??= open({ reasoning_details: [] as JsonRecord[] }).reasoning_details;
    for (const piece of pieces) readDetail(details, recordOf(piece));
  };
}
