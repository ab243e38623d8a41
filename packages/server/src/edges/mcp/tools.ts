import type { Tool } from '@modelcontextprotocol/server';
import { type Command, commands } from '@vestra/contract/derive/commands';
import type { Scope } from '@vestra/contract/route';
import { z } from 'zod';

type OfferedTool = { command: Command; definition: Tool };

let offered: ReadonlyMap<string, OfferedTool> | undefined;

/** All tools by name. Built on the first request: startup must not wait for a hundred schemas. */
export function allTools(): ReadonlyMap<string, OfferedTool> {
  offered ??= new Map(
    commands.flatMap((command) =>
      command.tool === null ? [] : [[command.tool, { command, definition: define(command, command.tool) }] as const],
    ),
  );
  return offered;
}

/** The tools for daily use, for clients that accept only a small number of tools. */
const coreTools: ReadonlySet<string> = new Set([
  ...['ask', 'answer', 'events', 'interactions_list', 'files'],
  ...['conversations_list', 'conversations_get', 'conversations_messages', 'conversations_stop'],
  ...['tasks_list', 'tasks_get', 'routines_list', 'routines_add', 'memory_search', 'memory_add', 'users_list'],
  ...['deployments_list', 'deployments_get', 'deployments_create', 'init', 'test', 'usage'],
]);

/** The tools of a list. A selection only shortens the list; the scopes decide what a caller may call. */
export const toolsFor = (scopes: readonly Scope[], selection: 'all' | 'core'): Tool[] =>
  [...allTools().values()]
    .filter(
      ({ command, definition }) =>
        isAllowed(command, scopes) && (selection === 'all' || coreTools.has(definition.name)),
    )
    .map(({ definition }) => definition);

export function isAllowed({ scopes: needed }: Command, held: readonly Scope[]): boolean {
  if (needed === null) return false;
  return needed === 'any' || held.includes('all') || needed.some((scope) => held.includes(scope));
}

function define(command: Command, name: string): Tool {
  const output = outputSchema(command);
  return {
    name,
    description: command.summary,
    inputSchema: inputSchema(command),
    ...(output && { outputSchema: output }),
    annotations: annotationsOf(command),
  };
}

function inputSchema({ arguments: taken }: Command): Tool['inputSchema'] {
  const properties = Object.fromEntries(
    taken.map(({ name, schema, place }) => [name, place === 'query' ? querySchemaOf(schema) : inputSchemaOf(schema)]),
  );
  properties.user = { type: 'string', description: 'Absent: the org’s own agent.' };
  const required = taken.filter(({ schema }) => !schema.safeParse(undefined).success).map(({ name }) => name);
  return {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  } as Tool['inputSchema'];
}

/** Absent if the response may not be JSON: clients would validate it against the schema. */
function outputSchema({ route, tool }: Command): Tool['outputSchema'] {
  if (!route) return undefined;
  const { produces, body, response } = route.route;
  const choosesToStream = 'stream' in ((body as { shape?: object } | undefined)?.shape ?? {});
  if (produces && !choosesToStream) return undefined;
  const schema = outputSchemaOf(response, coreTools.has(tool ?? '') ? 2 : 1);
  return schema.type === 'object' ? (schema as Tool['outputSchema']) : undefined;
}

function annotationsOf({ route, name }: Command): Tool['annotations'] {
  const method = route?.route.method ?? (name === 'events' ? 'GET' : 'POST');
  const isRead = method === 'GET';
  // The list is large: `idempotentHint` is false by default, and says nothing of a tool that only reads.
  return {
    readOnlyHint: isRead,
    destructiveHint: method === 'DELETE',
    ...(!isRead && method !== 'POST' && { idempotentHint: true }),
    // Only the agent reaches beyond this service.
    openWorldHint: name === 'ask',
  };
}

type JsonSchema = Record<string, unknown>;

/** The JSON Schema of an argument, with the descriptions that a model reads. */
function inputSchemaOf(schema: z.ZodType): JsonSchema {
  return withoutFillers(convert(schema, 'input')) as JsonSchema;
}

/** Query values are text, but a tool argument may be a number. */
function querySchemaOf(schema: z.ZodType): JsonSchema {
  const read = convert(schema, 'output');
  const isRead = ['integer', 'number', 'boolean'].includes(String(read.type));
  return isRead ? (withoutFillers(read) as JsonSchema) : inputSchemaOf(schema);
}

/**
 * The names and types of a result, without descriptions and limits. Each tool repeats the schemas that it shares with
 * others, so the whole schemas of all tools are larger than clients accept. `depth` is the number of levels of fields.
 */
function outputSchemaOf(schema: z.ZodType, depth: number): JsonSchema {
  return shapeOf(convert(schema, 'output'), depth);
}

function convert(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema, ...rest } = z.toJSONSchema(schema, { target: 'draft-2020-12', io, unrepresentable: 'any' });
  return rest;
}

/** Removes examples, patterns, and the limits that zod gives to every integer. The route checks the patterns. */
function withoutFillers(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutFillers);
  if (typeof node !== 'object' || node === null) return node;
  const kept = Object.entries(node).filter(
    ([key, value]) =>
      !(key === 'examples' && Array.isArray(value)) &&
      !(key === 'pattern' && typeof value === 'string') &&
      !(key === 'maximum' && value === Number.MAX_SAFE_INTEGER) &&
      !(key === 'minimum' && value === Number.MIN_SAFE_INTEGER),
  );
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutFillers(value)]));
}

/**
 * A schema that every value of the whole schema matches. Fields may be added to a response, so `additionalProperties`
 * and `required` are left out: a client with an older tool list must still accept it.
 */
function shapeOf(node: JsonSchema, depth: number): JsonSchema {
  const choices = (node.anyOf ?? node.oneOf) as JsonSchema[] | undefined;
  if (choices) return mergedShape(choices.map((each) => shapeOf(each, depth)));
  const { type, enum: values, const: value, properties, items } = node;
  if (type === 'object' && properties && depth > 0) {
    const fields = Object.entries(properties as Record<string, JsonSchema>);
    return { type, properties: Object.fromEntries(fields.map(([name, each]) => [name, shapeOf(each, depth - 1)])) };
  }
  if (type === 'array' && items && depth > 0) {
    const shape = shapeOf(items as JsonSchema, depth);
    return Object.keys(shape).length > 0 ? { type, items: shape } : { type };
  }
  // Listed values imply their type.
  if (value !== undefined) return { const: value };
  if (values !== undefined) return { enum: values };
  return type === undefined ? {} : { type };
}

/** `type: [a, b]` for plain types, which is shorter than `anyOf`. */
function mergedShape(shapes: readonly JsonSchema[]): JsonSchema {
  const isPlain = (shape: JsonSchema) => Object.keys(shape).join() === 'type';
  if (shapes.some((shape) => Object.keys(shape).length === 0)) return {};
  const rich = shapes.filter((shape) => !isPlain(shape));
  const plain = [...new Set(shapes.filter(isPlain).flatMap(({ type }) => type as string | string[]))];
  if (rich.length === 0) return { type: plain.length === 1 ? plain[0] : plain };
  const [only] = rich;
  if (rich.length === 1 && only && only.enum === undefined && only.const === undefined) {
    return { ...only, type: [...new Set([only.type, ...plain].flat())] };
  }
  return { anyOf: [...rich, ...plain.map((type) => ({ type }))] };
}
