import type { JsonSchema, ToolDefinition } from '@vestra/agent/message';
import type { Tool } from '@vestra/agent/tool';
import type { OfferedTool } from '../../adapters/mcp-client/list-tools.ts';
import type { McpClient } from '../../adapters/mcp-client/mcp-client.ts';
import type { Vault } from '../../adapters/secrets/vault.ts';
import type { Tenant } from '../../caller.ts';
import type { Database } from '../../db/pool.ts';
import type { Manifest } from '../deployments/api.ts';
import { cutText } from './cut-text.ts';
import { createOfferedTools } from './offered-tools.ts';
import { type Reach, reachServers } from './reach-servers.ts';
import type { ServerRow } from './tables.ts';
import { modelToolName } from './tool-name.ts';

/** A tool of a registered server, for one user. It holds no secret: a call fills them in anew. */
export type ServerTool = {
  tool: Tool;
  /** What the server says that a call costs. */
  priceUsd: number | null;
  serverId: string;
  /** As the server calls it; `tool` has the name that may be shown. */
  name: string;
};

export type ServerTools = {
  /** Lists the tools of the servers side by side. A server that cannot be used is named, and the others go on. */
  load: (
    tenant: Tenant,
    wanted: { userId: string | null; servers: Manifest['mcp_servers']; policies: Manifest['mcp_tool_policy'] },
    signal: AbortSignal,
  ) => Promise<{ tools: ServerTool[]; unavailable: { slug: string; message: string }[] }>;
  /**
   * Calls a tool that was loaded here, for the user it was loaded for. Whatever goes wrong is an output with `isError`.
   * Throws when the signal ends it.
   */
  call: (
    loaded: Pick<ServerTool, 'tool'>,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ) => Promise<{ output: string; isError: boolean }>;
};

type Dependencies = { db: Database; vault: Vault; client: McpClient; now?: () => number };
type Reached = Extract<Reach, { ok: true }>;
/** What a call needs beyond what anybody is shown. */
type Origin = { tenant: Tenant; userId: string | null; serverId: string; name: string; inputSchema: JsonSchema };
type Policy = Manifest['mcp_tool_policy'][string];

export function createServerTools({ db, vault, client, now = Date.now }: Dependencies): ServerTools {
  const offeredBy = createOfferedTools({ client, now });
  const origins = new WeakMap<Tool, Origin>();
  // An offered tool belongs to one kept list, and so to one server and one set of secrets.
  const definitions = new WeakMap<OfferedTool, ToolDefinition>();

  return {
    async load(tenant, { userId, servers, policies }, signal) {
      const ids = servers.map(({ id }) => id);
      const reaches = await reachServers({ db, vault }, tenant, userId, ids);
      const loaded = await Promise.all(
        servers.map(async ({ id, slug }) => {
          const reach = reaches.get(id);
          if (!reach) return unavailable(slug ?? id, 'It was removed.');
          if (!reach.ok) return unavailable(reach.row.slug, reach.message);
          const answer = await offeredBy(reach.fingerprint, reach.target, signal);
          if (!answer.ok) return unavailable(reach.row.slug, reach.hide(answer.message));
          const policy = policies[reach.row.slug] ?? null;
          const made = toolsOf(answer.tools, reach, { policy, definitions });
          for (const { tool, name, inputSchema } of made) {
            origins.set(tool, { tenant, userId, serverId: id, name, inputSchema });
          }
          const tools = made.map(({ tool, priceUsd, name }) => ({ tool, priceUsd, serverId: id, name }));
          return { tools, unavailable: [] };
        }),
      );
      return {
        tools: loaded.flatMap(({ tools }) => tools),
        unavailable: loaded.flatMap(({ unavailable: those }) => those),
      };
    },

    async call({ tool }, args, signal) {
      const origin = origins.get(tool);
      if (!origin) throw new TypeError('This tool was not loaded here.');
      const { tenant, userId, serverId, name, inputSchema } = origin;
      const reach = (await reachServers({ db, vault }, tenant, userId, [serverId])).get(serverId);
      if (!reach) return failed('mcp_server_error', `The server \`${tool.server}\` was removed.`);
      if (!reach.ok)
        return failed('mcp_server_error', `The server \`${tool.server}\` cannot be called: ${reach.message}`);
      const { target, hide } = reach;
      const answer = await client.callTool(target, { name, arguments: args, inputSchema }, { signal, hide });
      if (!answer.ok) return failed(answer.code, hide(answer.message));
      return { output: answer.text, isError: answer.isError };
    },
  };
}

const unavailable = (slug: string, message: string) => ({ tools: [], unavailable: [{ slug, message }] });

const failed = (code: string, message: string) => ({ output: `${code}: ${message}`, isError: true });

type Known = { policy: Policy | null; definitions: WeakMap<OfferedTool, ToolDefinition> };

type MadeTool = { tool: Tool; priceUsd: number | null; name: string; inputSchema: JsonSchema };

/** A name that the server lists twice, or that reads like another before the model, counts once: the first. */
function toolsOf(offered: readonly OfferedTool[], reach: Reached, known: Known): MadeTool[] {
  const byName = new Map<string, MadeTool>();
  for (const each of offered) {
    const tool = toolOf(each, reach, known);
    const { name, inputSchema, priceUsd } = each;
    if (!byName.has(tool.definition.name)) byName.set(tool.definition.name, { tool, priceUsd, name, inputSchema });
  }
  return [...byName.values()];
}

const longestName = 128;
const longestDescription = 1024;

function toolOf(offered: OfferedTool, { row, hide }: Reached, { policy, definitions }: Known): Tool {
  const definition = definitions.get(offered) ?? definitionOf(offered, row.slug, hide);
  definitions.set(offered, definition);
  const { name, isReadOnly } = offered;
  const shown = cutText(hide(name), longestName);
  return {
    definition,
    origin: { from: 'server', name: shown, ...ruledAs(shown, name, row, policy), isReadOnly },
    server: row.slug,
    effect: { kind: 'run' },
  };
}

const definitionOf = (
  { name, description, inputSchema }: OfferedTool,
  slug: string,
  hide: (text: string) => string,
): ToolDefinition => ({
  name: modelToolName(slug, hide(name)),
  description: cutText(hide(description), longestDescription),
  inputSchema: shownSchema(inputSchema, hide),
});

/** The lists hold own names: a tool whose name is shown otherwise keeps the rules of its own. */
function ruledAs(shown: string, name: string, row: ServerRow, policy: Policy | null) {
  const floor = { deny: row.deny, require_approval: row.require_approval };
  if (shown === name) return { floor, policy };
  const renamed = (list: readonly string[]) => (list.includes(name) ? [shown] : []);
  return {
    floor: { deny: renamed(floor.deny), require_approval: renamed(floor.require_approval) },
    policy: policy && {
      deny: renamed(policy.deny),
      require_approval: renamed(policy.require_approval),
      run_without_asking: renamed(policy.run_without_asking),
    },
  };
}

const largestSchema = 64 * 1024;
const deepestSchema = 32;

/** One that is larger than any model reads is left open: the server checks its arguments itself. */
function shownSchema(schema: JsonSchema, hide: (text: string) => string): JsonSchema {
  if (depthOf(schema) > deepestSchema || JSON.stringify(schema).length > largestSchema) return { type: 'object' };
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

/** Stops where it is deep enough to be refused. */
function depthOf(value: unknown, level = 0): number {
  if (typeof value !== 'object' || value === null || level > deepestSchema) return level;
  return Object.values(value).reduce((deep: number, inner) => Math.max(deep, depthOf(inner, level + 1)), level + 1);
}
