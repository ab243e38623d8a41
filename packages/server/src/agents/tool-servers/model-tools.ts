import { createHash } from 'node:crypto';
import type { JsonSchema, ToolDefinition } from '@vestra/agent/message';
import type { Tool } from '@vestra/agent/tool';
import type { OfferedTool } from '../mcp-client/tool-list.ts';
import type { Manifest } from '../versions/manifest.ts';
import type { ReachableServer, ServerRules } from './server-access.ts';

type Policy = Manifest['mcp_tool_policy'][string];

type Known = { policy: Policy | null; definitions: WeakMap<OfferedTool, ToolDefinition> };

type MadeTool = {
  tool: Tool;
  priceUsd: number | null;
  name: string;
  inputSchema: JsonSchema;
  isRepeatable: boolean;
  reads: OfferedTool['reads'];
};

/** A name that the server lists twice, or that reads like another before the model, counts once: the first. */
export function toolsForModel(offered: readonly OfferedTool[], access: ReachableServer, known: Known): MadeTool[] {
  const byName = new Map<string, MadeTool>();
  for (const each of offered) {
    const tool = toolOf(each, access, known);
    const { name, inputSchema, priceUsd, isRepeatable, reads } = each;
    if (byName.has(tool.definition.name)) continue;
    byName.set(tool.definition.name, { tool, priceUsd, name, inputSchema, isRepeatable, reads });
  }
  return [...byName.values()];
}

const longestName = 128;

function toolOf(offered: OfferedTool, { server, hide }: ReachableServer, { policy, definitions }: Known): Tool {
  const definition = definitions.get(offered) ?? definitionOf(offered, server.slug, hide);
  definitions.set(offered, definition);
  const { name, isReadOnly } = offered;
  const shown = cutText(hide(name), longestName);
  return {
    definition,
    origin: { from: 'server', name: shown, ...ruledAs(shown, name, server, policy), isReadOnly },
    server: server.slug,
    approver: policy?.approver ?? 'user',
    effect: { kind: 'run' },
  };
}

const definitionOf = (
  { name, description, inputSchema }: OfferedTool,
  slug: string,
  hide: (text: string) => string,
): ToolDefinition => ({
  name: modelToolName(slug, hide(name)),
  description: isTooLarge(inputSchema)
    ? `${shownDescription(hide(description))} ${schemaLeftOut}`.trim()
    : shownDescription(hide(description)),
  inputSchema: shownSchema(inputSchema, hide),
});

/** The lists hold own names: a tool whose name is shown otherwise keeps the rules of its own. */
function ruledAs(shown: string, name: string, server: ServerRules, policy: Policy | null) {
  const floor = { deny: server.deny, require_approval: server.require_approval };
  if (shown === name) return { floor, policy };
  const renamed = (list: readonly string[]) => (list.includes(name) ? [shown] : []);
  return {
    floor: { deny: renamed(floor.deny), require_approval: renamed(floor.require_approval) },
    policy: policy && {
      ...policy,
      deny: renamed(policy.deny),
      require_approval: renamed(policy.require_approval),
      run_without_asking: renamed(policy.run_without_asking),
    },
  };
}

/** One that is larger than any model reads is left open: the server checks its arguments itself. */
function shownSchema(schema: JsonSchema, hide: (text: string) => string): JsonSchema {
  if (isTooLarge(schema)) return { type: 'object' };
  return withHidden(schema, hide) as JsonSchema;
}

/** Words of the schema language are not touched: a secret that reads `string` would break it. */
const structural = new Set(['type', 'format', 'required', '$ref', '$schema', '$id', '$anchor']);

function withHidden(value: unknown, hide: (text: string) => string): unknown {
  if (typeof value === 'string') return hide(value);
  if (Array.isArray(value)) return value.map((each) => withHidden(each, hide));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const isStructural = structural.has(key) && (typeof inner === 'string' || Array.isArray(inner));
      return [key, isStructural ? inner : withHidden(inner, hide)];
    }),
  );
}

/** Tools that a model is offered in all: some vendors refuse a request with more. */
export const mostToolsAtOnce = 128;

const longestDescription = 1024;
const largestSchema = 64 * 1024;
const deepestSchema = 32;

/** As much of a description as a model is shown, with a word where it goes on. */
export function shownDescription(description: string): string {
  const cut = cutText(description, longestDescription);
  return cut === description ? cut : `${cut} … (cut)`;
}

