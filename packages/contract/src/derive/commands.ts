import type { z } from 'zod';
import { type RouteRow, routes } from '../api.ts';
import { compositeCommands, type NeededScopes } from '../commands.ts';
import { userId } from '../user-id.ts';

type Place = 'params' | 'query' | 'body';

type Argument = {
  /** The typed name; `user` stands for the field `user_id`. */
  name: string;
  schema: z.ZodType;
  /** The place of the value in the request; null if the command itself uses it. */
  place: Place | null;
  /** The field in that place; null: the value is the whole body. */
  field: string | null;
};

export type Command = {
  /** The words after `vestra`. */
  name: string;
  /** The name of the MCP tool; null if MCP does not show the command. */
  tool: string | null;
  summary: string;
  /** The scopes that the key needs; null if no key is used. */
  scopes: NeededScopes | null;
  /** The route of the command; null if it makes several calls, or none. */
  route: RouteRow | null;
  arguments: readonly Argument[];
};

/** Every command of the CLI, including every tool of the MCP endpoint. */
export const commands: readonly Command[] = [...fromRoutes(), ...fromComposites()];

function fromRoutes(): Command[] {
  return routes.flatMap((row) => {
    const { command, summary } = row.route;
    if (command === null) return [];
    const tool = isShownByMcp(row) ? toolName(command) : null;
    return [
      {
        name: command,
        tool,
        summary,
        scopes: row.route.auth === 'key' ? row.route.scopes : null,
        route: row,
        arguments: withUser(argumentsOf(row), tool),
      },
    ];
  });
}

function fromComposites(): Command[] {
  return compositeCommands.map(({ name, summary, scopes, mcp, input }) => {
    const tool = mcp ? toolName(name) : null;
    const own = Object.entries(input).map(([field, schema]) => ({ name: field, schema, place: null, field }));
    return { name, tool, summary, scopes, route: null, arguments: withUser(own, tool) };
  });
}

function toolName(command: string): string {
  return command.split(' ').join('_');
}

/** Keys and secrets are never handled through MCP, a tool call carries no upload, and a stream never ends. */
function isShownByMcp({ name, family, route }: RouteRow): boolean {
  const handlesSecrets =
    ['keys', 'secrets'].includes(family) || name === 'apps.putClient' || route.showsSecret === true;
  const takesJson = !route.accepts || route.accepts.includes('application/json');
  return route.auth === 'key' && !handlesSecrets && takesJson && name !== 'browser.watch';
}

function argumentsOf({ route }: RouteRow): Argument[] {
  const found = [
    ...fieldsOf(route.params, 'params'),
    ...fieldsOf(route.query, 'query'),
    ...fieldsOf(route.body, 'body'),
  ];
  // A command returns one answer; `events` is the one that follows a stream.
  return found.filter(({ field }) => !(route.streams && field === 'stream'));
}

function fieldsOf(schema: z.ZodType | undefined, place: Place): Argument[] {
  if (!schema) return [];
  const { shape } = schema as { shape?: Record<string, z.ZodType> };
  if (!shape) return [{ name: place, schema, place, field: null }];
  return Object.entries(shape).map(([field, fieldSchema]) =>
    field === 'user_id'
      ? { name: 'user', schema: optionalUser(fieldSchema.description), place, field }
      : { name: field, schema: fieldSchema, place, field },
  );
}

/** Passed as a flag even if the path contains it. The route explains the default. */
function optionalUser(meaning = 'Your own id of the user.'): z.ZodType {
  return userId().optional().describe(meaning);
}

/** Every tool accepts an optional `user`, even if its route ignores it. */
function withUser(own: Argument[], tool: string | null): Argument[] {
  if (tool === null || own.some(({ name }) => name === 'user')) return own;
  return [...own, { name: 'user', schema: optionalUser(), place: null, field: null }];
}
