/**
 * What is told of a run once it has ended: one trace per turn or task. What was said, given or answered stands in the fields
 * `content` alone, which are there only where the org asked for them, and then without credentials.
 */
export type RunTrace = {
  kind: 'turn' | 'task';
  /** Of the turn or the task. The ids of the trace and of its spans are made of it: a run told twice is one trace. */
  id: string;
  conversationId: string | null;
  /** The task itself, or the one that a turn was handed off to. */
  taskId: string | null;
  deployment: { id: string; version: number; name: string | null } | null;
  userId: string | null;
  /** In US dollars, of all that was charged for it. */
  costUsd: number | null;
  /** The caller's span that the run belongs to, where the message named one. */
  parent: TraceParent | null;
  /** What the person said, and what they were answered. */
  content: { input: string; output: string | null } | null;
  startedAt: Date;
  endedAt: Date;
  /** Null where it ended well. */
  errorCode: string | null;
  /** The slugs of servers whose tools it did without. */
  missingServers: readonly string[];
  /** In the order in which they began. */
  spans: readonly (ModelCallSpan | ToolStepSpan)[];
};

export type TraceParent = { traceId: string; spanId: string };

export type ModelCallSpan = {
  kind: 'model';
  model: string;
  provider: string;
  startedAt: Date;
  endedAt: Date;
  /** Without those that the vendor's cache served or kept, as the catalogue prices them. */
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  costUsd: number;
  finishReason: 'stop' | 'tool_call' | 'length' | 'error';
  content: { output: string } | null;
  errorCode: string | null;
};

export type ToolStepSpan = {
  kind: 'tool';
  name: string;
  /** The slug of the MCP server; null for a function and for the agent's own tools. */
  server: string | null;
  callId: string;
  startedAt: Date;
  endedAt: Date;
  isError: boolean;
  content: { arguments: string; result: string } | null;
};
