import {
  asList,
  asRecord,
  encryptedOf,
  isEncryptedBy,
  type NormalisedMessage,
  textOf,
  type Wire,
} from './scripted-answer.ts';

/** Gemini: POST /v1beta/models/<model>:streamGenerateContent?alt=sse. */
export const googleWire: Wire = {
  normalise: (body, path) => {
    const config = asRecord(body.generationConfig);
    return {
      model: /\/models\/([^:]+):/.exec(path)?.[1] ?? '',
      system: asList(asRecord(body.systemInstruction).parts).map(({ text }) => String(text)),
      messages: asList(body.contents).flatMap(messagesOf),
      tools: asList(body.tools).flatMap(({ functionDeclarations }) =>
        asList(functionDeclarations).map(({ name, description, parameters, parametersJsonSchema }) => ({
          name: String(name),
          description: String(description ?? ''),
          inputSchema: parametersJsonSchema ?? parameters,
        })),
      ),
      outputSchema: config.responseJsonSchema ?? config.responseSchema ?? null,
      body,
    };
  },

  frames: ({ thinking, text, calls, usage, stop }, { model }) => {
    const usageMetadata = usage && {
      promptTokenCount: usage.inputTokens + usage.cacheReadTokens,
      cachedContentTokenCount: usage.cacheReadTokens,
      candidatesTokenCount: usage.outputTokens,
      totalTokenCount: usage.inputTokens + usage.cacheReadTokens + usage.outputTokens,
    };
    const frame = (parts: unknown[], more: Record<string, unknown> = {}) =>
      `data: ${JSON.stringify({
        candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
        modelVersion: model,
        responseId: 'scripted',
        ...(more.finishReason !== undefined && usageMetadata && { usageMetadata }),
      })}\n\n`;
    const signature = thinking === null ? {} : { thoughtSignature: encryptedOf(model, thinking) };
    // On the first call only; without calls, on an empty text at the end.
    const functionCalls = calls.map(({ id, name, arguments: json }, at) => ({
      functionCall: { ...(id !== '' && { id }), name, args: argsOf(json) },
      ...(at === 0 && signature),
    }));
    const last = calls.length === 0 && thinking !== null ? [{ text: '', ...signature }] : functionCalls;
    return {
      opening: '',
      text: text.map((chunk) => frame([{ text: chunk }])),
      closing: frame(last, { finishReason: reasonOf(stop) }),
    };
  },

  refuses: (body, model) => {
    const contents = asList(body.contents);
    const lastOwn = contents.findLastIndex(
      ({ role, parts }) => role === 'user' && !asList(parts).some(({ functionResponse }) => functionResponse),
    );
    for (const [at, { role, parts }] of contents.entries()) {
      if (role !== 'model') continue;
      const isForged = ({ thoughtSignature }: Record<string, unknown>) =>
        thoughtSignature !== undefined && thoughtSignature !== skipped && !isEncryptedBy(model, thoughtSignature);
      if (asList(parts).some(isForged)) return { message: 'Thought signature is not valid.' };
      const firstCall = asList(parts).find(({ functionCall }) => functionCall);
      if (at < lastOwn || !firstCall || firstCall.thoughtSignature !== undefined || /^gemini-[12]/.test(model))
        continue;
      return { message: 'Function call is missing a thought_signature in functionCall parts.' };
    }
    return null;
  },

  error: (status, message, code) => ({ error: { code: status, message, status: code ?? statusName(status) } }),
};

const skipped = 'skip_thought_signature_validator';

/** This vendor sends arguments as a value. Invalid JSON can only be sent as text. */
function argsOf(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

function reasonOf(stop: 'length' | 'filter' | null): string {
  if (stop === 'length') return 'MAX_TOKENS';
  return stop === 'filter' ? 'SAFETY' : 'STOP';
}

function statusName(status: number): string {
  if (status === 429) return 'RESOURCE_EXHAUSTED';
  if (status === 401) return 'UNAUTHENTICATED';
  return status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT';
}

function messagesOf({ role, parts }: Record<string, unknown>): NormalisedMessage[] {
  const list = asList(parts);
  if (role === 'model') {
    const calls = list
      .filter(({ functionCall }) => functionCall)
      .map((part) => {
        const { id, name, args } = asRecord(part.functionCall);
        return { id: String(id ?? ''), name: String(name), arguments: args };
      });
    return [{ role: 'agent', text: textOf(list), calls }];
  }
  const results = list
    .filter(({ functionResponse }) => functionResponse)
    .map((part) => {
      const { id, response } = asRecord(part.functionResponse);
      const { content, ...rest } = asRecord(response);
      return { callId: String(id ?? ''), output: typeof content === 'string' ? content : JSON.stringify(rest) };
    });
  const files = list
    .filter(({ inlineData }) => inlineData)
    .map(({ inlineData }) => ({ mediaType: String(asRecord(inlineData).mimeType) }));
  const hasOwn = list.some(({ functionResponse }) => !functionResponse);
  return [
    ...(results.length > 0 ? [{ role: 'tool' as const, results }] : []),
    ...(hasOwn ? [{ role: 'user' as const, text: textOf(list), files }] : []),
  ];
}
