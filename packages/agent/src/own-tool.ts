import { z } from 'zod';
import type { InteractionDraft } from './interaction.ts';
import { jsonSchemaOf } from './json-schema.ts';
import type { JsonSchema } from './message.ts';
import type { CitablePassage } from './step.ts';
import type { Tool } from './tool.ts';

/** A built-in tool of the agent, with the function that runs it. */
export type OwnTool = {
  tool: Tool;
  run: ((given: Record<string, unknown>, signal: AbortSignal) => Promise<ToolAnswer>) | null;
};

/**
 * `computerSeconds`: how long the computer ran for the call. It is charged regardless of the result. `sources`: the ids of
 * the documents, notebooks and skills that the output shows. `passages`: those that a reply may cite.
 */
export type ToolAnswer = {
  output: string;
  isError: boolean;
  computerSeconds?: number;
  sources?: readonly string[];
  passages?: readonly CitablePassage[];
  media?: readonly AnsweredMedia[];
};

/** A picture or recording from a tool. `fileId` is set if it is already stored as a file. */
export type AnsweredMedia = { mediaType: string; content: Uint8Array; fileId?: string };

export const said = (output: string): ToolAnswer => ({ output, isError: false });
export const failed = (output: string): ToolAnswer => ({ output, isError: true });

type Named<Input> = Pick<Tool, 'timeoutS'> & {
  name: string;
  description: string;
  /** Created once next to the tool, not for each run. */
  input: z.ZodType<Input>;
  /** The allowed values of a field, if only the run knows them. */
  options?: Record<string, readonly string[]>;
  isReadOnly: boolean;
};

/** The loop rejects a call whose arguments do not match the schema, so `given` is always valid. */
export const ownTool = <Input>(
  of: Named<Input>,
  run: (given: Input, signal: AbortSignal) => Promise<ToolAnswer>,
): OwnTool => ({
  tool: { ...described(of), effect: { kind: 'run' } },
  run: (given, signal) => run(given as Input, signal),
});

/** A tool whose call is a question to a person. Their answer is the result. */
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

/** The part of a long text, counted from one. */
export const part = (description: string) => z.int().min(1).describe(description);
