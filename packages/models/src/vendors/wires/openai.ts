import type { Message, ToolDefinition, ToolResult, UserPart } from '@vestra/agent/message';
import type { Usage } from '@vestra/agent/model';
import { vendorErrorOf } from '../fault.ts';
import { type Piece, piecesOf, writeText } from '../reasoning.ts';
import { countOf, dataUrlOf, type JsonRecord, listOf, recordOf, textOf } from './json.ts';
import { effortForOpenai } from './reasoning-level.ts';
import { mediaOf, type Wire, type WireAnswer, type WireRequest, type WrittenCall } from './wire.ts';

/** Responses: POST /v1/responses, https://platform.openai.com/docs/api-reference/responses-streaming. */
export const openaiWire: Wire = {
  body: ({ modelId, system, messages, tools, output, maxOutputTokens, reasoning, asksForReasoning }) => ({
    model: modelId,
    stream: true,
    // User data is not stored at the vendor beyond the call. The reasoning comes with the answer instead.
    store: false,
    ...effortForOpenai({ modelId, reasoning }),
    ...(asksForReasoning && { include: ['reasoning.encrypted_content'] }),
    max_output_tokens: maxOutputTokens,
    input: [...system.map((content) => ({ role: 'developer', content })), ...messages.flatMap(itemsOf)],
    ...(tools.length > 0 && { tools: tools.map(toolOf) }),
    ...formatOf(output),
  }),

  spare: {
    reasoning: { paths: ['reasoning'], named: /reasoning\.effort/i },
    include: { paths: ['include'] },
    strict: { paths: ['tools.*.strict'] },
    max_output_tokens: { paths: ['max_output_tokens'] },
  },

  reader(answer, { tools }) {
    let hasRefused = false;
    let hasBegun = false;
    return (value) => {
      const event = recordOf(value);
      switch (event.type) {
        case 'response.output_text.delta':
          hasBegun = true;
          answer.text += textOf(event.delta);
          break;
        case 'response.refusal.delta':
          hasRefused = true;
          answer.text += textOf(event.delta);
          break;
        case 'response.output_item.done': {
          const item = recordOf(event.item);
          hasBegun = true;
          answer.calls.push(...callsOf(item, tools));
          readPart(answer, item);
          break;
        }
        case 'response.created':
          // Two answers in one stream, as after a retry of a proxy.
          if (hasBegun) {
            answer.end = 'broken';
            answer.endReason = 'two answers in one stream';
            answer.isOver = true;
          }
          break;
        case 'response.completed':
        case 'response.incomplete': {
          const { usage, incomplete_details } = recordOf(event.response);
          const isWhole = event.type === 'response.completed';
          const reason = textOf(recordOf(incomplete_details).reason) || (isWhole ? 'completed' : 'incomplete');
          answer.usage = usageOf(usage);
          answer.end = endOf(reason, hasRefused && answer.calls.length === 0);
          answer.endReason = reason;
          answer.isOver = true;
          break;
        }
        case 'response.failed': {
          const { error } = recordOf(event.response);
          if (error) throw vendorErrorOf(error);
          answer.end = 'broken';
          answer.isOver = true;
          break;
        }
        case 'error':
          throw vendorErrorOf(event.error ?? { ...event, type: undefined });
      }
    };
  },
};

function itemsOf(message: Message): JsonRecord[] {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: message.parts.map(partOf) }];
    case 'agent':
      return piecesOf(message).map(itemOf);
    case 'tool':
      return message.results.map((result) => ({
        type: 'function_call_output',
        call_id: result.callId,
        output: outputOf(result),
      }));
  }
}

function outputOf(result: ToolResult): string | JsonRecord[] {
  const text = result.isError ? JSON.stringify({ error: result.output }) : result.output;
  const media = mediaOf(result);
  if (media.length === 0) return text;
  const pictures = media.map(({ mediaType, content }) => ({
    type: 'input_image',
    image_url: dataUrlOf(mediaType, content),
  }));
  return [{ type: 'input_text', text }, ...pictures];
}

