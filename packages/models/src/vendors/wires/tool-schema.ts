import type { JsonSchema, ToolDefinition } from '@vestra/agent/message';
import { type JsonRecord, recordOf } from './json.ts';
import { type ReducedSchema, reduceSchema } from './reduce-schema.ts';
import { type SchemaRules, schemaRules } from './schema-rules.ts';
import { oncePerSchema } from './schemas.ts';

/** The limits of a vendor for tools. */
export type ToolRules = {
  schema: keyof typeof schemaRules;
  /** In characters. Null: no limit is known. */
  longestDescription: number | null;
};

/** A tool in the form that the vendor accepts. */
export type WireTool = ToolDefinition & { keys: ReducedSchema['keys'] };

/** A larger schema would cost more than the answer. It is sent without its properties. */
const largestSchema = 100_000;
const open: ReducedSchema = { schema: { type: 'object', properties: {} }, keys: null };
const openNote = '(Its input is too large to be described here. A wrong input is answered with what is wrong.)';

/** Cached by schema, because every request of a conversation sends the same tools. */
const reducedBy = Object.fromEntries(
  Object.entries<SchemaRules>(schemaRules).map(([name, rules]) => [
    name,
    oncePerText((schema) => reduced(schema, rules)),
  ]),
) as Record<keyof typeof schemaRules, (schema: JsonSchema) => ReducedSchema>;

function reduced(schema: JsonSchema, rules: SchemaRules): ReducedSchema {
  const result = unlessTooDeep(() => reduceSchema(schema, rules), open);
  // Inlined definitions may have made it larger.
  return JSON.stringify(result.schema).length > largestSchema ? open : result;
}

/** Thousands of definitions inside each other exceed the stack, and one such tool must not stop an answer. */
export function unlessTooDeep<Result>(make: () => Result, otherwise: Result): Result {
  try {
    return make();
  } catch (error) {
    if (error instanceof RangeError) return otherwise;
    throw error;
  }
}

const mostTexts = 1_000;

/** Each run parses the functions of its deployment again, so equal schemas share a result. */
function oncePerText(make: (schema: JsonSchema) => ReducedSchema): (schema: JsonSchema) => ReducedSchema {
  const made = new Map<string, ReducedSchema>();
  return oncePerSchema((schema) => {
    const text = JSON.stringify(schema);
    if (text.length > largestSchema) return open;
    const known = made.get(text);
    if (known) return known;
    if (made.size >= mostTexts) made.delete(made.keys().next().value as string);
    const result = make(schema);
    made.set(text, result);
    return result;
  });
}

export function wireToolOf({ name, description, inputSchema }: ToolDefinition, rules: ToolRules): WireTool {
  const { schema, keys } = reducedBy[rules.schema](inputSchema);
  const told = schema === open.schema ? `${description} ${openNote}`.trim() : description;
  const { longestDescription: longest } = rules;
  return { name, description: longest === null ? told : cutTo(told, longest), inputSchema: schema, keys };
}

/** The schema of an answer, without the root shapes and keywords that the vendor rejects. */
export const answerSchemaOf = (schema: JsonSchema, rules: keyof typeof schemaRules): JsonRecord =>
  reducedBy[rules](schema).schema;

const cutMark = ' … (cut)';

/** Cuts after whole characters. Each has one or two UTF-16 units, so the first test is enough for most texts. */
function cutTo(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const characters = [...text.slice(0, longest * 2)];
  if (characters.length <= longest && text.length <= longest * 2) return text;
  return characters.slice(0, longest - cutMark.length).join('') + cutMark;
}

/** Gives the properties of arguments, at every depth, the names that `keys` has for them. */
export function renamed(value: unknown, keys: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((each) => renamed(each, keys));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(recordOf(value)).map(([key, inner]) => [keys.get(key) ?? key, renamed(inner, keys)]),
  );
}
