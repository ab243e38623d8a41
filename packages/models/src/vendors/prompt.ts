import type { LanguageModelV4FilePart, LanguageModelV4Message, LanguageModelV4TextPart } from '@ai-sdk/provider';
import type { AgentMessage, Message, ToolMessage, UserPart } from '@vestra/agent/message';
import type { ModelRequest } from '@vestra/agent/model';
import type { Vendor } from './vendor.ts';
import { type WireNames, wireCallId } from './wire-names.ts';

/** The request in the words of the provider packages, without empty texts: vendors refuse those. */
export function promptOf(
  request: ModelRequest,
  vendor: Vendor,
  names: WireNames,
  extraSystem: string | null,
): LanguageModelV4Message[] {
  const system = [...request.system, ...(extraSystem ? [extraSystem] : [])]
    .filter(hasText)
    .map((content): LanguageModelV4Message => ({ role: 'system', content }));
  const messages = request.messages.map((message) => messageOf(message, vendor, names)).filter((each) => each !== null);
  if (vendor.marksCache) markCache(system, messages);
  return [...system, ...messages];
}

/** Four marks are allowed: the last message, and up to three ends of a stable part of the system prompt. */
function markCache(system: LanguageModelV4Message[], messages: LanguageModelV4Message[]): void {
  const ends = system.length <= 3 ? system : [...system.slice(0, 2), ...system.slice(-1)];
  for (const message of [...ends, ...messages.slice(-1)]) {
    message.providerOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } };
  }
}

function messageOf(message: Message, vendor: Vendor, names: WireNames): LanguageModelV4Message | null {
  switch (message.role) {
    case 'user': {
      const content = message.parts.map((part) => userPart(part, vendor)).filter((part) => part !== null);
      return content.length > 0 ? { role: 'user', content } : null;
    }
    case 'agent':
      return agentMessage(message, names);
    case 'tool':
      return toolMessage(message, names);
  }
}

function userPart(part: UserPart, vendor: Vendor): LanguageModelV4TextPart | LanguageModelV4FilePart | null {
  if (part.kind === 'text') return hasText(part.text) ? { type: 'text', text: part.text } : null;
  const { filename, mediaType, bytes } = part;
  const largest = vendor.reads.get(mediaType);
  if (largest === undefined) return note(`"${filename}" (${mediaType}) is attached, but this model cannot read it.`);
  if (bytes.byteLength > largest) {
    return note(`"${filename}" (${mediaType}, ${bytes.byteLength} bytes) is attached, but it is too large to be read.`);
  }
  return { type: 'file', filename, mediaType, data: { type: 'data', data: bytes } };
}

const note = (text: string): LanguageModelV4TextPart => ({ type: 'text', text: `[${text}]` });

function agentMessage({ text, calls }: AgentMessage, names: WireNames): LanguageModelV4Message | null {
  if (!hasText(text) && calls.length === 0) return null;
  return {
    role: 'assistant',
    content: [
      ...(hasText(text) ? [{ type: 'text' as const, text }] : []),
      ...calls.map((call) => ({
        type: 'tool-call' as const,
        toolCallId: wireCallId(call.id),
        toolName: names.toWire(call.name),
        input: inputOf(call.arguments),
      })),
    ],
  };
}

/** Vendors take objects only; arguments that were no JSON stay visible to the model that wrote them. */
function inputOf(given: unknown): unknown {
  return typeof given === 'object' && given !== null && !Array.isArray(given) ? given : { invalid_arguments: given };
}

function toolMessage({ results }: ToolMessage, names: WireNames): LanguageModelV4Message | null {
  if (results.length === 0) return null;
  return {
    role: 'tool',
    content: results.map(({ callId, name, output, isError }) => ({
      type: 'tool-result',
      toolCallId: wireCallId(callId),
      toolName: names.toWire(name),
      output: { type: isError ? 'error-text' : 'text', value: output === '' ? '(no output)' : output },
    })),
  };
}

const hasText = (text: string) => text.trim() !== '';