const isTooLarge = (schema: JsonSchema): boolean =>
  depthOf(schema) > deepestSchema || JSON.stringify(schema).length > largestSchema;

const schemaLeftOut = '(Its input is too large to be described here: the server says what is wrong with it.)';

/** What an agent does not see of a server's tools, for whoever set the server up. */
export function notesOn(tools: readonly OfferedTool[], isCut: boolean, shown: (text: string) => string): string[] {
  const name = (tool: OfferedTool) => `\`${shown(tool.name).slice(0, 128)}\``;
  const long = tools.filter(({ description }) => cutText(description, longestDescription) !== description);
  const large = tools.filter(({ inputSchema }) => isTooLarge(inputSchema));
  return [
    ...(isCut ? [`The server lists more than ${tools.length} tools; those behind are never used.`] : []),
    ...(tools.length > mostToolsAtOnce
      ? [
          `It has ${tools.length} tools, and an agent is offered ${mostToolsAtOnce} in all: deny those it does not need.`,
        ]
      : []),
    ...long.map(
      (tool) => `Of the description of ${name(tool)} an agent reads the first ${longestDescription} characters.`,
    ),
    ...large.map(
      (tool) =>
        `The input schema of ${name(tool)} is larger than ${largestSchema / 1024} KB and not shown to an agent.`,
    ),
  ].slice(0, 50);
}

/** Stops where it is deep enough to be refused. */
function depthOf(value: unknown, level = 0): number {
  if (typeof value !== 'object' || value === null || level > deepestSchema) return level;
  return Object.values(value).reduce((deep: number, inner) => Math.max(deep, depthOf(inner, level + 1)), level + 1);
}

/** The longest name that every vendor takes. */
const longest = 64;
const hashLength = 8;

/**
 * How a tool of a server is called before a model. Whatever a vendor would refuse is replaced, and a hash of the own
 * name keeps what is shortened or replaced apart, the same on every day.
 */
export function modelToolName(slug: string, tool: string): string {
  const whole = `mcp__${slug}__${tool}`;
  if (whole.length <= longest && /^[A-Za-z0-9_-]+$/.test(whole)) return whole;
  const hash = createHash('sha256').update(tool).digest('hex').slice(0, hashLength);
  const kept = whole.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, longest - hashLength - 1);
  return `${kept}_${hash}`;
}

type Of = { serverId: string; server: ServerRules; policy: Manifest['mcp_tool_policy'][string] | null };

const modelName = /^mcp__([a-z0-9-]+)__(.+)$/;

/**
 * The tools of an app whose sign-in is over, as far as a person has said yes to a call that is not made yet: it asks for the
 * sign-in and is made then, also where no process has seen what the app offers.
 */
export function approvedToolsOf(slug: string, approved: readonly string[]): { tool: Tool; name: string }[] {
  return approved.flatMap((called) => {
    const [, app, name] = modelName.exec(called) ?? [];
    if (app !== slug || name === undefined) return [];
    const tool: Tool = {
      definition: { name: called, description: `A tool of the app \`${slug}\`.`, inputSchema: { type: 'object' } },
      origin: { from: 'server', name, floor: { deny: [], require_approval: [] }, policy: null, isReadOnly: false },
      server: slug,
      approver: 'user',
      effect: { kind: 'run' },
    };
    return [{ tool, name }];
  });
}

/**
 * The tools of a server that is away as far as a test plays them, given as `<slug>.<tool>`. Whether the server would mark
 * one as read-only nobody can say now. It counts as such, since the test gives its result and nothing can happen; what the
 * rules have wait for a yes still does.
 */
export function standInsFor(played: readonly string[], { serverId, server, policy }: Of) {
  const { slug, deny, require_approval } = server;
  const names = played.filter((key) => key.startsWith(`${slug}.`)).map((key) => key.slice(slug.length + 1));
  return names.map((name) => {
    const tool: Tool = {
      definition: {
        name: modelToolName(slug, name),
        description: `A tool of the server \`${slug}\`.`,
        inputSchema: { type: 'object' },
      },
      origin: { from: 'server', name, floor: { deny, require_approval }, policy, isReadOnly: true },
      server: slug,
      approver: policy?.approver ?? 'user',
      effect: { kind: 'run' },
    };
    return { tool, priceUsd: null, serverId, name };
  });
}

/** The first characters of Unicode of a text. Each has one or two units, so the first cut leaves little to count. */
export const cutText = (text: string, length: number): string =>
  [...text.slice(0, length * 2)].slice(0, length).join('').toWellFormed();
