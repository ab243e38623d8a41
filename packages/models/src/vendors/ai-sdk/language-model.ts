/**
 * The part of the AI SDK's language-model interface that is used here, in its versions v2, v3 and v4. Written down
 * instead of imported: an installed package brings its own version, and none may be installed.
 */
export type AiSdkModel = {
  specificationVersion: string;
  doStream: (options: AiSdkCall) => PromiseLike<{ stream: ReadableStream<unknown> }>;
};

export type AiSdkVersion = 'v2' | 'v3' | 'v4';
export const aiSdkVersions: readonly AiSdkVersion[] = ['v2', 'v3', 'v4'];

export type AiSdkCall = {
  prompt: readonly AiSdkMessage[];
  maxOutputTokens: number;
  tools?: readonly { type: 'function'; name: string; description: string; inputSchema: unknown }[];
  toolChoice?: { type: 'required' };
  responseFormat?: { type: 'json'; schema?: unknown; name?: string };
  reasoning?: 'none' | 'low' | 'medium' | 'high';
  abortSignal: AbortSignal;
};

export type AiSdkMessage = { role: 'system'; content: string } | { role: AiSdkRole; content: readonly AiSdkPart[] };
type AiSdkRole = 'user' | 'assistant' | 'tool';
export type AiSdkPart = { type: string; [field: string]: unknown };
