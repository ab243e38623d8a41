import type { Message, ToolResult, UserPart } from '@vestra/agent/message';
import { type Piece, piecesOf } from '../reasoning.ts';
import { base64Of, type JsonRecord } from '../wires/json.ts';
import { mediaOf, type WireRequest } from '../wires/wire.ts';
import type { AiSdkCall, AiSdkMessage, AiSdkPart, AiSdkVersion } from './language-model.ts';

/** The request in the AI SDK's form. The versions differ in how they carry files. */
export function callOf(request: WireRequest, version: AiSdkVersion, abortSignal: AbortSignal): AiSdkCall {
  const { system, messages, tools, mustCallTool, output, maxOutputTokens, reasoning } = request;
  return {
    prompt: [
      // A single message, because some providers reject a second one.
      ...(system.length > 0 ? [{ role: 'system' as const, content: system.join('\n\n') }] : []),
      ...messages.map((message) => messageOf(message, version)),
    ],
    maxOutputTokens,
    ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: 'function' as const, ...tool })) }),
    ...(mustCallTool && { toolChoice: { type: 'required' as const } }),
    ...(output.type === 'json' && { responseFormat: { type: 'json' as const } }),
    ...(output.type === 'schema' && {
      responseFormat: { type: 'json' as const, schema: output.schema, name: 'answer' },
    }),
    // Older versions have no such setting.
    ...(reasoning !== null && version === 'v4' && { reasoning: reasoning === 'off' ? 'none' : reasoning }),
    abortSignal,
  };
}

function messageOf(message: Message, version: AiSdkVersion): AiSdkMessage {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: message.parts.map((part) => userPart(part, version)) };
    case 'agent':
      return { role: 'assistant', content: piecesOf(message).map(agentPart) };
    case 'tool':
      return { role: 'tool', content: message.results.map((result) => resultPart(result, version)) };
  }
}

function userPart(part: UserPart, version: AiSdkVersion): AiSdkPart {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  const { filename, mediaType, bytes } = part;
  return { type: 'file', filename, mediaType, data: fileData(bytes, version) };
}

const fileData = (bytes: Uint8Array, version: AiSdkVersion): unknown =>
  version === 'v4' ? { type: 'data', data: bytes } : bytes;

function agentPart(piece: Piece): AiSdkPart {
  switch (piece.kind) {
    case 'thought':
      return { type: 'reasoning', ...piece.item };
    case 'text':
      return { type: 'text', text: piece.text, ...piece.mark };
    case 'call': {
      const { id, name, arguments: input } = piece.call;
      return { type: 'tool-call', toolCallId: id, toolName: name, input, ...piece.mark };
    }
  }
}

function resultPart(result: ToolResult, version: AiSdkVersion): AiSdkPart {
  const { callId, name, output, isError } = result;
  const media = mediaOf(result).map((each) => mediaPart(each, version));
  const text = { type: isError ? 'error-text' : 'text', value: output };
  const content = { type: 'content', value: [{ type: 'text', text: output }, ...media] };
  return { type: 'tool-result', toolCallId: callId, toolName: name, output: media.length > 0 ? content : text };
}

function mediaPart(
  { mediaType, content }: { mediaType: string; content: Uint8Array },
  version: AiSdkVersion,
): JsonRecord {
  const data = base64Of(content);
  if (version === 'v4') return { type: 'file', data: { type: 'data', data }, mediaType };
  if (version === 'v2') return { type: 'media', data, mediaType };
  return { type: mediaType.startsWith('image/') ? 'image-data' : 'file-data', data, mediaType };
}
