import type { Message } from '@vestra/agent/message';
import type { Purpose } from '@vestra/agent/model';
import { decide } from '@vestra/models/offline/decide';
import type { NormalisedMessage, NormalisedRequest } from '@vestra/models/testing/scripted-answer';
import type { Respond } from './agent.ts';

/**
 * The decisions of the offline stand-in behind a provider's wire format. Live mode needs a provider, and so do live test
 * runs; with this one a whole journey to live needs no script.
 */
export const matchWords: Respond = (request) => {
  const purpose = purposeOf(request);
  return decide({
    model: request.model,
    system: request.system,
    messages: messagesOf(request),
    tools: request.tools.map((tool) => ({ ...tool, inputSchema: tool.inputSchema as Record<string, unknown> })),
    ...(request.outputSchema ? { outputSchema: request.outputSchema as Record<string, unknown> } : {}),
    ...(purpose && { purpose }),
    signal: new AbortController().signal,
  });
};

/** A field that only the answers of one purpose have. */
const fields: readonly [string, Purpose][] = [
  ['says', 'pretend_user'],
  ['personal_values', 'improve'],
  ['cannot_fix', 'improve'],
  ['must_never', 'judge'],
  ['scenarios', 'draft_scenarios'],
  ['file', 'interview'],
  ['facts', 'keep_memory'],
];

function purposeOf({ outputSchema }: NormalisedRequest): Purpose | undefined {
  const { properties = {} } = (outputSchema ?? {}) as { properties?: object };
  return fields.find(([field]) => field in properties)?.[1];
}

function messagesOf({ messages, passing }: NormalisedRequest): Message[] {
  const names = new Map<string, string>();
  const last = messages.findLastIndex(({ role }) => role === 'user');
  return messages.map((message, at) => translated(message, names, at === last ? passing : ''));
}

function translated(message: NormalisedMessage, names: Map<string, string>, passing: string): Message {
  if (message.role === 'user') {
    const parts = [{ kind: 'text' as const, text: message.text }];
    return { role: 'user', parts: passing ? [...parts, { kind: 'text', text: passing, isPassing: true }] : parts };
  }
  if (message.role === 'agent') {
    for (const { id, name } of message.calls) names.set(id, name);
    return message;
  }
  const results = message.results.map(({ callId, output }) => ({
    callId,
    name: names.get(callId) ?? '',
    output,
    isError: false,
  }));
  return { role: 'tool', results };
}
