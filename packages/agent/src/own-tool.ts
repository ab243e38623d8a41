import { z } from 'zod';
import type { InteractionDraft } from './interaction.ts';
import { jsonSchemaOf } from './json-schema.ts';
import type { JsonSchema } from './message.ts';
import type { Tool } from './tool.ts';

/** A tool of the agent's own, with what a call of it does where it is run here. */
export type OwnTool = {
  tool: Tool;
  run: ((given: Record<string, unknown>, signal: AbortSignal) => Promise<ToolAnswer>) | null;
};

/** `computerSeconds`: how long the computer has run for it, which is charged whatever came of it. */
export type ToolAnswer = {
  output: string;
  isError: boolean;
  computerSeconds?: number;
  media?: readonly AnsweredMedia[];
};

/** A picture or a recording as a tool has it. `fileId`: it is kept as this file already. */
export type AnsweredMedia = { mediaType: string; content: Uint8Array; fileId?: string };

export const said = (output: string): ToolAnswer => ({ output, isError: false });
export const failed = (output: string): ToolAnswer => ({ output, isError: true });

type Named<Input> = Pick<Tool, 'timeoutS'> & {
  name: string;
  description: string;
  /** Made once, beside the tool and not with each run. */
  input: z.ZodType<Input>;
  /** What a field may be, where only the run knows it. */
  options?: Record<string, readonly string[]>;
  isReadOnly: boolean;
};

/** The loop records no call whose arguments do not fit the schema, and so none is run: `given` is what the schema says. */
export const ownTool = <Input>(
  of: Named<Input>,
  run: (given: Input, signal: AbortSignal) => Promise<ToolAnswer>,
): OwnTool => ({
  tool: { ...described(of), effect: { kind: 'run' } },
  run: (given, signal) => run(given as Input, signal),
});

/** A call of it is a question to a person, and their answer its result. */
export const askingTool = <Input>(of: Named<Input>, draft: (given: Input) => InteractionDraft): OwnTool => ({
  tool: {
    ...described(of),
    effect: { kind: 'ask', answeredBy: 'person', draft: (call) => draft(call.arguments as Input) },
  },
  run: null,
});

export const handingTool = <Input>(of: Named<Input>): OwnTool => ({
  tool: { ...described(of), effect: { kind: 'hand_off' } },
  run: null,
});

const described = <Input>({ name, description, input, options, isReadOnly, timeoutS }: Named<Input>) => ({
  definition: {
    name,
    description,
    inputSchema: options ? withOptions(jsonSchemaOf(input), options) : jsonSchemaOf(input),
  },
  origin: { from: 'agent' as const, isReadOnly },
  server: null,
  ...(timeoutS !== undefined && { timeoutS }),
});

function withOptions(schema: JsonSchema, options: Record<string, readonly string[]>): JsonSchema {
  const properties = { ...(schema.properties as Record<string, JsonSchema>) };
  for (const [field, values] of Object.entries(options)) properties[field] = { ...properties[field], enum: values };
  return { ...schema, properties };
}

export const text = (description: string, maxLength = 4000) => z.string().min(1).max(maxLength).describe(description);

/** Which part of something long, counted from one. */
export const part = (description: string) => z.int().min(1).describe(description);
