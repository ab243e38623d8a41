import type { JsonSchema, ToolDefinition } from '@vestra/agent/message';
import type { Vendor } from './vendor.ts';
import type { WireRequest } from './wires/wire.ts';

export type OutputFormat = {
  output: WireRequest['output'];
  /** If the vendor cannot enforce the schema, the model is instructed instead. */
  instruction: string | null;
  /** A tool whose arguments are the answer. */
  answerTool: ToolDefinition | null;
};

const plain: OutputFormat = { output: { type: 'text' }, instruction: null, answerTool: null };

/**
 * Uses native structured output if the vendor supports this schema, else an answer tool, else an instruction.
 * `isRefused`: the endpoint rejected the schema.
 */
export function outputFormatOf(
  schema: JsonSchema | undefined,
  tools: readonly ToolDefinition[],
  vendor: Vendor,
  isRefused: boolean,
): OutputFormat {
  if (!schema) return plain;
  const instruction = `Answer with one JSON value and nothing else. It must be valid against this JSON Schema:\n${JSON.stringify(schema)}`;
  if (schema.type !== 'object') return { ...plain, instruction };
  if (isRefused) return { ...plain, output: { type: 'json' }, instruction };
  if (!vendor.takesSchema(schema, tools.length > 0)) {
    const tool = answerTool(schema, tools);
    const asked = `Give your answer by calling the tool \`${tool.name}\`, and write nothing else.`;
    return { ...plain, answerTool: tool, instruction: vendor.forcesTools ? null : asked };
  }
  return { ...plain, output: { type: 'schema', schema, strict: isStrict(schema) } };
}

function answerTool(inputSchema: JsonSchema, tools: readonly ToolDefinition[]): ToolDefinition {
  let name = 'json';
  while (tools.some((tool) => tool.name === name)) name += '_';
  return { name, description: 'Respond with a JSON object.', inputSchema };
}

const notStrict = ['allOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentRequired', 'dependentSchemas'];

/** In strict mode, OpenAI rejects every schema with an optional property or additional properties. */
function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (typeof schema !== 'object' || schema === null) return true;
  const node = schema as Record<string, unknown>;
  if (notStrict.some((keyword) => keyword in node) || 'patternProperties' in node) return false;
  const properties = (node.properties ?? {}) as Record<string, unknown>;
  if (node.type === 'object' || node.properties) {
    const required = Array.isArray(node.required) ? node.required : [];
    if (node.additionalProperties !== false) return false;
    if (!Object.keys(properties).every((name) => required.includes(name))) return false;
  }
  const definitions = { ...(node.$defs as object), ...(node.definitions as object) };
  return [...Object.values(properties), ...Object.values(definitions), node.items, node.anyOf].every(isStrict);
}
