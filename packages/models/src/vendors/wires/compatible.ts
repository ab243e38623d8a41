import type { AgentMessage, Message, ToolResult, UserPart } from '@vestra/agent/message';
import type { Usage } from '@vestra/agent/model';
import { vendorErrorOf } from '../fault.ts';
import { piecesOf, writeText } from '../reasoning.ts';
import { createCallPieces } from './call-pieces.ts';
import { createThoughts } from './compatible-thoughts.ts';
import { countOf, dataUrlOf, type JsonRecord, listOf, recordOf, textOf } from './json.ts';
import { type Answer, mediaOf, type Wire, type WireRequest } from './wire.ts';

/** Chat completions, as spoken by every server that resembles OpenAI's: POST …/chat/completions. */
export const compatibleWire: Wire = {
  body: ({ modelId, system, messages, tools, output, maxOutputTokens, isReasoningLeftOut }) => ({
    model: modelId,
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: maxOutputTokens,
    messages: [
      ...system.map((content) => ({ role: 'system', content })),
      ...messages.flatMap((message) => messagesOf(message, isReasoningLeftOut)),
    ],
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, inputSchema }) => ({
        type: 'function',
        function: { name, description, parameters: inputSchema },
      })),
    }),
    response_format: formatOf(output),
  }),

  reader(answer) {
    const readCallPiece = createCallPieces(answer.calls);
    const readThoughts = createThoughts(answer);
    let hasRefused = false;
    return (event) => {
      const { error, usage, choices } = recordOf(event);
      if (error) throw vendorErrorOf(error);
      answer.usage = usageOf(usage) ?? answer.usage;
      const { delta, finish_reason } = recordOf(listOf(choices)[0]);
      const { content, refusal, tool_calls } = recordOf(delta);
      const written = writtenIn(content) + textOf(refusal);
      answer.text += written;
      writeText(answer, written);
      hasRefused ||= textOf(refusal) !== '';
      for (const piece of listOf(tool_calls)) {
        const known = answer.calls.length;
        readCallPiece(recordOf(piece));
        // These endpoints look at no id but within one request.
        if (answer.calls.length > known) answer.parts.push({ kind: 'call', id: '' });
      }
      readThoughts(recordOf(delta));
      // Counts may follow in an event of their own.
      if (typeof finish_reason === 'string') answer.end = endOf(finish_reason, hasRefused);
    };
  },
};

function messagesOf(message: Message, isReasoningLeftOut: boolean): JsonRecord[] {
  switch (message.role) {
    case 'user': {
      const [first] = message.parts;
      const isPlain = message.parts.length === 1 && first?.kind === 'text';
      // Many servers know no other content than text.
      return [{ role: 'user', content: isPlain ? first.text : message.parts.map(partOf) }];
    }
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

/** These endpoints take pictures from the user alone, so it is said whose they are. */
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
 * `reasoning_content` belongs to calls alone: DeepSeek and those that follow it refuse calls without it, and some others
 * refuse it anywhere else. Where what was thought is not at hand, they take an empty one.
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

/** A text, or a list of parts, among them what the model thinks. */
function writtenIn(content: unknown): string {
  if (!Array.isArray(content)) return textOf(content);
  return content
    .map(recordOf)
    .map(({ type, text }) => (type === 'text' ? textOf(text) : ''))
    .join('');
}

function usageOf(usage: unknown): Usage | null {
  if (!usage) return null;
  const { prompt_tokens, completion_tokens, prompt_tokens_details } = recordOf(usage);
  const cacheReadTokens = countOf(recordOf(prompt_tokens_details).cached_tokens);
  return {
    inputTokens: Math.max(0, countOf(prompt_tokens) - cacheReadTokens),
    outputTokens: countOf(completion_tokens),
    cacheReadTokens,
    cacheWriteTokens: 0,
  };
}

function endOf(reason: string, hasRefused: boolean): Answer['end'] {
  if (reason === 'length') return 'cut';
  return reason === 'content_filter' || (reason === 'stop' && hasRefused) ? 'filtered' : 'complete';
}
