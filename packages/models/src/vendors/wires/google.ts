import { randomUUID } from 'node:crypto';
import type { Message, UserPart } from '@vestra/agent/message';
import type { Usage } from '@vestra/agent/model';
import { vendorErrorOf } from '../fault.ts';
import { base64Of, countOf, type JsonRecord, listOf, recordOf, textOf } from './json.ts';
import { mapSchema } from './schemas.ts';
import type { Answer, Wire, WireRequest, WrittenCall } from './wire.ts';

/** Gemini: POST …/models/<model>:streamGenerateContent?alt=sse, https://ai.google.dev/api/generate-content. */
export const googleWire: Wire = {
  body: ({ system, messages, tools, mustCallTool, output, maxOutputTokens }) => ({
    ...(system.length > 0 && { systemInstruction: { parts: system.map((text) => ({ text })) } }),
    contents: messages.map(contentOf),
    ...(tools.length > 0 && {
      tools: [
        {
          functionDeclarations: tools.map(({ name, description, inputSchema }) => ({
            name,
            description,
            parametersJsonSchema: inputSchema,
          })),
        },
      ],
    }),
    ...(mustCallTool && { toolConfig: { functionCallingConfig: { mode: 'ANY' } } }),
    generationConfig: { maxOutputTokens, ...formatOf(output) },
  }),

  reader: (answer) => (event) => {
    const { error, usageMetadata, promptFeedback, candidates } = recordOf(event);
    if (error) throw vendorErrorOf(error);
    answer.usage = usageOf(usageMetadata) ?? answer.usage;
    if (isBlocked(recordOf(promptFeedback).blockReason)) answer.end = 'filtered';
    const { content, finishReason } = recordOf(listOf(candidates)[0]);
    for (const part of listOf(recordOf(content).parts)) readPart(answer, recordOf(part));
    // The vendor does not say which event is the last one: counts and even text may follow the reason.
    if (typeof finishReason === 'string') answer.end = endOf(finishReason);
  },
};

function contentOf(message: Message) {
  switch (message.role) {
    case 'user':
      return { role: 'user', parts: message.parts.map(partOf) };
    case 'agent':
      return {
        role: 'model',
        parts: [
          ...(message.text ? [{ text: message.text }] : []),
          ...message.calls.map(({ id, name, arguments: args }) => ({ functionCall: { id, name, args } })),
        ],
      };
    case 'tool':
      return {
        role: 'user',
        parts: message.results.map(({ callId, name, output, isError }) => ({
          functionResponse: { id: callId, name, response: { name, [isError ? 'error' : 'content']: output } },
        })),
      };
  }
}

function partOf(part: UserPart) {
  if (part.kind === 'text') return { text: part.text };
  return { inlineData: { mimeType: part.mediaType, data: base64Of(part.bytes) } };
}

function formatOf(output: WireRequest['output']) {
  if (output.type === 'text') return {};
  if (output.type === 'json') return { responseMimeType: 'application/json' };
  return { responseMimeType: 'application/json', responseJsonSchema: mapSchema(output.schema, withoutConst) };
}

/** The vendor knows `enum` but no `const`. */
const withoutConst = ({ const: value, ...node }: JsonRecord): JsonRecord =>
  value === undefined ? node : { ...node, enum: [value] };

function readPart(answer: Answer, { text, thought, functionCall }: JsonRecord): void {
  if (functionCall) answer.calls.push(callOf(recordOf(functionCall)));
  else if (thought !== true) answer.text += textOf(text);
}

function callOf({ id, name, args }: JsonRecord): WrittenCall {
  return {
    id: textOf(id) || `call_${randomUUID()}`,
    name: textOf(name),
    arguments: typeof args === 'string' ? args : JSON.stringify(args ?? {}),
  };
}

function usageOf(usage: unknown): Usage | null {
  if (!usage) return null;
  const counts = recordOf(usage);
  const cacheReadTokens = countOf(counts.cachedContentTokenCount);
  const input = countOf(counts.promptTokenCount) + countOf(counts.toolUsePromptTokenCount);
  return {
    inputTokens: Math.max(0, input - cacheReadTokens),
    outputTokens: countOf(counts.candidatesTokenCount) + countOf(counts.thoughtsTokenCount),
    cacheReadTokens,
    cacheWriteTokens: 0,
  };
}

const isBlocked = (reason: unknown) => textOf(reason) !== '' && !textOf(reason).endsWith('UNSPECIFIED');

function endOf(reason: string): Answer['end'] {
  switch (reason) {
    case 'MAX_TOKENS':
    case 'CONTINUATION':
      return 'cut';
    case 'SAFETY':
    case 'IMAGE_SAFETY':
    case 'RECITATION':
    case 'BLOCKLIST':
    case 'PROHIBITED_CONTENT':
    case 'SPII':
      return 'filtered';
    case 'MALFORMED_FUNCTION_CALL':
      return 'broken';
    default:
      return 'complete';
  }
}
