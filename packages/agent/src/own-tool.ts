import type { InteractionDraft } from './interaction.ts';
import type { JsonSchema, ToolCall } from './message.ts';
import type { Tool } from './tool.ts';

/** A tool of the agent's own, with what a call of it does where it is run here. */
export type OwnTool = {
  tool: Tool;
  run: ((given: Record<string, unknown>, signal: AbortSignal) => Promise<ToolAnswer>) | null;
};

/** `computerSeconds`: how long the computer has run for it, which is charged whatever came of it. */
export type ToolAnswer = { output: string; isError: boolean; computerSeconds?: number };

export const said = (output: string): ToolAnswer => ({ output, isError: false });
export const failed = (output: string): ToolAnswer => ({ output, isError: true });

type Named = Pick<Tool, 'timeoutS'> & { name: string; description: string; input: JsonSchema; isReadOnly: boolean };

export const ownTool = (of: Named, run: NonNullable<OwnTool['run']>): OwnTool => ({
  tool: { ...described(of), effect: { kind: 'run' } },
  run,
});

/** A call of it is a question to a person, and their answer its result. */
export const askingTool = (of: Named, draft: (call: ToolCall) => InteractionDraft): OwnTool => ({
  tool: { ...described(of), effect: { kind: 'ask', answeredBy: 'person', draft } },
  run: null,
});

export const handingTool = (of: Named): OwnTool => ({
  tool: { ...described(of), effect: { kind: 'hand_off' } },
  run: null,
});

const described = ({ name, description, input, isReadOnly, timeoutS }: Named) => ({
  definition: { name, description, inputSchema: input },
  origin: { from: 'agent' as const, isReadOnly },
  server: null,
  ...(timeoutS !== undefined && { timeoutS }),
});

/** Every field that is not marked as optional is required. */
export const object = (properties: Record<string, JsonSchema>, optional: readonly string[] = []): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
});

export const text = (description: string, maxLength = 4000): JsonSchema => ({
  type: 'string',
  minLength: 1,
  maxLength,
  description,
});
