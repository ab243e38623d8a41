import { shownIn } from '@vestra/agent/media';
import type { AgentMessage, Message, ToolMedia, ToolMessage, UserPart } from '@vestra/agent/message';
import { partsFor } from './reasoning.ts';
import { nameOfModel, type Vendor } from './vendor.ts';
import type { CallIdRules, WireNames } from './wire-names.ts';
import { renamed } from './wires/tool-schema.ts';

/** The names of renamed properties on the wire, by tool and by their true names. */
export type WireKeys = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Adapts the conversation to the vendor: nothing empty, no unsupported file, names and ids in its alphabet. */
export function messagesFor(
  vendor: Vendor,
  names: WireNames,
  messages: readonly Message[],
  keys: WireKeys = new Map(),
): Message[] {
  const ids = createCallIds(vendor.callIds);
  return messages
    .map((message) => messageOf(message, vendor, { names, ids, keys }))
    .filter((message) => message !== null);
}

type Translation = { names: WireNames; ids: CallIds; keys: WireKeys };

type CallIds = { give: (id: string, ofVendor: string) => string; of: (id: string) => string };

/**
 * Uses the vendor's own ids for an answer that is sent back unchanged, else the run's ids. No id occurs twice in a
 * request.
 */
function createCallIds({ keeps, make }: CallIdRules): CallIds {
  const given = new Map<string, string>();
  const taken = new Set<string>();
  const newId = (id: string) => {
    for (let attempt = 0; ; attempt++) {
      const wire = make(id, attempt);
      if (!taken.has(wire)) return wire;
    }
  };
  return {
    give(id, ofVendor) {
      const wire = keeps(ofVendor) && !taken.has(ofVendor) ? ofVendor : newId(id);
      taken.add(wire);
      given.set(id, wire);
      return wire;
    },
    of: (id) => given.get(id) ?? make(id, 0),
  };
}

export const hasText = (text: string) => text.trim() !== '';

function messageOf(message: Message, vendor: Vendor, translation: Translation): Message | null {
  switch (message.role) {
    case 'user': {
      const parts = message.parts.map((part) => userPart(part, vendor)).filter((part) => part !== null);
      return parts.length > 0 ? { role: 'user', parts } : null;
    }
    case 'agent':
      return agentMessage(message, vendor, translation);
    case 'tool':
      return toolMessage(message, vendor, translation);
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

function agentMessage(message: AgentMessage, vendor: Vendor, { names, ids, keys }: Translation): AgentMessage | null {
  const { text, calls } = message;
  if (!hasText(text) && calls.length === 0) return null;
  const parts = partsFor(nameOfModel(vendor), message);
  const idsOfVendor = (parts ?? []).flatMap((part) => (part.kind === 'call' ? [part.id] : []));
  return {
    role: 'agent',
    text: parts !== null || hasText(text) ? text : '',
    reasoning: parts && { model: vendor.modelId, parts },
    calls: calls.map((call, at) => ({
      id: ids.give(call.id, idsOfVendor[at] ?? ''),
      name: names.toWire(call.name),
      arguments: objectOf(
        keys.has(call.name) ? renamed(call.arguments, keys.get(call.name) ?? new Map()) : call.arguments,
      ),
    })),
  };
}

/** Vendors accept only objects. Invalid JSON arguments stay visible to the model that wrote them. */
function objectOf(given: unknown): unknown {
  return typeof given === 'object' && given !== null && !Array.isArray(given) ? given : { invalid_arguments: given };
}

function toolMessage({ results }: ToolMessage, vendor: Vendor, { names, ids }: Translation): ToolMessage | null {
  if (results.length === 0) return null;
  return {
    role: 'tool',
    results: results.map((result) => {
      const { callId, name, output, isError, media } = shownIn(result, (each) => readableMedia(each, vendor));
      return {
        callId: ids.of(callId),
        name: names.toWire(name),
        output: output === '' ? '(no output)' : output,
        isError,
        ...(media && { media }),
      };
    }),
  };
}

function readableMedia(media: ToolMedia, { reads }: Vendor): ToolMedia | string {
  const largest = reads.get(media.mediaType);
  if (largest === undefined) return `this model cannot ${media.mediaType.startsWith('audio/') ? 'hear' : 'see'} it`;
  return media.content && media.bytes <= largest ? media : 'it is too large to be shown';
}
