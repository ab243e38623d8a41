import { randomUUID } from 'node:crypto';
import type { AgentMessage, Message, ToolResult, UserPart } from '@vestra/agent/message';
import type { Usage } from '@vestra/agent/model';
import { VendorError, vendorErrorOf } from '../fault.ts';
import { partsOf, piecesOf, writeText } from '../reasoning.ts';
import { base64Of, countOf, type JsonRecord, listOf, recordOf, textOf } from './json.ts';
import { thinkingForGoogle } from './reasoning-level.ts';
import { mediaOf, type Wire, type WireAnswer, type WireRequest, type WrittenCall } from './wire.ts';

const spare: Wire['spare'] = {
  thinkingConfig: {
    paths: ['generationConfig.thinkingConfig'],
    named: /thinking[ _]?(level|budget|config|mode)|budget \d+ is invalid/i,
  },
  id: { paths: ['contents.*.parts.*.functionCall.id', 'contents.*.parts.*.functionResponse.id'] },
};

/** Gemini: POST …/models/<model>:streamGenerateContent?alt=sse, https://ai.google.dev/api/generate-content. */
export const googleWire: Wire = {
  body: (request) => bodyOf(request, (id) => ({ id })),
  spare,
  reader: readerOf,
};

/**
 * Vertex AI rejects the id of a call if its model assigned none, as with Gemini 2, and then pairs calls by order.
 * Gemini 3 answers with nothing if an id that it assigned is missing. So exactly the ids that it assigned are sent
 * back.
 */
export const vertexGoogleWire: Wire = {
  body(request) {
    const given = new Set(request.messages.flatMap(idsOfVendor));
    return bodyOf(request, (id) => (given.has(id) ? { id } : {}));
  },
  spare,
  reader: readerOf,
};

const idsOfVendor = (message: Message): string[] =>
  message.role === 'agent' ? partsOf(message).flatMap((part) => (part.kind === 'call' ? [part.id] : [])) : [];

type IdOf = (id: string) => { id?: string };

function bodyOf(
  { modelId, system, messages, tools, mustCallTool, output, maxOutputTokens, reasoning }: WireRequest,
  idOf: IdOf,
): object {
  return {
    ...(system.length > 0 && { systemInstruction: { parts: system.map((text) => ({ text })) } }),
    contents: messages.map((message) => contentOf(message, modelId, idOf)),
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
    generationConfig: { maxOutputTokens, ...thinkingForGoogle({ modelId, reasoning }), ...formatOf(output) },
  };
}

function readerOf(answer: WireAnswer): (event: unknown) => void {
  return (event) => {
    const { error, usageMetadata, promptFeedback, candidates } = recordOf(event);
    if (error) throw vendorErrorOf(error);
    answer.usage = usageOf(usageMetadata) ?? answer.usage;
    const { blockReason } = recordOf(promptFeedback);
    if (isBlocked(blockReason)) {
      answer.end = 'filtered';
      answer.endReason = textOf(blockReason);
    }
    const { content, finishReason } = recordOf(listOf(candidates)[0]);
    for (const part of listOf(recordOf(content).parts)) readPart(answer, recordOf(part));
    // The vendor does not mark the last event: counts and even text may follow the reason.
    if (typeof finishReason === 'string') {
      answer.end = endOf(finishReason);
      answer.endReason = finishReason;
    }
  };
}

function contentOf(message: Message, modelId: string, idOf: IdOf) {
  switch (message.role) {
    case 'user':
      return { role: 'user', parts: message.parts.map(partOf) };
    case 'agent':
      return { role: 'model', parts: agentParts(message, modelId, idOf) };
    case 'tool':
      return { role: 'user', parts: resultParts(message.results, modelId, idOf) };
  }
}

/** From the third generation on, a picture is inside the result that it belongs to. Before, it follows all results. */
function resultParts(results: readonly ToolResult[], modelId: string, idOf: IdOf): JsonRecord[] {
  const isNested = isOfThirdGeneration(modelId);
  const answers = results.map((result) => {
    const { callId, name, output, isError } = result;
    const parts = isNested ? mediaOf(result).map(inlinePart) : [];
    const response = { name, [isError ? 'error' : 'content']: output };
    return { functionResponse: { ...idOf(callId), name, response, ...(parts.length > 0 && { parts }) } };
  });
  if (isNested) return answers;
  const media = results.flatMap((result) => {
    const parts = mediaOf(result).map(inlinePart);
    return parts.length === 0 ? [] : [{ text: `What ${result.name} answered with:` }, ...parts];
  });
  return [...answers, ...media];
}

