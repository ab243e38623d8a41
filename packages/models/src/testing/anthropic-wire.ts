import { asList, asRecord, keyOfCalls, type NormalisedMessage, sealOf, textOf, type Wire } from './scripted-answer.ts';

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

  frames: ({ thinking, text, calls, usage, stop }, { model }) => {
    const input = {
      input_tokens: usage?.inputTokens ?? 0,
      cache_creation_input_tokens: usage?.cacheWriteTokens ?? 0,
      cache_read_input_tokens: usage?.cacheReadTokens ?? 0,
    };
    const hasText = text.length > 0;
    const textAt = thinking === null ? 0 : 1;
    const message = { id: 'msg_scripted', type: 'message', role: 'assistant', model, content: [] };
    const start = frame({
      type: 'message_start',
      message: { ...message, stop_reason: null, stop_sequence: null, usage: { ...input, output_tokens: 1 } },
    });
    const callFrames = calls.map(({ id, name, arguments: json }, index) => {
      const at = index + textAt + (hasText ? 1 : 0);
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
        (thinking === null ? '' : thinkingFrames(model, thinking)) +
        (hasText
          ? frame({ type: 'content_block_start', index: textAt, content_block: { type: 'text', text: '' } })
          : ''),
      text: text.map((chunk) =>
        frame({ type: 'content_block_delta', index: textAt, delta: { type: 'text_delta', text: chunk } }),
      ),
      closing: [
        hasText ? frame({ type: 'content_block_stop', index: textAt }) : '',
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

  refuses: (body, model, given) => {
    const messages = asList(body.messages);
    const lastOwn = messages.findLastIndex(({ role, content }) => role === 'user' && !hasResults(content));
    for (const [at, { role, content }] of messages.entries()) {
      if (role !== 'assistant') continue;
      const blocks = asList(content);
      const forged = blocks.findIndex(
        ({ type, thinking, signature }) => type === 'thinking' && signature !== sealOf(model, String(thinking)),
      );
      if (forged !== -1)
        return { message: `messages.${at}.content.${forged}: Invalid \`signature\` in \`thinking\` block` };
      const calls = blocks.filter(({ type }) => type === 'tool_use');
      const known = given.get(keyOfCalls(calls.map(({ name, input }) => ({ name: String(name), arguments: input }))));
      const isMissing = blocks[0]?.type !== 'thinking' || blocks[0].thinking !== known?.thinking;
      // The vendor ignores the reasoning of finished turns.
      if (at < lastOwn || known?.model !== model || !isMissing) continue;
      return {
        message: `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${blocks[0]?.type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`,
      };
    }
    return null;
  },

  error: (status, message, code) => ({ type: 'error', error: { type: code ?? typeOf(status), message } }),
};

const hasResults = (content: unknown) => asList(content).some(({ type }) => type === 'tool_result');

function thinkingFrames(model: string, thinking: string): string {
  const middle = Math.ceil(thinking.length / 2);
  const deltas = [
    ...[thinking.slice(0, middle), thinking.slice(middle)].map((piece) => ({
      type: 'thinking_delta',
      thinking: piece,
    })),
    { type: 'signature_delta', signature: sealOf(model, thinking) },
  ];
  return [
    frame({ type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } }),
    ...deltas.map((delta) => frame({ type: 'content_block_delta', index: 0, delta })),
    frame({ type: 'content_block_stop', index: 0 }),
  ].join('');
}

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

function filesIn(content: unknown) {
  const files = asList(content)
    .filter(({ type }) => type === 'image')
    .map(({ source }) => ({ mediaType: String(asRecord(source).media_type) }));
  return files.length > 0 ? { files } : {};
}

/** Tool results are sent inside a user message. */
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
    .map((part) => ({ callId: String(part.tool_use_id), output: textOf(part.content), ...filesIn(part.content) }));
  const files = parts
    .filter(({ type }) => type === 'image' || type === 'document')
    .map(({ source }) => ({ mediaType: String(asRecord(source).media_type) }));
  const hasOwn = parts.some(({ type }) => type !== 'tool_result');
  return [
    ...(results.length > 0 ? [{ role: 'tool' as const, results }] : []),
    ...(hasOwn ? [{ role: 'user' as const, text: textOf(parts), files }] : []),
  ];
}
