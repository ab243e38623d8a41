import type { JsonSchema, ToolDefinition } from '@vestra/agent/message';
import type { OutputForm } from './adjustments.ts';
import type { Vendor } from './vendor.ts';
import { strictSchemaOf } from './wires/strict-schema.ts';
import { answerSchemaOf } from './wires/tool-schema.ts';
import type { WireRequest } from './wires/wire.ts';

type OutputFormat = {
  output: WireRequest['output'];
  /** If the vendor cannot enforce the schema, the model is instructed instead. */
  instruction: string | null;
  /** A tool whose arguments are the answer. */
  answerTool: ToolDefinition | null;
  /** The form that was used; null without a schema that the vendor could reject. */
  form: OutputForm | null;
};

const plain: OutputFormat = { output: { type: 'text' }, instruction: null, answerTool: null, form: null };

/**
 * Uses native structured output if the vendor supports this schema, else an answer tool, else an instruction. `best`: the
 * best form that the vendor has not rejected for this schema.
 */
export function outputFormatOf(
  schema: JsonSchema | undefined,
  tools: readonly { name: string }[],
  vendor: Vendor,
  { output: best, isToolUnforced }: { output: OutputForm; isToolUnforced: boolean },
): OutputFormat {
  if (!schema) return plain;
  const instruction = `Answer with one JSON value and nothing else. It must be valid against this JSON Schema:\n${JSON.stringify(schema)}`;
  if (schema.type !== 'object') return { ...plain, instruction };
  if (best === 'words') return { ...plain, instruction, form: best };
  if (best === 'json') return { ...plain, output: { type: 'json' }, instruction, form: best };
  if (!vendor.takesSchema(schema, tools.length > 0)) {
    const tool = answerTool(schema, tools);
    const asked = `Give your answer by calling the tool \`${tool.name}\`, and write nothing else.`;
    const isForced = vendor.forcesTools && !isToolUnforced;
    return { ...plain, answerTool: tool, instruction: isForced ? null : asked, form: 'loose' };
  }
  const { strictMode, loose } = vendor.answerRules;
  const { schema: strict, isUnchanged } = best === 'strict' && strictMode !== null ? strictSchemaOf(schema) : noStrict;
  if (strict && (strictMode === 'reduced' || isUnchanged)) {
    const sent = strictMode === 'reduced' ? strict : schema;
    return { ...plain, output: { type: 'schema', schema: sent, strict: true }, form: 'strict' };
  }
  const sent = loose === null ? schema : answerSchemaOf(schema, loose);
  return { ...plain, output: { type: 'schema', schema: sent, strict: false }, form: 'loose' };
}

const noStrict = { schema: null, isUnchanged: false };

function answerTool(inputSchema: JsonSchema, tools: readonly { name: string }[]): ToolDefinition {
  let name = 'json';
  while (tools.some((tool) => tool.name === name)) name += '_';
  return { name, description: 'Respond with a JSON object.', inputSchema };
}
