import type { Tool } from '@vestra/agent/tool';
import { noToolPolicy } from '@vestra/contract/tool-entry';
import { describe, expect, it } from 'vitest';
import type { ServerTool } from '../../agents/tool-servers/index.ts';
import { toolWarnings } from './warnings.ts';

const tenant = { orgId: 'org_1', mode: 'test' as const };
type Policy = typeof noToolPolicy;

function serverTool(server: string, name: string, policy: Policy | null): ServerTool {
  const tool: Tool = {
    definition: { name: `mcp__${server}__${name}`, description: '', inputSchema: {} },
    origin: { from: 'server', name, floor: { deny: [], require_approval: [] }, policy, isReadOnly: false },
    server,
    effect: { kind: 'run' },
  };
  return { tool, priceUsd: null, serverId: server, name };
}

async function warningsFor(counts: Record<string, number>, policies: Record<string, Partial<Policy>> = {}) {
  const complete = Object.fromEntries(
    Object.entries(policies).map(([slug, policy]) => [slug, { ...noToolPolicy, ...policy }]),
  );
  const tools = Object.entries(counts).flatMap(([slug, count]) =>
    Array.from({ length: count }, (_, at) => serverTool(slug, `t${at}`, complete[slug] ?? null)),
  );
  const load = async () => ({ tools, unavailable: [], signedIn: [], instructions: [] });
  const servers = Object.keys(counts).map((slug) => ({ id: slug, slug, url: 'https://a.example' }));
  const warnings = await toolWarnings({ load }, tenant, {
    manifest: { mcp_servers: servers, mcp_tool_policy: complete },
    content: {},
  });
  return warnings.map(({ message }) => message);
}

describe('a warning at apply', () => {
  it('names servers with too many tools [MCPS-722]', async () => {
    expect(await warningsFor({ large: 120, small: 8 })).toEqual([]);
    const [message] = await warningsFor({ large: 201, small: 3 });
    expect(message).toContain('204 tools (`large` has 201, `small` has 3), and an agent gets 128');
    expect(await warningsFor({ large: 201 }, { large: { allow: ['t1'] } })).toEqual([]);
  });

  it('names tools in a list that the server does not have [MCPS-722]', async () => {
    expect(await warningsFor({ shop: 2 }, { shop: { allow: ['t1', 'tt'], run_without_asking: 'all' } })).toEqual([
      '`shop` has no tool `tt`, which `allow` names.',
    ]);
  });

  it('does not delay or refuse a file whose servers are unreachable [MCPS-722]', async () => {
    const load = () => Promise.reject(new Error('down'));
    const servers = [{ id: 'a', slug: 'a', url: 'https://a.example' }];
    const manifest = { mcp_servers: servers, mcp_tool_policy: {} };
    expect(await toolWarnings({ load }, tenant, { manifest, content: {} })).toEqual([]);
  });
});
