import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { routes } from '../api.ts';
import { operatorCommands } from '../operator-commands.ts';
import { commands } from './commands.ts';

const tools = commands.filter((command) => command.tool !== null);

describe('commands', () => {
  it('gives every command and every tool a unique name', () => {
    const names = commands.map((command) => command.name);
    expect(new Set(names).size).toBe(names.length);
    const toolNames = tools.map((command) => command.tool);
    expect(new Set(toolNames).size).toBe(toolNames.length);
  });

  it('has a command for every route that names one', () => {
    const named = routes.flatMap(({ route }) => (route.command === null ? [] : [route.command]));
    expect(commands.map((command) => command.name)).toEqual(expect.arrayContaining(named));
  });

  it('uses words that a shell and MCP accept unquoted', () => {
    for (const { name, tool } of commands) {
      expect(name).toMatch(/^[a-z][a-z-]*( [a-z][a-z-]*)*$/);
      if (tool) expect(tool).toMatch(/^[a-z][a-z_-]{0,63}$/);
    }
  });

  it('shows MCP the names of the contract', () => {
    const seen = 'ask routines_add memory_search embed files users_get answer events test init'.split(' ');
    expect(tools.map((command) => command.tool)).toEqual(expect.arrayContaining(seen));
  });

  it('hides keys and secrets from MCP', () => {
    const told = new Set(['secret', 'webhook_secrets', 'token', 'invite_url']);
    for (const { tool, route } of tools) {
      expect(tool).not.toMatch(/^(keys|secrets)(_|$)/);
      expect(route?.route.showsSecret, tool ?? '').toBeUndefined();
      if (!route) continue;
      const answer = z.toJSONSchema(route.route.response, { unrepresentable: 'any' });
      expect(
        Object.keys(answer.properties ?? {}).filter((property) => told.has(property)),
        tool ?? '',
      ).toEqual([]);
    }
  });

  it('hides local commands from MCP', () => {
    const local = ['apply', 'diff', 'dev', 'listen', 'start', 'files upload', 'browser watch'];
    const shown = commands.filter((command) => local.includes(command.name));
    expect(shown.map((command) => command.name).sort()).toEqual([...local].sort());
    expect(shown.every((command) => command.tool === null)).toBe(true);
  });

  it('keeps operator commands in a separate table', () => {
    expect(commands.filter(({ name }) => name.startsWith('admin'))).toEqual([]);
    expect(Object.keys(operatorCommands)).toEqual(expect.arrayContaining(['org create', 'credit']));
  });

  it('lets every tool accept an optional user', () => {
    for (const { tool, arguments: taken } of tools) {
      const user = taken.find(({ name }) => name === 'user');
      expect(user?.schema.safeParse(undefined).success, tool ?? '').toBe(true);
      expect(user?.schema.safeParse('ada@example.com').success, tool ?? '').toBe(true);
    }
  });

  it('describes every argument for command help and tools', () => {
    const isSaid = (schema: z.ZodType) => {
      const { description, anyOf = [] } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
      return [description, ...anyOf.map((each) => each.description)].some((words) => words !== undefined);
    };
    const silent = commands.flatMap(({ name, arguments: taken }) =>
      taken.flatMap((argument) => (isSaid(argument.schema) ? [] : [`${name} --${argument.name}`])),
    );
    expect(silent).toEqual([]);
  });

  it('has each argument once, and one for every path parameter', () => {
    for (const { name, route, arguments: taken } of commands) {
      const names = taken.map((argument) => argument.name);
      expect(new Set(names).size, name).toBe(names.length);
      const parts = [...(route?.route.path.matchAll(/\{(\w+)\}/g) ?? [])].map((match) => match[1]);
      const placed = taken.filter(({ place }) => place === 'params').map(({ field }) => field);
      expect(placed.sort(), name).toEqual(parts.sort());
    }
  });
});
