import type { z } from 'zod';
import { type RouteRow, routes } from '../api.ts';
import { compositeCommands, type NeededScopes } from '../commands.ts';
import { userId } from '../user-id.ts';

type Place = 'params' | 'query' | 'body';

type Argument = {
  /** The name a person types; `user` stands for the field `user_id`. */
  name: string;
  schema: z.ZodType;
  /** Where the value goes in the request; null where the command itself uses it. */
  place: Place | null;
  /** The field in that place; null: the value is the whole body. */
  field: string | null;
};

export type Command = {
  /** The words after `vestra`. */
  name: string;
  /** The name of the MCP tool; null where MCP does not show the command. */
  tool: string | null;
  summary: string;
  /** What the key needs; null where no key is used. */
  scopes: NeededScopes | null;
  /** The route that the command calls; null where it is more than one call, or none. */
  route: RouteRow | null;
  arguments: readonly Argument[];
};

/** Every command of the CLI, and among them every tool of the MCP endpoint. */
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

/** Keys and secrets are never handled through MCP, a tool call carries no upload, and a watch has no end. */
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
  // A command gives one answer: `events` is the one that follows.
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

/** Named by a flag even where the address holds it; what it means when absent is the route's to say. */
function optionalUser(meaning = 'Your own id of the user.'): z.ZodType {
  return userId().optional().describe(meaning);
}

/** Every tool takes an optional `user`; one whose route names no user has no use for it. */
function withUser(own: Argument[], tool: string | null): Argument[] {
  if (tool === null || own.some(({ name }) => name === 'user')) return own;
  return [...own, { name: 'user', schema: optionalUser(), place: null, field: null }];
}
