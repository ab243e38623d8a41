import type { JsonSchema, Message, Reasoning, ToolCall, ToolDefinition } from './message.ts';

export type ModelRequest = {
  /** The id of a model of the catalogue. */
  model: string;
  /** Stable first, so that a vendor's prompt cache can keep it: one text per block. */
  system: readonly string[];
  messages: readonly Message[];
  tools: readonly ToolDefinition[];
  /** The answer must be JSON that fits this. */
  outputSchema?: JsonSchema;
  /** Absent: the agent's own work. A vendor hears nothing of it: what a model has to know stands in the prompt. */
  purpose?: Purpose;
  maxOutputTokens?: number;
  /** Ends the call at once; what has been streamed until then is kept. */
  signal: AbortSignal;
};

/** What a model is asked for outside the agent's loop. */
export type Purpose = 'judge' | 'pretend_user' | 'keep_memory' | 'draft_scenarios' | 'interview';

/** Each token is in one number alone: what was read from the vendor's cache or written to it is no other input. */
export type Usage = {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  /** Written to be kept for the vendor's longer time, which costs more; absent: none. */
  cacheWriteLongTokens?: number;
  /** The model that answered, where it is not the one that was asked for: each is billed at its own price. */
  model?: string;
  /** Counted here, because the call ended before the vendor said what it used. */
  isEstimated?: boolean;
};

export type ModelEvent =
  | { type: 'text'; text: string }
  | { type: 'call'; call: ToolCall }
  /** The last event of a call that went well. `cut`: the answer ran into the token limit. */
  | { type: 'end'; usage: Usage; cut: boolean; reasoning?: Reasoning | null };

/**
 * A language model. A call yields text as it is written, then the tool calls, then `end` with what it used.
 *
 * It throws a `ModelFailure` where the call fails. Passing faults (429, 5xx, a timeout, a lost connection) are tried
 * again with growing pauses inside the call, but never after something has been yielded.
 */
export type Model = { stream: (request: ModelRequest) => AsyncIterable<ModelEvent> };

export type ModelFailureReason = 'unavailable' | 'rate_limited' | 'timeout' | 'refused' | 'too_long' | 'invalid_answer';

export class ModelFailure extends Error {
  readonly reason: ModelFailureReason;
  /** What had been used until then, where the vendor said so. */
  readonly usage: Usage | null;

  constructor(reason: ModelFailureReason, message: string, options: { usage?: Usage; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'ModelFailure';
    this.reason = reason;
    this.usage = options.usage ?? null;
  }
}