const inlinePart = ({ mediaType, content }: { mediaType: string; content: Uint8Array }): JsonRecord => ({
  inlineData: { mimeType: mediaType, data: base64Of(content) },
});

/** Signatures are sent back on the same parts, https://ai.google.dev/gemini-api/docs/thought-signatures. */
function agentParts(message: AgentMessage, modelId: string, idOf: IdOf): JsonRecord[] {
  const parts = piecesOf(message).flatMap((piece): JsonRecord[] => {
    if (piece.kind === 'thought') return [];
    if (piece.kind === 'text') return [{ text: piece.text, ...piece.mark }];
    const { id, name, arguments: args } = piece.call;
    return [{ functionCall: { ...idOf(id), name, args }, ...piece.mark }];
  });
  const firstCall = parts.find(({ functionCall }) => functionCall);
  if (firstCall && isOfThirdGeneration(modelId)) firstCall.thoughtSignature ??= noSignature;
  return parts;
}

const isOfThirdGeneration = (modelId: string) => !/^gemini-[12]\b/.test(modelId);
/** From then on, calls without a signature are rejected unless they carry this marker. */
const noSignature = 'skip_thought_signature_validator';

function partOf(part: UserPart) {
  if (part.kind === 'text') return { text: part.text };
  return { inlineData: { mimeType: part.mediaType, data: base64Of(part.bytes) } };
}

function formatOf(output: WireRequest['output']) {
  if (output.type === 'text') return {};
  if (output.type === 'json') return { responseMimeType: 'application/json' };
  return { responseMimeType: 'application/json', responseJsonSchema: output.schema };
}

function readPart(answer: WireAnswer, { text, thought, functionCall, thoughtSignature }: JsonRecord): void {
  const mark = typeof thoughtSignature === 'string' ? { thoughtSignature } : undefined;
  answer.thoughtLength += mark?.thoughtSignature.length ?? 0;
  if (functionCall) {
    const call = recordOf(functionCall);
    answer.calls.push(callOf(call));
    answer.parts.push({ kind: 'call', id: textOf(call.id), ...(mark && { mark }) });
  } else if (thought !== true) {
    answer.text += textOf(text);
    writeText(answer, textOf(text), mark);
  }
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
    // The total includes thoughts that are not counted apart.
    outputTokens: Math.max(
      countOf(counts.candidatesTokenCount) + countOf(counts.thoughtsTokenCount),
      countOf(counts.totalTokenCount) - input,
    ),
    cacheReadTokens,
    cacheWriteTokens: 0,
  };
}

const isBlocked = (reason: unknown) => textOf(reason) !== '' && !textOf(reason).endsWith('UNSPECIFIED');

/**
 * https://ai.google.dev/api/generate-content#FinishReason. After the broken ones the model wanted to call a tool, and
 * no call arrived.
 */
const ends: Readonly<Record<string, WireAnswer['end']>> = {
  STOP: 'complete',
  MAX_TOKENS: 'cut',
  CONTINUATION: 'cut',
  SAFETY: 'filtered',
  IMAGE_SAFETY: 'filtered',
  RECITATION: 'filtered',
  IMAGE_RECITATION: 'filtered',
  BLOCKLIST: 'filtered',
  PROHIBITED_CONTENT: 'filtered',
  IMAGE_PROHIBITED_CONTENT: 'filtered',
  SPII: 'filtered',
  LANGUAGE: 'filtered',
  MODEL_ARMOR: 'filtered',
  MALFORMED_FUNCTION_CALL: 'broken',
  UNEXPECTED_TOOL_CALL: 'broken',
  TOO_MANY_TOOL_CALLS: 'broken',
  MALFORMED_RESPONSE: 'broken',
};

function endOf(reason: string): WireAnswer['end'] {
  // The same request would end the same way. Rejected reasoning is sent again without it.
  if (reason === 'MISSING_THOUGHT_SIGNATURE') throw new VendorError(400, 'thought signature', [reason], null);
  return Object.hasOwn(ends, reason) ? (ends[reason] as WireAnswer['end']) : 'unknown';
}
