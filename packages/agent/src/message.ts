/** A message in a vendor-neutral form. */
export type Message = UserMessage | AgentMessage | ToolMessage;

export type UserMessage = { role: 'user'; parts: readonly UserPart[] };
export type AgentMessage = { role: 'agent'; text: string; calls: readonly ToolCall[]; reasoning?: Reasoning | null };
export type ToolMessage = { role: 'tool'; results: readonly ToolResult[] };

export type UserPart =
  /** `isPassing`: holds for this request only and is not repeated later, so no cache may end after it. */
  | { kind: 'text'; text: string; isPassing?: true }
  /** An image or a PDF, for models that can read it. */
  | { kind: 'file'; filename: string; mediaType: string; bytes: Uint8Array };

/**
 * The model's reasoning in its vendor's format, including signatures. It is never read or shown. It is sent back
 * unchanged, and only to the model that wrote it.
 */
export type Reasoning = { model: string; parts: readonly unknown[] };

/** `arguments` is the raw output of the model. It is validated against the tool's schema before anything uses it. */
export type ToolCall = { id: string; name: string; arguments: unknown };

export type ToolResult = {
  callId: string;
  name: string;
  output: string;
  isError: boolean;
  media?: readonly ToolMedia[] | undefined;
};

/** A picture or recording returned by a tool and stored as a file. `content` is set only on the way to a model. */
export type ToolMedia = {
  fileId: string;
  mediaType: string;
  bytes: number;
  width: number | null;
  height: number | null;
  content?: Uint8Array;
};

export type JsonSchema = { readonly [keyword: string]: unknown };

export type ToolDefinition = { name: string; description: string; inputSchema: JsonSchema };
