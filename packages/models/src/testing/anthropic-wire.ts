import { asList, asRecord, type NormalisedMessage, textOf, type Wire } from './scripted-answer.ts';

/** Anthropic Messages: POST /v1/messages with `stream: true`. */
export const anthropicWire: Wire = {
  normalise: (body) => ({
    model: String(body.model),
    system: typeof body.system === 'string' ? [body.system] : asList(body.system).map((block) => String(block.text)),
    messages: asList(body.messages).flatMap(messagesOf),
    tools: asList(body.tools).map((tool) => ({
      name: String(tool.name),
      description: String(tool.description ?? ''),
      inputSchema: tool.input_schema,
    })),
    outputSchema: asRecord(asRecord(body.output_config).format).schema ?? asRecord(body.output_format).schema ?? null,
    body,
  }),

  frames: ({ text, calls, usage, stop }, { model }) => {
    const input = {
      input_tokens: usage?.inputTokens ?? 0,
      cache_creation_input_tokens: usage?.cacheWriteTokens ?? 0,
      cache_read_input_tokens: usage?.cacheReadTokens ?? 0,
    };
    const hasText = text.length > 0;
    const message = { id: 'msg_scripted', type: 'message', role: 'assistant', model, content: [] };
    const start = frame({
      type: 'message_start',
      message: { ...message, stop_reason: null, stop_sequence: null, usage: { ...input, output_tokens: 1 } },
    });
    const callFrames = calls.map(({ id, name, arguments: json }, index) => {
      const at = index + (hasText ? 1 : 0);
      const middle = Math.ceil(json.length / 2);
      return [
        frame({
          type: 'content_block_start',
          index: at,
          content_block: { type: 'tool_use', id, name, input: {} },
        }),
        ...[json.slice(0, middle), json.slice(middle)].map((partial_json) =>
          frame({ type: 'content_block_delta', index: at, delta: { type: 'input_json_delta', partial_json } }),
        ),
        frame({ type: 'content_block_stop', index: at }),
      ].join('');
    });
    const stop_reason = reasonOf(stop, calls.length > 0);
    return {
      opening:
        start +
        (hasText ? frame({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }) : ''),
      text: text.map((chunk) =>
        frame({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: chunk } }),
      ),
      closing: [
        hasText ? frame({ type: 'content_block_stop', index: 0 }) : '',
        frame({ type: 'ping' }),
        ...callFrames,
        frame({
          type: 'message_delta',
          delta: { stop_reason, stop_sequence: null },
          usage: { output_tokens: usage?.outputTokens ?? 0 },
        }),
        frame({ type: 'message_stop' }),
      ].join(''),
    };
  },

  error: (status, message, code) => ({ type: 'error', error: { type: code ?? typeOf(status), message } }),
};

const frame = (data: { type: string } & Record<string, unknown>) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

function reasonOf(stop: 'length' | 'filter' | null, hasCalls: boolean): string {
  if (stop === 'length') return 'max_tokens';
  if (stop === 'filter') return 'refusal';
  return hasCalls ? 'tool_use' : 'end_turn';
}

function typeOf(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 429) return 'rate_limit_error';
  if (status === 529) return 'overloaded_error';
  return status >= 500 ? 'api_error' : 'invalid_request_error';
}

/** Tool results travel inside a user message. */
function messagesOf({ role, content }: Record<string, unknown>): NormalisedMessage[] {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : asList(content);
  if (role === 'assistant') {
    const calls = parts
      .filter(({ type }) => type === 'tool_use')
      .map(({ id, name, input }) => ({ id: String(id), name: String(name), arguments: input }));
    return [{ role: 'agent', text: textOf(parts), calls }];
  }
  const results = parts
    .filter(({ type }) => type === 'tool_result')
    .map((part) => ({ callId: String(part.tool_use_id), output: textOf(part.content) }));
  const files = parts
    .filter(({ type }) => type === 'image' || type === 'document')
    .map(({ source }) => ({ mediaType: String(asRecord(source).media_type) }));
  const hasOwn = parts.some(({ type }) => type !== 'tool_result');
  return [
    ...(results.length > 0 ? [{ role: 'tool' as const, results }] : []),
    ...(hasOwn ? [{ role: 'user' as const, text: textOf(parts), files }] : []),
  ];
}