function itemOf(piece: Piece): JsonRecord {
  switch (piece.kind) {
    case 'thought':
      return piece.item;
    case 'text':
      return { role: 'assistant', content: piece.text, ...piece.mark };
    case 'call': {
      const { id, name, arguments: given } = piece.call;
      return { type: 'function_call', call_id: id, name, arguments: JSON.stringify(given) };
    }
  }
}

/**
 * Items are not stored at this vendor, so their ids are useless and omitted. Reasoning keeps its id, because its
 * encrypted content replaces it. `phase` separates a remark between calls from the answer.
 */
function readPart(
  answer: WireAnswer,
  { type, id, summary, encrypted_content, content, phase, call_id }: JsonRecord,
): void {
  if (type === 'reasoning' && typeof encrypted_content === 'string') {
    answer.thoughtLength += encrypted_content.length;
    answer.parts.push({ kind: 'thought', item: { type, id, summary: listOf(summary), encrypted_content } });
  }
  if (type === 'function_call') answer.parts.push({ kind: 'call', id: textOf(call_id) });
  if (type === 'message') {
    const written = listOf(content)
      .map(recordOf)
      .map(({ text, refusal }) => textOf(text) || textOf(refusal));
    writeText(answer, written.join(''), typeof phase === 'string' ? { phase } : undefined);
  }
}

function partOf(part: UserPart): JsonRecord {
  if (part.kind === 'text') return { type: 'input_text', text: part.text };
  const data = dataUrlOf(part.mediaType, part.bytes);
  if (part.mediaType.startsWith('image/')) return { type: 'input_image', image_url: data };
  return { type: 'input_file', filename: part.filename, file_data: data };
}

const toolOf = ({ name, description, inputSchema }: ToolDefinition) => ({
  type: 'function',
  name,
  description,
  parameters: inputSchema,
  strict: false,
});

function formatOf(output: WireRequest['output']) {
  if (output.type === 'text') return {};
  if (output.type === 'json') return { text: { format: { type: 'json_object' } } };
  const { strict, schema } = output;
  return { text: { format: { type: 'json_schema', name: 'answer', strict, schema } } };
}

function callsOf(
  { type, call_id, name, arguments: given }: JsonRecord,
  tools: readonly ToolDefinition[],
): WrittenCall[] {
  if (type !== 'function_call') return [];
  const call = { id: textOf(call_id), name: textOf(name), arguments: textOf(given) };
  return unwrapped(call, tools) ?? [call];
}

/** Models sometimes write several calls as one call of a tool `parallel` that does not exist. */
function unwrapped(call: WrittenCall, tools: readonly ToolDefinition[]): WrittenCall[] | null {
  const names = new Set(tools.map(({ name }) => name));
  if (call.name !== 'parallel' || names.has('parallel')) return null;
  const uses = usesIn(call.arguments).map((use, at) => ({
    id: `${call.id}_${at}`,
    name: textOf(recordOf(use).recipient_name).replace(/^functions\./, ''),
    arguments: JSON.stringify(recordOf(recordOf(use).parameters)),
  }));
  return uses.length > 0 && uses.every(({ name }) => names.has(name)) ? uses : null;
}

function usesIn(json: string): readonly unknown[] {
  try {
    return listOf(recordOf(JSON.parse(json)).tool_uses);
  } catch {
    return [];
  }
}

function usageOf(usage: unknown): Usage | null {
  if (!usage) return null;
  const { input_tokens, output_tokens, total_tokens, input_tokens_details } = recordOf(usage);
  const { cached_tokens, cache_write_tokens } = recordOf(input_tokens_details);
  const cacheReadTokens = countOf(cached_tokens);
  const cacheWriteTokens = countOf(cache_write_tokens);
  return {
    inputTokens: Math.max(0, countOf(input_tokens) - cacheReadTokens - cacheWriteTokens),
    // Servers like xAI's may leave reasoning out of the output. The total includes it.
    outputTokens: Math.max(countOf(output_tokens), countOf(total_tokens) - countOf(input_tokens)),
    cacheReadTokens,
    cacheWriteTokens,
  };
}

function endOf(reason: string, hasOnlyRefused: boolean): WireAnswer['end'] {
  if (reason === 'max_output_tokens') return 'cut';
  if (reason === 'content_filter' || hasOnlyRefused) return 'filtered';
  return reason === 'completed' ? 'complete' : 'unknown';
}
