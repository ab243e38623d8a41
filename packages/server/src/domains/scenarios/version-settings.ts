import { decisionOf, ownNameOf } from '@vestra/agent/tool';
import type { Tenant } from '../../caller.ts';
import type { Manifest } from '../deployments/api.ts';
import type { Engine } from '../engine/api.ts';

/** The settings of a version as whoever drafts tests for it needs them. A server that is away is left out. */
export async function describeVersion(
  { serverTools }: Pick<Engine, 'serverTools'>,
  tenant: Tenant,
  { instructions, language, tools, mcp_servers, mcp_tool_policy, approvals }: Manifest,
  signal: AbortSignal,
) {
  const loaded =
    mcp_servers.length === 0
      ? []
      : (await serverTools.load(tenant, { userId: null, servers: mcp_servers, policies: mcp_tool_policy }, signal))
          .tools;
  return {
    instructions,
    language,
    functions: tools.map(({ function: name, description, input, read_only, run_without_asking }) => ({
      tool: name,
      description,
      input,
      asks_for_a_yes: !read_only && !run_without_asking,
    })),
    server_tools: loaded
      .filter(({ tool }) => decisionOf(tool) !== 'refuse')
      .map(({ tool }) => ({
        tool: `${tool.server}.${ownNameOf(tool)}`,
        description: tool.definition.description,
        input: tool.definition.inputSchema,
        asks_for_a_yes: decisionOf(tool) === 'wait',
      })),
    approvals,
  };
}
