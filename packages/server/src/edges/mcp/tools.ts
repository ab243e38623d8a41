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

export const toolsFor = (scopes: readonly Scope[]): Tool[] =>
  [...allTools().values()].filter(({ command }) => isAllowed(command, scopes)).map(({ definition }) => definition);

export function isAllowed({ scopes: needed }: Command, held: readonly Scope[]): boolean {
  if (needed === null) return false;
  return needed === 'any' || held.includes('all') || needed.some((scope) => held.includes(scope));
}

function define(command: Command, name: string): Tool {
  const outputSchema = outputSchemaOf(command);
  return {
    name,
    description: command.summary,
    inputSchema: inputSchemaOf(command),
    ...(outputSchema && { outputSchema }),
    annotations: annotationsOf(command),
  };
}

type JsonSchema = Record<string, unknown>;

function inputSchemaOf({ arguments: taken }: Command): Tool['inputSchema'] {
  const properties = Object.fromEntries(
    taken.map(({ name, schema, place }) => [name, place === 'query' ? ofQuery(schema) : toSchema(schema, 'input')]),
  ) as Record<string, JsonSchema>;
  properties.user = { ...properties.user, description: 'The user who is meant; absent: the org’s own agent.' };
  const required = taken.filter(({ schema }) => !schema.safeParse(undefined).success).map(({ name }) => name);
  return { type: 'object', properties, required, additionalProperties: false } as Tool['inputSchema'];
}

/** Query values are text, but a tool argument may be a number. */
function ofQuery(schema: z.ZodType): JsonSchema {
  const read = toSchema(schema, 'output');
  return ['integer', 'number', 'boolean'].includes(String(read.type)) ? read : toSchema(schema, 'input');
}

/** Absent if the response may not be JSON: clients would validate it against the schema. */
function outputSchemaOf({ route }: Command): Tool['outputSchema'] {
  if (!route) return undefined;
  const { produces, body, response } = route.route;
  const choosesToStream = 'stream' in ((body as { shape?: object } | undefined)?.shape ?? {});
  if (produces && !choosesToStream) return undefined;
  const schema = toSchema(response, 'output');
  return schema.type === 'object' ? (schema as Tool['outputSchema']) : undefined;
}

function toSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io,
    unrepresentable: 'any',
    // A response may gain fields. A client with an older tool list must still accept it.
    override: ({ jsonSchema }) => {
      if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  return rest;
}

function annotationsOf({ route, name }: Command): Tool['annotations'] {
  const method = route?.route.method ?? (name === 'events' ? 'GET' : 'POST');
  return {
    readOnlyHint: method === 'GET',
    destructiveHint: method === 'DELETE',
    idempotentHint: method !== 'POST',
    // Only the agent reaches beyond this service.
    openWorldHint: name === 'ask',
  };
}
