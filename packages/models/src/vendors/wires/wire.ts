import type { JsonSchema, Message, ToolDefinition, ToolMedia, ToolResult } from '@vestra/agent/message';
import type { ReasoningLevel, Usage } from '@vestra/agent/model';
import type { PartsWriter } from '../reasoning.ts';

/** The format of one kind of endpoint: the request body and the events of its stream. */
export type Wire = {
  body: (request: WireRequest) => object;
  /**
   * Fields that a request can do without, if an endpoint rejects them. `store` is not among them: without it the vendor
   * would store the data of users.
   */
  spare: Readonly<Record<string, SpareField>>;
  /**
   * Each event is one JSON value of the stream, or `doneMark`. An event that reports an error throws a `VendorError`.
   */
  reader: (answer: WireAnswer, request: WireRequest) => (event: unknown) => void;
  /** Called with the whole text of an answer. */
  onWritten?: (text: string) => void;
};

/**
 * `paths`: its places in the body, `*` for each element of a list. `renamedTo`: the name that newer endpoints use.
 * `named`: other words of a vendor for it.
 */
export type SpareField = { paths: readonly string[]; renamedTo?: string; named?: RegExp };

/** A vendor-neutral request: no empty texts, and only names, ids and files that the vendor accepts. */
export type WireRequest = {
  modelId: string;
  system: readonly string[];
  messages: readonly Message[];
  tools: readonly ToolDefinition[];
  /** The answer is the arguments of a tool: the model must not answer with text alone. */
  mustCallTool: boolean;
  output: { type: 'text' } | { type: 'json' } | { type: 'schema'; schema: JsonSchema; strict: boolean };
  maxOutputTokens: number;
  /** Null: as the vendor decides, or the model does not reason. */
  reasoning: ReasoningLevel | null;
  /** Whether the answer should include encrypted reasoning. A model that does not reason rejects this option. */
  asksForReasoning: boolean;
  /** The endpoint rejected the reasoning: none is sent, and the endpoint's placeholder is used. */
  isReasoningLeftOut: boolean;
};

/** The parsed part of the answer. */
export type WireAnswer = PartsWriter & {
  /** Text since the last read. */
  text: string;
  calls: WrittenCall[];
  usage: Usage | null;
  /**
   * `broken`: the vendor itself gave up. `unknown`: a reason that nobody documents, which is complete only if something
   * was written. Null while the vendor has not reported an end.
   */
  end: 'complete' | 'cut' | 'filtered' | 'broken' | 'unknown' | null;
  /** The vendor's reason for the end, for messages to people. */
  endReason: string;
  /** Nothing follows, although the connection may stay open. */
  isOver: boolean;
};

/** `arguments` as the model wrote them, valid JSON or not. */
export type WrittenCall = { id: string; name: string; arguments: string };

export const emptyAnswer = (): WireAnswer => ({
  text: '',
  calls: [],
  parts: [],
  thoughtLength: 0,
  usage: null,
  end: null,
  endReason: '',
  isOver: false,
});

/** The last line of a chat-completions stream, which other servers send too. */
export const doneMark = '[DONE]';

/** The pictures and recordings of a tool result, loaded and of supported types. */
export const mediaOf = ({ media }: ToolResult): (ToolMedia & { content: Uint8Array })[] =>
  (media ?? []).flatMap((each) => (each.content ? [{ ...each, content: each.content }] : []));
