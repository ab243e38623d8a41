import type { JsonSchema, Message, ToolDefinition, ToolMedia } from './message.ts';
import type { ModelRequest } from './model.ts';

/** Counts bytes, because non-Latin scripts use more tokens per character. */
export const tokensOfText = (text: string): number => tokensOfBytes(Buffer.byteLength(text));

export const tokensOfBytes = (bytes: number): number => Math.ceil(bytes / 3.5);

/** Estimates the tokens of a request, rather too high than too low: only the vendor can count exactly. */
export function tokensOfRequest({
  system,
  messages,
  tools,
  outputSchema,
}: Pick<ModelRequest, 'system' | 'messages' | 'tools' | 'outputSchema'>): number {
  const schema = outputSchema === undefined ? 0 : tokensOfText(JSON.stringify(outputSchema));
  return tokensOfFixed(system, tools) + schema + sumOf(messages.map(tokensOfMessage));
}

/** The tokens that every request of a run contains. */
export const tokensOfFixed = (system: readonly string[], tools: readonly ToolDefinition[]): number =>
  sumOf(system.map(tokensOfText)) + sumOf(tools.map(tokensOfTool));

/** Cached by schema: a schema is the longest part of a tool and outlives the tool, which is created for each run. */
const bytesOfSchemas = new WeakMap<JsonSchema, number>();

function tokensOfTool({ inputSchema, ...named }: ToolDefinition): number {
  const known = bytesOfSchemas.get(inputSchema) ?? Buffer.byteLength(JSON.stringify(inputSchema));
  bytesOfSchemas.set(inputSchema, known);
  return tokensOfBytes(Buffer.byteLength(JSON.stringify({ ...named, inputSchema: 0 })) - 1 + known);
}

export function tokensOfMessage(message: Message): number {
  switch (message.role) {
    case 'user':
      return sumOf(message.parts.map((part) => (part.kind === 'text' ? tokensOfText(part.text) : tokensOfFile)));
    case 'agent': {
      const parts = [...message.calls, ...(message.reasoning?.parts ?? [])];
      return sumOf([message.text, ...parts.map((part) => JSON.stringify(part))].map(tokensOfText));
    }
    case 'tool':
      return sumOf(
        message.results.map(({ output, media }) => tokensOfText(output) + sumOf((media ?? []).map(tokensOfMedia))),
      );
  }
}

/** A picture is billed by its area. The length of a recording is unknown. */
const tokensOfMedia = ({ width, height, bytes }: ToolMedia): number =>
  width === null || height === null ? Math.ceil(bytes / 500) : Math.max(100, Math.ceil((width * height) / 750));

/** About the cost of a page or picture with every vendor. */
const tokensOfFile = 2000;

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0);
