import type { Tool } from '@modelcontextprotocol/server';
import { type Command, commands } from '@vestra/contract/derive/commands';
import type { Scope } from '@vestra/contract/route';
import { inputSchemaOf, outputSchemaOf, querySchemaOf } from './tool-schema.ts';

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
