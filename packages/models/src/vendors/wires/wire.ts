import type { JsonSchema, Message, ToolDefinition, ToolMedia, ToolResult } from '@vestra/agent/message';
import type { Usage } from '@vestra/agent/model';
import type { PartsWriter } from '../reasoning.ts';

/** How one kind of endpoint is spoken to: the body of a request, and what the events of its stream mean. */
export type Wire = {
  body: (request: WireRequest) => object;
  /** Each event is one JSON value of the stream. An event that reports an error throws a `VendorError`. */
  reader: (answer: Answer, request: WireRequest) => (event: unknown) => void;
};

/** A request as every wire takes it: no empty texts, and names, ids and files that the vendor accepts. */
export type WireRequest = {
  modelId: string;
  system: readonly string[];
  messages: readonly Message[];
  tools: readonly ToolDefinition[];
  /** The answer is the arguments of a tool: the model may not answer with text alone. */
  mustCallTool: boolean;
  output: { type: 'text' } | { type: 'json' } | { type: 'schema'; schema: JsonSchema; strict: boolean };
  maxOutputTokens: number;
  /** Whether the answer should carry encrypted reasoning. A model that does not reason refuses the question. */
  asksForReasoning: boolean;
  /** The endpoint found fault with what was thought: none of it is sent, and the endpoint's way to say so is used. */
  isReasoningLeftOut: boolean;
};

/** What a reader has understood so far. */
export type Answer = PartsWriter & {
  /** Written since it was last taken. */
  text: string;
  calls: WrittenCall[];
  usage: Usage | null;
  /** `broken`: the vendor itself gave up on it. Null while the vendor has not said. */
  end: 'complete' | 'cut' | 'filtered' | 'broken' | null;
  /** Nothing follows, though the connection may stay open. */
  isOver: boolean;
};

/** `arguments` as the model wrote them: JSON, or what was meant to be. */
export type WrittenCall = { id: string; name: string; arguments: string };

export const emptyAnswer = (): Answer => ({
  text: '',
  calls: [],
  parts: [],
  thoughtLength: 0,
  usage: null,
  end: null,
  isOver: false,
});

/** Pictures and recordings that go with a tool's answer; all of them are here, and of kinds that the vendor takes. */
export const mediaOf = ({ media }: ToolResult): (ToolMedia & { content: Uint8Array })[] =>
  (media ?? []).flatMap((each) => (each.content ? [{ ...each, content: each.content }] : []));
