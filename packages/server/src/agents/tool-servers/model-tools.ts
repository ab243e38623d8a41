import { createHash } from 'node:crypto';
import type { JsonSchema, ToolDefinition } from '@vestra/agent/message';
import type { Tool } from '@vestra/agent/tool';
import type { OfferedTool, ToolList } from '../mcp-client/tool-list.ts';
import type { Manifest } from '../versions/manifest.ts';
import type { ReachableServer, ServerRules } from './server-access.ts';

type Policy = Manifest['mcp_tool_policy'][string];

type ToolContext = { policy: Policy | null; definitions: WeakMap<OfferedTool, ToolDefinition> };

type ModelTool = {
  tool: Tool;
  priceUsd: number | null;
  name: string;
  inputSchema: JsonSchema;
  isRepeatable: boolean;
  reads: OfferedTool['reads'];
};

/** If two tools have the same name, or the same name for the model, the first one counts. */
export function toolsForModel(
  offered: readonly OfferedTool[],
  access: ReachableServer,
  known: ToolContext,
): ModelTool[] {
  const byName = new Map<string, ModelTool>();
  for (const each of offered) {
    const tool = toolOf(each, access, known);
    const { name, inputSchema, priceUsd, isRepeatable, reads } = each;
    if (byName.has(tool.definition.name)) continue;
    byName.set(tool.definition.name, { tool, priceUsd, name, inputSchema, isRepeatable, reads });
  }
  return [...byName.values()];
}

const maxNameLength = 128;

function toolOf(offered: OfferedTool, { server, hide }: ReachableServer, { policy, definitions }: ToolContext): Tool {
  const definition = definitions.get(offered) ?? definitionOf(offered, server.slug, hide);
  definitions.set(offered, definition);
  const { name, isReadOnly } = offered;
  const shown = cutText(hide(name), maxNameLength);
  return {
    definition,
    origin: { from: 'server', name: shown, ...rulesFor(shown, name, server, policy), isReadOnly },
    server: server.slug,
    approver: policy?.approver ?? 'user',
    effect: { kind: 'run' },
    timeoutS: callTimeoutS,
  };
}

/** Above the client's own limits: two minutes without progress, and a quarter of an hour in all. */
const callTimeoutS = 960;

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

/** The lists contain original names. If the shown name differs, the rules are translated to it. */
function rulesFor(shown: string, name: string, server: ServerRules, policy: Policy | null) {
  const floor = { deny: server.deny, require_approval: server.require_approval };
  if (shown === name) return { floor, policy };
  const renamed = (list: readonly string[]) => (list.includes(name) ? [shown] : []);
  return {
    floor: { deny: renamed(floor.deny), require_approval: renamed(floor.require_approval) },
    policy: policy && {
      ...policy,
      deny: renamed(policy.deny),
      require_approval: renamed(policy.require_approval),
      run_without_asking: policy.run_without_asking === 'all' ? ('all' as const) : renamed(policy.run_without_asking),
      ...(policy.allow && { allow: renamed(policy.allow) }),
    },
  };
}

/** A schema that is too large for a model is replaced by an open one. The server checks the arguments. */
function shownSchema(schema: JsonSchema, hide: (text: string) => string): JsonSchema {
  if (isTooLarge(schema)) return { type: 'object' };
  return withHidden(schema, hide) as JsonSchema;
}

/** Keywords of JSON Schema stay: a secret `string` would break the schema. */
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

/** The most tools for a model: some vendors refuse requests with more. */
export const maxToolsAtOnce = 128;

/** A bound on hostile servers. Vendors that accept less get a cut description. */
const maxDescriptionLength = 20_000;
/** Longer text of a server on itself is cut. */
const maxInstructionsLength = 2000;
const maxSchemaLength = 64 * 1024;
const maxSchemaDepth = 32;

/** Cuts a description to the length that a model is shown, and marks the cut. */
export function shownDescription(description: string): string {
  const cut = cutText(description, maxDescriptionLength);
  return cut === description ? cut : `${cut} … (cut)`;
}

