import {
  asList,
  asRecord,
  encryptedOf,
  isEncryptedBy,
  type NormalisedMessage,
  parsed,
  textOf,
  type Wire,
} from './scripted-answer.ts';

/** OpenAI Responses: POST /v1/responses with `stream: true`. */
export const openaiWire: Wire = {
  normalise: (body) => {
    const input = asList(body.input);
    const isSystem = ({ role }: Record<string, unknown>) => role === 'system' || role === 'developer';
    return {
      model: String(body.model),
      system: input.filter(isSystem).map(({ content }) => textOf(content)),
      messages: joined(input.filter((item) => !isSystem(item) && item.type !== 'reasoning').map(messageOf)),
      tools: asList(body.tools).map(({ name, description, parameters }) => ({
        name: String(name),
        description: String(description ?? ''),
        inputSchema: parameters,
      })),
      outputSchema: asRecord(asRecord(body.text).format).schema ?? null,
      body,
    };
  },

  frames: ({ thinking, text, calls, usage, stop }, { model }) => {
    let sequence_number = 0;
    const frame = (type: string, data: Record<string, unknown>) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence_number++, ...data })}\n\n`;
    const response = { id: 'resp_scripted', object: 'response', created_at: 1_700_000_000, model, error: null };
    const phase = thinking !== null && { phase: calls.length > 0 ? 'commentary' : 'final_answer' };
    const message = { type: 'message', id: 'msg_scripted', role: 'assistant', ...phase };
    const thought = { type: 'reasoning', id: 'rs_scripted', summary: [] };
    const sealed = thinking === null ? null : { ...thought, encrypted_content: encryptedOf(model, thinking) };
    const textAt = sealed ? 1 : 0;
    const hasText = text.length > 0;
    const opening = [
      frame('response.created', { response: { ...response, status: 'in_progress', output: [] } }),
      frame('response.in_progress', { response: { ...response, status: 'in_progress', output: [] } }),
      sealed
        ? frame('response.output_item.added', {
            output_index: 0,
            item: { ...thought, encrypted_content: 'unfinished' },
          }) + frame('response.output_item.done', { output_index: 0, item: sealed })
        : '',
      hasText
        ? frame('response.output_item.added', {
            output_index: textAt,
            item: { ...message, status: 'in_progress', content: [] },
          }) +
          frame('response.content_part.added', {
            item_id: message.id,
            output_index: textAt,
            content_index: 0,
            part: { type: 'output_text', text: '', annotations: [] },
          })
        : '',
    ].join('');
    const deltas = text.map((delta) =>
      frame('response.output_text.delta', {
        item_id: message.id,
        output_index: textAt,
        content_index: 0,
        delta,
        logprobs: [],
      }),
    );
    const whole = [{ type: 'output_text', text: text.join(''), annotations: [] }];
    const textEnd = hasText
      ? frame('response.output_text.done', {
          item_id: message.id,
          output_index: textAt,
          content_index: 0,
          text: text.join(''),
        }) +
        frame('response.output_item.done', {
          output_index: textAt,
          item: { ...message, status: 'completed', content: whole },
        })
      : '';
    const callFrames = calls.map(({ id, name, arguments: json }, index) => {
      const output_index = index + textAt + (hasText ? 1 : 0);
      const item = { type: 'function_call', id: `fc_${index}`, call_id: id, name };
      return [
        frame('response.output_item.added', { output_index, item: { ...item, arguments: '', status: 'in_progress' } }),
        frame('response.function_call_arguments.delta', { item_id: item.id, output_index, delta: json }),
        frame('response.function_call_arguments.done', { item_id: item.id, output_index, arguments: json }),
        frame('response.output_item.done', { output_index, item: { ...item, arguments: json, status: 'completed' } }),
      ].join('');
    });
    const type = stop ? 'response.incomplete' : 'response.completed';
    const reason = stop === 'length' ? 'max_output_tokens' : 'content_filter';
    const end = frame(type, {
      response: {
        ...response,
        status: stop ? 'incomplete' : 'completed',
        incomplete_details: stop ? { reason } : null,
        output: [],
        usage: usage && {
          input_tokens: usage.inputTokens + usage.cacheReadTokens,
          input_tokens_details: { cached_tokens: usage.cacheReadTokens },
          output_tokens: usage.outputTokens,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: usage.inputTokens + usage.cacheReadTokens + usage.outputTokens,
        },
      },
    });
    return { opening, text: deltas, closing: [textEnd, ...callFrames, end].join('') };
  },

  refuses: (body, model) => {
    const items = asList(body.input);
    for (const [at, { type, id, encrypted_content }] of items.entries()) {
      if (type !== 'reasoning') continue;
      const next = items[at + 1];
      if (!next || (next.role !== 'assistant' && next.type !== 'function_call' && next.type !== 'reasoning')) {
        return { message: `Item '${id}' of type 'reasoning' was provided without its required following item.` };
      }
      if (!isEncryptedBy(model, encrypted_content)) {
        return { message: 'The encrypted content could not be verified.', code: 'invalid_encrypted_content' };
      }
    }
    return null;
  },

  error: (_status, message, code) => ({
    error: { message, type: code ?? 'server_error', param: null, code: code ?? null },
  }),
};

function messageOf(item: Record<string, unknown>): NormalisedMessage {
  if (item.type === 'function_call') {
    const call = { id: String(item.call_id), name: String(item.name), arguments: parsed(item.arguments) };
    return { role: 'agent', text: '', calls: [call] };
  }
  if (item.type === 'function_call_output') {
    const files = asList(item.output)
      .filter(({ type }) => type === 'input_image')
      .map(({ image_url }) => ({ mediaType: /^data:([^;]+)/.exec(String(image_url))?.[1] ?? '' }));
    const result = { callId: String(item.call_id), output: textOf(item.output), ...(files.length > 0 && { files }) };
    return { role: 'tool', results: [result] };
  }
  if (item.role === 'assistant') return { role: 'agent', text: textOf(item.content), calls: [] };
  const files = asList(item.content)
    .filter(({ type }) => type === 'input_image' || type === 'input_file')
    .map(({ image_url, file_data }) => ({
      mediaType: /^data:([^;]+)/.exec(String(image_url ?? file_data))?.[1] ?? '',
    }));
  return { role: 'user', text: textOf(item.content), files };
}

/** The items of one message are adjacent. */
function joined(messages: NormalisedMessage[]): NormalisedMessage[] {
  const whole: NormalisedMessage[] = [];
  for (const message of messages) {
    const before = whole.at(-1);
    if (before?.role === 'agent' && message.role === 'agent') {
      before.text += message.text;
      before.calls.push(...message.calls);
    } else if (before?.role === 'tool' && message.role === 'tool') before.results.push(...message.results);
    else whole.push(message);
  }
  return whole;
}
