import { asList, asRecord, keyOfCalls, type NormalisedMessage, parsed, textOf, type Wire } from './scripted-answer.ts';

/** Chat completions, as in OpenAI's older endpoint and all servers like it: POST …/chat/completions. */
export const compatibleWire: Wire = {
  normalise: (body) => {
    const messages = asList(body.messages);
    return {
      model: String(body.model),
      system: messages.filter(({ role }) => role === 'system').map(({ content }) => textOf(content)),
      messages: joinedResults(messages.filter(({ role }) => role !== 'system').map(messageOf)),
      tools: asList(body.tools).map((tool) => {
        const { name, description, parameters } = asRecord(tool.function);
        return { name: String(name), description: String(description ?? ''), inputSchema: parameters };
      }),
      outputSchema: asRecord(asRecord(body.response_format).json_schema).schema ?? null,
      body,
    };
  },

  frames: ({ thinking, text, calls, usage, stop, usageInLastChoice }, { model }) => {
    const base = { id: 'chatcmpl-scripted', object: 'chat.completion.chunk', created: 1_700_000_000, model };
    const frame = (delta: Record<string, unknown>, finish_reason: string | null = null, more: object = {}) =>
      `data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta, finish_reason }], ...more })}\n\n`;
    const callFrames = calls.map(({ id, name, arguments: json }, index) => {
      const middle = Math.ceil(json.length / 2);
      return [
        frame({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
        ...[json.slice(0, middle), json.slice(middle)].map((piece) =>
          frame({ tool_calls: [{ index, function: { arguments: piece } }] }),
        ),
      ].join('');
    });
    const usageFrame = usage && {
      ...base,
      choices: [],
      usage: {
        prompt_tokens: usage.inputTokens + usage.cacheReadTokens,
        completion_tokens: usage.outputTokens,
        total_tokens: usage.inputTokens + usage.cacheReadTokens + usage.outputTokens,
        prompt_tokens_details: { cached_tokens: usage.cacheReadTokens },
      },
    };
    return {
      opening:
        frame({ role: 'assistant', content: '' }) +
        (thinking === null ? '' : frame({ content: null, reasoning_content: thinking })),
      text: text.map((content) => frame({ content })),
      closing: [
        ...callFrames,
        frame({}, reasonOf(stop, calls.length > 0), usageInLastChoice && usageFrame ? { usage: usageFrame.usage } : {}),
        usageFrame && !usageInLastChoice ? `data: ${JSON.stringify(usageFrame)}\n\n` : '',
        'data: [DONE]\n\n',
      ].join(''),
    };
  },

  refuses: (body, model, given) => {
    const isWithout = ({ tool_calls, reasoning_content }: Record<string, unknown>) => {
      const calls = asList(tool_calls).map((call) => asRecord(call.function));
      const key = keyOfCalls(
        calls.map(({ name, arguments: json }) => ({ name: String(name), arguments: parsed(json) })),
      );
      return calls.length > 0 && given.get(key)?.model === model && typeof reasoning_content !== 'string';
    };
    if (!asList(body.messages).some(isWithout)) return null;
    return { message: 'The `reasoning_content` in the thinking mode must be passed back to the API.' };
  },

  error: (_status, message, code) => ({
    error: { message, type: code ?? 'server_error', param: null, code: code ?? null },
  }),
};

function reasonOf(stop: 'length' | 'filter' | null, hasCalls: boolean): string {
  if (stop === 'length') return 'length';
  if (stop === 'filter') return 'content_filter';
  return hasCalls ? 'tool_calls' : 'stop';
}

function messageOf({ role, content, tool_calls, tool_call_id }: Record<string, unknown>): NormalisedMessage {
  if (role === 'tool') return { role, results: [{ callId: String(tool_call_id), output: textOf(content) }] };
  if (role === 'assistant') {
    const calls = asList(tool_calls).map((call) => {
      const { name, arguments: json } = asRecord(call.function);
      return { id: String(call.id), name: String(name), arguments: parsed(json) };
    });
    return { role: 'agent', text: textOf(content), calls };
  }
  const files = asList(content)
    .filter(({ type }) => type === 'image_url')
    .map(({ image_url }) => ({ mediaType: /^data:([^;]+)/.exec(String(asRecord(image_url).url))?.[1] ?? '' }));
  return { role: 'user', text: textOf(content), files };
}

function joinedResults(messages: NormalisedMessage[]): NormalisedMessage[] {
  const whole: NormalisedMessage[] = [];
  for (const message of messages) {
    const before = whole.at(-1);
    if (before?.role === 'tool' && message.role === 'tool') before.results.push(...message.results);
    else whole.push(message);
  }
  return whole;
}
