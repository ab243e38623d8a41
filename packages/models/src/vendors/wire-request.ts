import { shownIn } from '@vestra/agent/media';
import type { Message } from '@vestra/agent/message';
import type { ModelRequest } from '@vestra/agent/model';
import type { Adjustments, SentRequest } from './adjustments.ts';
import { hasText, messagesFor, type WireKeys } from './messages.ts';
import { outputFormatOf } from './output-format.ts';
import { levelFor } from './reasoning-level.ts';
import { withoutFields } from './spare-fields.ts';
import type { Vendor } from './vendor.ts';
import type { WireNames } from './wire-names.ts';
import { type WireTool, wireToolOf } from './wires/tool-schema.ts';
import type { WireRequest } from './wires/wire.ts';

export type PreparedRequest = {
  wireRequest: WireRequest;
  /** The name of the tool whose arguments are the answer. */
  answerTool: string | null;
  /** The true names of renamed properties, by the tool's name on the wire. Null if there are none. */
  keys: ReadonlyMap<string, ReadonlyMap<string, string>> | null;
  /** Describes the request after its rejection. */
  sent: () => SentRequest;
};

/** Adapts a request to the vendor, with the adjustments that the vendor required. */
export function prepareRequest(
  request: ModelRequest,
  vendor: Vendor,
  names: WireNames,
  made: Adjustments,
): PreparedRequest {
  const rules =
    made.longestDescription === null
      ? vendor.toolRules
      : { ...vendor.toolRules, longestDescription: made.longestDescription };
  const toolOf = (tool: ModelRequest['tools'][number], wireName: string): WireTool => {
    const isPlain = made.hasPlainTools || made.tools.get(wireName) === 'plain';
    return wireToolOf({ ...tool, name: wireName }, isPlain ? { ...rules, schema: 'plain' } : rules);
  };
  const own = request.tools
    .map((tool) => toolOf(tool, names.toWire(tool.name)))
    .filter(({ name }) => made.tools.get(name) !== 'left_out');
  const { output, instruction, answerTool, form } = outputFormatOf(request.outputSchema, own, vendor, made);
  const tools = answerTool ? [...own, wireToolOf(answerTool, rules)] : own;
  const keys = keysOf(tools);
  const most = Math.min(vendor.mostOutputTokens, made.mostOutputTokens ?? vendor.mostOutputTokens);
  const wireRequest: WireRequest = {
    modelId: vendor.modelId,
    system: [...request.system, ...(instruction ? [instruction] : [])].filter(hasText),
    messages: messagesFor(
      vendor,
      names,
      made.isReasoningLeftOut || made.isMediaLeftOut
        ? request.messages.map((message) => withoutRefused(message, made))
        : request.messages,
      keys === null ? noKeys : wireKeysOf(tools, names),
    ),
    tools,
    mustCallTool: answerTool !== null && vendor.forcesTools && !made.isToolUnforced,
    output,
    maxOutputTokens: Math.min(request.maxOutputTokens ?? most, most),
    reasoning: levelFor(vendor, request),
    asksForReasoning: vendor.reasons && !made.isReasoningLeftOut,
    isReasoningLeftOut: made.isReasoningLeftOut,
  };
  return {
    wireRequest,
    answerTool: answerTool?.name ?? null,
    keys,
    sent: () => ({
      body: withoutFields(vendor.wire.body(wireRequest), made.fields, vendor.wire.spare),
      tools: tools.map(({ name }) => name),
      answerTool: answerTool?.name ?? null,
      output: form,
      isToolForced: wireRequest.mustCallTool,
      maxOutputTokens: wireRequest.maxOutputTokens,
      hasMedia: request.messages.some(hasMedia),
      hasLevel: wireRequest.reasoning !== null,
    }),
  };
}

function keysOf(tools: readonly WireTool[]): PreparedRequest['keys'] {
  const renamed = tools.filter(({ keys }) => keys !== null);
  return renamed.length === 0 ? null : new Map(renamed.map(({ name, keys }) => [name, keys ?? new Map()]));
}

const noKeys: WireKeys = new Map();

/** For the calls in the history: a model should see the names that it is offered. */
const wireKeysOf = (tools: readonly WireTool[], names: WireNames): WireKeys =>
  new Map(
    tools
      .filter(({ keys }) => keys !== null)
      .map(({ name, keys }) => [names.fromWire(name), new Map([...(keys ?? [])].map(([wire, key]) => [key, wire]))]),
  );

const hasMedia = (message: Message) =>
  message.role === 'tool' && message.results.some(({ media }) => media !== undefined && media.length > 0);

function withoutRefused(message: Message, { isReasoningLeftOut, isMediaLeftOut }: Adjustments): Message {
  if (message.role === 'agent' && isReasoningLeftOut) return { ...message, reasoning: null };
  if (message.role !== 'tool' || !isMediaLeftOut) return message;
  return { ...message, results: message.results.map((result) => shownIn(result, () => 'it cannot be read')) };
}
