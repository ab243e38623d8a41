import type { JsonSchema, Message, Reasoning, ToolCall, ToolDefinition } from './message.ts';

export type ModelRequest = {
  /** The id of a model in the catalogue. */
  model: string;
  /** Stable blocks first, so that a vendor's prompt cache can keep them. One text per block. */
  system: readonly string[];
  messages: readonly Message[];
  tools: readonly ToolDefinition[];
  /** The answer must be JSON that matches this schema. */
  outputSchema?: JsonSchema;
  /** Default: the agent's loop. It is not sent to a vendor; the prompt contains everything that a model needs. */
  purpose?: Purpose;
  maxOutputTokens?: number;
  /** How much the model should reason. Default: as its vendor decides. Models that do not reason ignore it. */
  reasoning?: ReasoningLevel;
  /** Ends the call at once. The output so far is kept. */
  signal: AbortSignal;
};

/** `off`: as little as the model can. */
export type ReasoningLevel = 'off' | 'low' | 'medium' | 'high';

/** The purpose of a model request outside the agent's loop. */
export type Purpose = 'judge' | 'pretend_user' | 'keep_memory' | 'draft_scenarios' | 'improve' | 'interview';

/** Each token is counted once: tokens read from or written to the vendor's cache are not part of `inputTokens`. */
export type Usage = {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  /** Tokens written to the vendor's longer cache, which costs more. Default: none. */
  cacheWriteLongTokens?: number;
  /** The model that answered, if it is not the requested one. Each is billed at its own price. */
  model?: string;
  /** Estimated, because the call ended before the vendor reported its usage. */
  isEstimated?: boolean;
};

/** The vendor rejected this tool, so the model was asked without it. `message` is a sentence for the operator. */
export type ModelWarning = { tool: string; message: string };

export type ModelEvent =
  | { type: 'text'; text: string }
  | { type: 'call'; call: ToolCall }
  /** Comes before everything else. */
  | ({ type: 'warning' } & ModelWarning)
  /** The last event of a successful call. `cut`: the answer reached the token limit. */
  | { type: 'end'; usage: Usage; cut: boolean; reasoning?: Reasoning | null };

/**
 * A language model. A call yields text as it is written, then the tool calls, then `end` with the usage.
 * It throws a `ModelFailure` if the call fails. Transient faults (429, 5xx, timeouts, lost connections) are retried
 * with growing pauses, but never after something has been yielded.
 */
export type Model = { stream: (request: ModelRequest) => AsyncIterable<ModelEvent> };

export type ModelFailureReason = 'unavailable' | 'rate_limited' | 'timeout' | 'refused' | 'too_long' | 'invalid_answer';

export type FailureDetails = {
  /** The status of the vendor's response. */
  status?: number;
  /** The vendor's id of the request, for its support. */
  vendorRequestId?: string;
  /** The vendor did not accept the key, or the account has no credit left. */
  isOfAccount?: boolean;
};

export class ModelFailure extends Error {
  readonly reason: ModelFailureReason;
  /** The usage until the failure, if the vendor reported it. */
  readonly usage: Usage | null;
  /** Facts for the operator. They hold nothing of the request. */
  readonly details: FailureDetails;

  constructor(
    reason: ModelFailureReason,
    message: string,
    options: { usage?: Usage; cause?: unknown; details?: FailureDetails } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'ModelFailure';
    this.reason = reason;
    this.usage = options.usage ?? null;
    this.details = options.details ?? {};
  }
}
