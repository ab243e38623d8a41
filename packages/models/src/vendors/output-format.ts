import type { JSONSchema7 } from '@ai-sdk/provider';
import type { JsonSchema } from '@vestra/agent/message';
import type { Vendor } from './vendor.ts';

export type OutputFormat = {
  responseFormat?: { type: 'json'; schema?: JSONSchema7; name: string };
  /** Where the vendor cannot be held to the schema, the model is told of it. */
  instruction: string | null;
  /** Whether the vendor itself checks every token against the schema. */
  strict: boolean;
};

const noFormat: OutputFormat = { instruction: null, strict: false };

/** Native structured output where the vendor has it for this schema, else words. `isRefused`: the endpoint said no to it. */
export function outputFormatOf(schema: JsonSchema | undefined, vendor: Vendor, isRefused: boolean): OutputFormat {
  if (!schema) return noFormat;
  const instruction = `Answer with one JSON value and nothing else. It must be valid against this JSON Schema:\n${JSON.stringify(schema)}`;
  if (schema.type !== 'object') return { instruction, strict: false };
  if (isRefused) return { responseFormat: { type: 'json', name: 'answer' }, instruction, strict: false };
  return {
    responseFormat: { type: 'json', schema: schema as JSONSchema7, name: 'answer' },
    instruction: null,
    strict: vendor.name === 'anthropic' || vendor.name === 'google' || isStrict(schema),
  };
}

const notStrict = ['allOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentRequired', 'dependentSchemas'];

/** OpenAI refuses, in strict mode, every schema with an optional property or one that is open to further ones. */
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
