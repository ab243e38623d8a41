import type { AgentMessage, Message, ToolMessage, UserPart } from '@vestra/agent/message';
import type { Vendor } from './vendor.ts';
import { type WireNames, wireCallId } from './wire-names.ts';

/** The conversation as the vendor accepts it: nothing empty, no file it cannot read, names and ids in its alphabet. */
export function messagesFor(vendor: Vendor, names: WireNames, messages: readonly Message[]): Message[] {
  return messages.map((message) => messageOf(message, vendor, names)).filter((message) => message !== null);
}

export const hasText = (text: string) => text.trim() !== '';

function messageOf(message: Message, vendor: Vendor, names: WireNames): Message | null {
  switch (message.role) {
    case 'user': {
      const parts = message.parts.map((part) => userPart(part, vendor)).filter((part) => part !== null);
      return parts.length > 0 ? { role: 'user', parts } : null;
    }
    case 'agent':
      return agentMessage(message, names);
    case 'tool':
      return toolMessage(message, names);
  }
}

function userPart(part: UserPart, vendor: Vendor): UserPart | null {
  if (part.kind === 'text') return hasText(part.text) ? part : null;
  const { filename, mediaType, bytes } = part;
  const largest = vendor.reads.get(mediaType);
  if (largest === undefined) return note(`"${filename}" (${mediaType}) is attached, but this model cannot read it.`);
  if (bytes.byteLength > largest) {
    return note(`"${filename}" (${mediaType}, ${bytes.byteLength} bytes) is attached, but it is too large to be read.`);
  }
  return part;
}

const note = (text: string): UserPart => ({ kind: 'text', text: `[${text}]` });

function agentMessage({ text, calls }: AgentMessage, names: WireNames): AgentMessage | null {
  if (!hasText(text) && calls.length === 0) return null;
  return {
    role: 'agent',
    text: hasText(text) ? text : '',
    calls: calls.map((call) => ({
      id: wireCallId(call.id),
      name: names.toWire(call.name),
      arguments: objectOf(call.arguments),
    })),
  };
}

/** Vendors take objects only; arguments that were no JSON stay visible to the model that wrote them. */
function objectOf(given: unknown): unknown {
  return typeof given === 'object' && given !== null && !Array.isArray(given) ? given : { invalid_arguments: given };
}

function toolMessage({ results }: ToolMessage, names: WireNames): ToolMessage | null {
  if (results.length === 0) return null;
  return {
    role: 'tool',
    results: results.map(({ callId, name, output, isError }) => ({
      callId: wireCallId(callId),
      name: names.toWire(name),
      output: output === '' ? '(no output)' : output,
      isError,
    })),
  };
}
