import type { JsonSchema, Message, ToolDefinition, ToolMedia } from './message.ts';
import type { ModelRequest } from './model.ts';

/** By bytes, because scripts beyond Latin take more tokens a character. */
export const tokensOfText = (text: string): number => tokensOfBytes(Buffer.byteLength(text));

export const tokensOfBytes = (bytes: number): number => Math.ceil(bytes / 3.5);

/** About what a request takes, a little above rather than below: nobody counts as its vendor does. */
export function tokensOfRequest({
  system,
  messages,
  tools,
  outputSchema,
}: Pick<ModelRequest, 'system' | 'messages' | 'tools' | 'outputSchema'>): number {
  const schema = outputSchema === undefined ? 0 : tokensOfText(JSON.stringify(outputSchema));
  return tokensOfFixed(system, tools) + schema + sumOf(messages.map(tokensOfMessage));
}

/** What stands in every request of a run. */
export const tokensOfFixed = (system: readonly string[], tools: readonly ToolDefinition[]): number =>
  sumOf(system.map(tokensOfText)) + sumOf(tools.map(tokensOfTool));

/** A schema outlives its tool, which is made anew for each run, and is by far the longest part of it. */
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

/** A picture is billed by its area; of a recording the length is not known. */
const tokensOfMedia = ({ width, height, bytes }: ToolMedia): number =>
  width === null || height === null ? Math.ceil(bytes / 500) : Math.max(100, Math.ceil((width * height) / 750));

/** Pages and pictures cost about this much with every vendor. */
const tokensOfFile = 2000;

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0);
