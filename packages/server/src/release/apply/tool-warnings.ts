import { decisionOf } from '@vestra/agent/tool';
import { maxToolsAtOnce, type ServerTools } from '../../agents/tool-servers/index.ts';
import type { FixedContent, Manifest } from '../../agents/versions/index.ts';
import type { Tenant } from '../../platform/caller.ts';

type Warning = { param: string; message: string };

/** A server that does not answer in this time is not checked, so that a file can be applied while it is down. */
const maxWaitMs = 3_000;

/**
 * Warnings about the tools that the servers of a version offer now. A server that is unavailable has none. A trial
 * writes nothing.
 */
export async function toolWarnings(
  { load }: Pick<ServerTools, 'load'>,
  tenant: Tenant,
  {
    manifest,
    content: { servers: fixed },
  }: {
    manifest: Pick<Manifest, 'mcp_servers' | 'mcp_tool_policy'>;
    content: Pick<FixedContent, 'servers'>;
  },
  { isTrial = false }: { isTrial?: boolean } = {},
): Promise<Warning[]> {
  const { mcp_servers: servers, mcp_tool_policy: policies } = manifest;
  if (servers.length === 0) return [];
  const wanted = { userId: null, servers, fixed, policies, isTrial };
  const loaded = await load(tenant, wanted, AbortSignal.timeout(maxWaitMs)).catch(() => null);
  if (!loaded) return [];
  const { tools } = loaded;
  const offered = tools.filter(({ tool }) => decisionOf(tool) !== 'refuse');
  const names = Map.groupBy(tools, ({ tool }) => tool.server ?? '');
  const unknown = Object.entries(policies).flatMap(([slug, policy]) => {
    const known = names.get(slug)?.map(({ name }) => name);
    return known ? unknownNames(slug, policy, known) : [];
  });
  return [
    ...(offered.length > maxToolsAtOnce ? [tooMany(offered.map(({ tool }) => tool.server ?? ''))] : []),
    ...unknown,
  ];
}

function tooMany(servers: readonly string[]): Warning {
  const counts = [...Map.groupBy(servers, (slug) => slug)].map(([slug, all]) => `\`${slug}\` has ${all.length}`);
  const message = `Its servers offer ${servers.length} tools (${counts.join(', ')}), and an agent gets ${maxToolsAtOnce} in all. Each server gets a fair share: name the tools it needs in \`allow\`.`;
  return { param: 'tools', message };
}

/** A name that the server does not have is likely misspelled, and the rule has no effect. */
function unknownNames(slug: string, policy: Manifest['mcp_tool_policy'][string], known: readonly string[]): Warning[] {
  const lists = (['allow', 'deny', 'require_approval', 'run_without_asking'] as const).flatMap((list) => {
    const given = policy[list];
    const missing = Array.isArray(given) ? given.filter((name) => !known.includes(name)) : [];
    return missing.length === 0 ? [] : [{ list, missing }];
  });
  return lists.map(({ list, missing }) => ({
    param: 'tools',
    message: `\`${slug}\` has no tool ${missing.map((name) => `\`${name}\``).join(', ')}, which \`${list}\` names.`,
  }));
}
