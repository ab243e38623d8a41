/** What a model reads and writes, in no vendor's words. */
export type Message = UserMessage | AgentMessage | ToolMessage;

export type UserMessage = { role: 'user'; parts: readonly UserPart[] };
export type AgentMessage = { role: 'agent'; text: string; calls: readonly ToolCall[]; reasoning?: Reasoning | null };
export type ToolMessage = { role: 'tool'; results: readonly ToolResult[] };

export type UserPart =
  /** `isPassing`: holds for this request alone and is not said again later, so that no cache may end behind it. */
  | { kind: 'text'; text: string; isPassing?: true }
  /** An image or a PDF, for models that can read it. */
  | { kind: 'file'; filename: string; mediaType: string; bytes: Uint8Array };

/**
 * What a model thought on the way to an answer, in its vendor's own words and with its vendor's seals. It is read by
 * nobody, shown to nobody and sent back unchanged, to the model that wrote it and to no other.
 */
export type Reasoning = { model: string; parts: readonly unknown[] };

/** `arguments` is what the model wrote; whether it fits the tool's schema is decided before anybody acts on it. */
export type ToolCall = { id: string; name: string; arguments: unknown };

export type ToolResult = {
  callId: string;
  name: string;
  output: string;
  isError: boolean;
  media?: readonly ToolMedia[] | undefined;
};

/** A picture or a recording that a tool answered with, kept as a file. `content`: where it is on its way to a model. */
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
