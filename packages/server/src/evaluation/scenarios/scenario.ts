import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import type { BodyOf } from '@vestra/contract/route';
import { toolNames } from '@vestra/contract/tool-entry';
import type { VersionRow } from '../../agents/deployments/index.ts';
import type { Manifest } from '../../agents/versions/index.ts';
import type { ScenarioRow } from './tables.ts';

/** What whoever writes a scenario decides. */
export type ScenarioFields = BodyOf<Api['scenarios']['create']>;

/** A result under a name that no tool has would never be played, and the test would fail for another reason. */
export function assertToolsKnown(
  { tool_results, recorded_calls = [] }: Pick<ScenarioFields, 'tool_results' | 'recorded_calls'>,
  { version, manifest }: Pick<VersionRow, 'version' | 'manifest'>,
): void {
  const stray = strayTool(tool_results, manifest);
  const strayCall = recorded_calls.findIndex(({ tool }) => !isToolOf(manifest, tool));
  if (stray === undefined && strayCall < 0) return;
  const servers = manifest.mcp_servers.map(({ slug }) => ` \`${slug}\``).join(',');
  throw fail('invalid_request', {
    param: stray === undefined ? `recorded_calls.${strayCall}.tool` : `tool_results.${stray}`,
    message:
      servers === ''
        ? `Name a function of version ${version}.`
        : `Name a function of version ${version}, or a tool as <server>.<tool>. The servers are:${servers}.`,
  });
}

/** A key that names no tool of the version. */
export const strayTool = (toolResults: ScenarioFields['tool_results'], manifest: Manifest): string | undefined =>
  Object.keys(toolResults ?? {}).find((key) => !isToolOf(manifest, key));

/** No slug holds a dot, but the name of a server's tool may. */
export function isToolOf({ tools, mcp_servers }: Manifest, key: string): boolean {
  if (tools.some((tool) => tool.function === key)) return true;
  const dot = key.indexOf('.');
  if (dot < 0) return false;
  const slug = key.slice(0, dot);
  return mcp_servers.some((server) => server.slug === slug) && toolNames.element.safeParse(key.slice(dot + 1)).success;
}

export function assertNotFileManaged({ managed_by }: Pick<ScenarioRow, 'managed_by'>): void {
  if (managed_by !== 'file') return;
  throw fail('managed_by_file', {
    message: 'The deployment file declares this scenario under `tests`: change it there and apply the file again.',
  });
}
