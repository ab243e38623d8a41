import type { Tool } from '@vestra/agent/tool';
import type { Manifest } from '../versions/manifest.ts';
import type { ServerRules } from './server-access.ts';
import { modelToolName } from './tool-name.ts';

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
