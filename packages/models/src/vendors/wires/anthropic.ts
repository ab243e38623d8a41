import type { Message, ToolResult, UserPart } from '@vestra/agent/message';
import type { Usage } from '@vestra/agent/model';
import { vendorErrorOf } from '../fault.ts';
import { type AnswerPart, type Piece, piecesOf, think } from '../reasoning.ts';
import { schemaForAnthropic } from './anthropic-schema.ts';
import { base64Of, countOf, type JsonRecord, recordOf, textOf } from './json.ts';
import { thinkingForAnthropic } from './reasoning-level.ts';
import { mediaOf, type Wire, type WireAnswer, type WireRequest, type WrittenCall } from './wire.ts';

/** Messages: POST /v1/messages, https://platform.claude.com/docs/en/build-with-claude/streaming. */
export const anthropicWire: Wire = {
  body: ({ modelId, system, messages, tools, mustCallTool, output, maxOutputTokens, ...levels }) => ({
    model: modelId,
    max_tokens: maxOutputTokens,
    stream: true,
    ...(system.length > 0 && { system: systemOf(system) }),
    messages: messagesOf(messages),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema })),
    }),
    ...(mustCallTool && { tool_choice: { type: 'any', disable_parallel_tool_use: true } }),
    ...reasoningOf({ modelId, mustCallTool, maxOutputTokens, ...levels }, output),
  }),

  spare: {
    thinking: { paths: ['thinking'], named: /thinking\.type/i },
    effort: { paths: ['output_config.effort'], named: /effort parameter/i },
    anthropic_beta: { paths: ['anthropic_beta', 'thinking'], named: /beta flag/i },
    cache_control: { paths: ['system.*.cache_control', 'messages.*.content.*.cache_control'] },
    title: { paths: ['messages.*.content.*.title'] },
  },

  reader(answer) {
    const calls = new Map<unknown, WrittenCall>();
    const parts = new Map<unknown, AnswerPart>();
    let stopReason = '';
    return (event) => {
      const { type, index, content_block, delta, message, usage, error } = recordOf(event);
      switch (type) {
        case 'content_block_delta': {
          const { text, partial_json } = recordOf(delta);
          const call = calls.get(index);
          if (call) call.arguments += textOf(partial_json);
          else answer.text += textOf(text);
          goOn(answer, parts.get(index), recordOf(delta));
          break;
        }
        case 'content_block_start': {
          const part = partOf(recordOf(content_block));
          if (!part) break;
          parts.set(index, part);
          answer.parts.push(part);
          const call = callOf(recordOf(content_block));
          if (!call) break;
          calls.set(index, call);
          answer.calls.push(call);
          break;
        }
        case 'message_start':
          // Two answers in one stream, as after a retry of a proxy: calls of the first one may be incomplete.
          if (parts.size > 0) {
            answer.end = 'broken';
            answer.endReason = 'two answers in one stream';
            answer.isOver = true;
            break;
          }
          countUsage(answer, recordOf(message).usage);
          break;
        case 'message_delta':
          countUsage(answer, usage);
          stopReason = textOf(recordOf(delta).stop_reason) || stopReason;
          break;
        case 'message_stop':
          answer.end = endOf(stopReason);
          answer.endReason = stopReason;
          answer.isOver = true;
          break;
        case 'error':
          throw vendorErrorOf(error);
      }
    };
  },
};

/**
 * From 5.1 on, a model's reasoning is bound to everything before it, and a request is rejected if that has changed: by
 * a new date in the system prompt, or a newly connected app. These models always reason. This option asks the vendor to
 * omit such reasoning instead, https://platform.claude.com/docs/en/build-with-claude/preserved-thinking.
 */
export function bindsThinking(modelId: string): boolean {
  const [, major = 0, minor = 0] = (/claude-[a-z]+-(\d+)-(\d{1,2})(?!\d)/.exec(modelId) ?? []).map(Number);
  return major > 5 || (major === 5 && minor >= 1);
}

const thinking = { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } };
export const thinkingBeta = 'thinking-binding-controls-2026-08-01';

type Levels = Parameters<typeof thinkingForAnthropic>[0];

/** The level of reasoning shares an object with the schema of the answer. */
function reasoningOf(levels: Levels, output: WireRequest['output']): JsonRecord {
  const { thinking: thinks, effort } = thinkingForAnthropic(levels, bindsThinking(levels.modelId) ? thinking : null);
  const output_config = {
    ...(effort !== null && { effort }),
    ...(output.type === 'schema' && { format: { type: 'json_schema', schema: schemaForAnthropic(output.schema) } }),
  };
  return {
    ...(thinks !== null && { thinking: thinks }),
    ...(Object.keys(output_config).length > 0 && { output_config }),
  };
}

function partOf(block: JsonRecord): AnswerPart | null {
  switch (block.type) {
    case 'text':
      return { kind: 'text', length: 0 };
    case 'tool_use':
      return { kind: 'call', id: textOf(block.id) };
    case 'thinking':
    case 'redacted_thinking':
      return { kind: 'thought', item: { ...block } };
    default:
      return null;
  }
}