/** The server's text on how to use it, for the model. Null if it has none. */
export function shownInstructions(instructions: string, hide: (text: string) => string): string | null {
  const whole = hide(instructions).trim();
  if (whole === '') return null;
  const cut = cutText(whole, maxInstructionsLength);
  return cut === whole ? cut : `${cut} … (cut)`;
}

const isTooLarge = (schema: JsonSchema): boolean =>
  depthOf(schema) > maxSchemaDepth || JSON.stringify(schema).length > maxSchemaLength;

const schemaLeftOut = '(Its input is too large to be described here: the server says what is wrong with it.)';

/** Notes for the admin on tools that an agent sees only in part or not at all. */
export function notesOn(
  { tools, isCut, unusable, instructions, hasResources }: ToolList,
  shown: (text: string) => string,
): string[] {
  const name = (tool: { name: string }) => `\`${shown(tool.name).slice(0, 128)}\``;
  const long = tools.filter(({ description }) => cutText(description, maxDescriptionLength) !== description);
  const large = tools.filter(({ inputSchema }) => isTooLarge(inputSchema));
  return [
    ...(isCut ? [`The server lists more than ${tools.length} tools; those behind are never used.`] : []),
    ...(tools.length > maxToolsAtOnce
      ? [`It has ${tools.length} tools, and an agent is offered ${maxToolsAtOnce} in all: deny those it does not need.`]
      : []),
    ...unusable.map((tool) => `${name(tool)} is not offered: ${shown(tool.reason)}.`),
    ...(hasResources
      ? ['It has resources: an agent is also offered `list_resources` and `read_resource`, which count as tools.']
      : []),
    ...(instructions.length > maxInstructionsLength
      ? [`Of the server’s instructions an agent reads the first ${maxInstructionsLength} characters.`]
      : []),
    ...long.map(
      (tool) => `Of the description of ${name(tool)} an agent reads the first ${maxDescriptionLength} characters.`,
    ),
    ...large.map(
      (tool) =>
        `The input schema of ${name(tool)} is larger than ${maxSchemaLength / 1024} KB and not shown to an agent.`,
    ),
  ].slice(0, 50);
}

/** Stops at the depth that is refused. */
function depthOf(value: unknown, level = 0): number {
  if (typeof value !== 'object' || value === null || level > maxSchemaDepth) return level;
  return Object.values(value).reduce((deep: number, inner) => Math.max(deep, depthOf(inner, level + 1)), level + 1);
}

/** The maxToolNameLength name that all vendors accept. */
const maxToolNameLength = 64;
const hashLength = 8;

/**
 * Returns the name of a tool for the model. Characters that a vendor refuses are replaced, and a stable hash keeps
 * changed names distinct.
 */
export function modelToolName(slug: string, tool: string): string {
  const whole = `mcp__${slug}__${tool}`;
  if (whole.length <= maxToolNameLength && /^[A-Za-z0-9_-]+$/.test(whole)) return whole;
  const hash = createHash('sha256').update(tool).digest('hex').slice(0, hashLength);
  const kept = whole.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, maxToolNameLength - hashLength - 1);
  return `${kept}_${hash}`;
}

type UnavailableToolServer = {
  serverId: string;
  server: ServerRules;
  policy: Manifest['mcp_tool_policy'][string] | null;
};

const modelName = /^mcp__([a-z0-9-]+)__(.+)$/;

/**
 * Tools of an app whose sign-in has ended, for approved calls that are still pending: the call asks for the sign-in and
 * then runs. The list of the app is not needed.
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
 * Simulated tools of an unavailable server, for tests that give their results as `<slug>.<tool>`. They count as
 * read-only: the annotation is unknown, and a simulated call has no effect. Approval rules still apply.
 */
export function simulatedTools(played: readonly string[], { serverId, server, policy }: UnavailableToolServer) {
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

/**
 * Returns the first `length` Unicode characters. Each has one or two UTF-16 units, so the first cut bounds the work.
 */
export const cutText = (text: string, length: number): string =>
  [...text.slice(0, length * 2)].slice(0, length).join('').toWellFormed();
