import type { JsonSchema, ToolDefinition } from '@vestra/agent/message';
import type { Tool } from '@vestra/agent/tool';
import type { OfferedTool } from '../mcp-client/list-tools.ts';
import type { Manifest } from '../versions/manifest.ts';
import { cutText } from './cut-text.ts';
import type { ReachableServer, ServerRules } from './server-access.ts';
import { isTooLarge, schemaLeftOut, shownDescription } from './shown-tool.ts';
import { modelToolName } from './tool-name.ts';

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