function goOn(
  answer: WireAnswer,
  part: AnswerPart | undefined,
  { text, thinking: thought, signature }: JsonRecord,
): void {
  if (part?.kind === 'text') part.length += textOf(text).length;
  if (part?.kind !== 'thought') return;
  if (typeof thought === 'string') think(answer, part.item, 'thinking', thought);
  if (typeof signature === 'string') think(answer, part.item, 'signature', signature);
}

/** Four cache marks are allowed: two in the system prompt and two in the messages. */
function systemOf(system: readonly string[]) {
  return system.map((text, at) => ({ type: 'text', text, ...(at >= system.length - 2 && cached) }));
}

const cached = { cache_control: { type: 'ephemeral' } };

/**
 * Tool results are sent in the user role, and adjacent messages of one role as one. Cache marks are set at the end, for
 * the next step, and before the passing text, for the next turn.
 */
function messagesOf(messages: readonly Message[]) {
  const joined: { role: string; content: JsonRecord[] }[] = [];
  for (const message of messages) {
    const role = message.role === 'agent' ? 'assistant' : 'user';
    const last = joined.at(-1);
    if (last?.role === role) last.content.push(...blocksOf(message));
    else joined.push({ role, content: blocksOf(message) });
  }
  const last = joined.at(-1);
  const lastBlock = last?.content.at(-1);
  if (lastBlock) Object.assign(lastBlock, cached);
  // An answer that the model should continue must not end in white space.
  if (last?.role === 'assistant' && lastBlock?.type === 'text') lastBlock.text = textOf(lastBlock.text).trim();
  return joined;
}

function blocksOf(message: Message): JsonRecord[] {
  switch (message.role) {
    case 'user':
      return message.parts.map((part, at) => {
        const next = message.parts[at + 1];
        return { ...userBlock(part), ...(next?.kind === 'text' && next.isPassing && cached) };
      });
    case 'agent':
      return piecesOf(message).map(agentBlock);
    case 'tool':
      return message.results.map(resultBlock);
  }
}

function agentBlock(piece: Piece): JsonRecord {
  switch (piece.kind) {
    case 'thought':
      return { ...piece.item };
    case 'text':
      return { type: 'text', text: piece.text };
    case 'call': {
      const { id, name, arguments: input } = piece.call;
      return { type: 'tool_use', id, name, input };
    }
  }
}

function resultBlock(result: ToolResult): JsonRecord {
  const { callId, output, isError } = result;
  const block = { type: 'tool_result', tool_use_id: callId };
  const media = mediaOf(result);
  if (media.length === 0) return { ...block, content: output, ...(isError && { is_error: true }) };
  // An error result may contain only text.
  return { ...block, content: [{ type: 'text', text: output }, ...media.map(imageBlock)] };
}

const imageBlock = ({ mediaType, content }: { mediaType: string; content: Uint8Array }): JsonRecord => ({
  type: 'image',
  source: { type: 'base64', media_type: mediaType, data: base64Of(content) },
});

function userBlock(part: UserPart): JsonRecord {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  const source = { type: 'base64', media_type: part.mediaType, data: base64Of(part.bytes) };
  if (part.mediaType.startsWith('image/')) return { type: 'image', source };
  return { type: 'document', source, title: part.filename };
}

function callOf({ type, id, name, input }: JsonRecord): WrittenCall | null {
  if (type !== 'tool_use') return null;
  const given = Object.keys(recordOf(input)).length > 0 ? JSON.stringify(input) : '';
  return { id: textOf(id), name: textOf(name), arguments: given };
}

/** Counts arrive at the start and again, larger, near the end. */
function countUsage(answer: WireAnswer, value: unknown): void {
  if (!value) return;
  const counted = recordOf(value);
  const before = answer.usage ?? noUsage;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, cacheWriteLongTokens = 0 } = before;
  const latest = (name: string, known: number) => (typeof counted[name] === 'number' ? countOf(counted[name]) : known);
  const written = latest('cache_creation_input_tokens', cacheWriteTokens + cacheWriteLongTokens);
  // The one-hour cache costs more, and is part of the written tokens.
  const forAnHour = recordOf(counted.cache_creation).ephemeral_1h_input_tokens;
  const long = Math.min(written, typeof forAnHour === 'number' ? countOf(forAnHour) : cacheWriteLongTokens);
  answer.usage = {
    inputTokens: latest('input_tokens', inputTokens),
    outputTokens: latest('output_tokens', outputTokens),
    cacheReadTokens: latest('cache_read_input_tokens', cacheReadTokens),
    cacheWriteTokens: written - long,
    ...(long > 0 && { cacheWriteLongTokens: long }),
  };
}

const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

const ends: Readonly<Record<string, WireAnswer['end']>> = {
  end_turn: 'complete',
  stop_sequence: 'complete',
  tool_use: 'complete',
  pause_turn: 'complete',
  max_tokens: 'cut',
  model_context_window_exceeded: 'cut',
  refusal: 'filtered',
};

const endOf = (stopReason: string): WireAnswer['end'] =>
  Object.hasOwn(ends, stopReason) ? (ends[stopReason] as WireAnswer['end']) : 'unknown';
