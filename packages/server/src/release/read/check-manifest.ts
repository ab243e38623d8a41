import type { Fault } from '@vestra/contract/errors';
import type { CheckManifest } from '../../agents/deployments/index.ts';
import { findById, type RegisteredServer } from '../../agents/tool-servers/index.ts';
import { type GivenManifest, type Manifest, withoutRepeats } from '../../agents/versions/index.ts';
import type { ApplyDependencies } from '../dependencies.ts';
import { settingParts } from '../file/parts.ts';
import { referenceFaults } from './reference-faults.ts';
import { fault, inOrderOf, isRefused, refusal } from './refusal.ts';
import { companySecrets, computerSecrets } from './secret-needs.ts';
import { missingSecretFaults } from './secrets-missing.ts';
import { settingFaults } from './setting-faults.ts';

/** Holds a manifest against the org, as a file is; its servers are named by id and shown with slug and URL. */
export function manifestChecker(dependencies: ApplyDependencies): CheckManifest {
  return async (tx, caller, given, prefix) => {
    const at = `${prefix}.`;
    const parts = settingParts(given, { at, computer: 'environment' });
    const ids = [...new Set(given.mcp_servers.map(({ id }) => id))];
    const found = ids.length === 0 ? [] : await findById(tx, caller.orgId, ids, { hold: true });
    const servers = new Map(found.map((server) => [server.id, server]));
    const meaning = [
      ...(await settingFaults(parts, dependencies)),
      ...(await referenceFaults(tx, { caller, parts, hold: true })),
      ...serverFaults(given, servers, at),
    ];
    const headers = given.mcp_servers.flatMap(({ id }, index) =>
      Object.values(servers.get(id)?.headers ?? {}).map((value) => ({ at: `${at}mcp_servers.${index}`, value })),
    );
    const needs = [...companySecrets(headers), ...computerSecrets(parts)];
    const missing = await missingSecretFaults(tx, { tenant: caller, needs });
    const faults = [...inOrderOf(Object.keys(given), meaning, at), ...missing.faults];
    if (isRefused(faults)) throw refusal(faults, missing.names);
    return { ...withoutRepeats(given), mcp_servers: given.mcp_servers.map(({ id }) => shown(servers, id)) };
  };
}

function serverFaults(
  { mcp_servers, mcp_tool_policy }: GivenManifest,
  servers: ReadonlyMap<string, RegisteredServer>,
  at: string,
): Fault[] {
  const seen = new Set<string>();
  const slugs = new Set(mcp_servers.map(({ id }) => servers.get(id)?.slug));
  return [
    ...mcp_servers.flatMap(({ id }, index) => {
      const place = `${at}mcp_servers.${index}.id`;
      if (!servers.has(id)) return [fault('invalid_manifest', place, `There is no MCP server ${id}.`)];
      if (seen.has(id)) return [fault('duplicate_name', place, 'This server is there twice.')];
      seen.add(id);
      return [];
    }),
    ...Object.keys(mcp_tool_policy)
      .filter((slug) => !slugs.has(slug))
      .map((slug) =>
        fault('mcp_server_not_listed', `${at}mcp_tool_policy.${slug}`, `\`mcp_servers\` lists no server \`${slug}\`.`),
      ),
  ];
}

function shown(servers: ReadonlyMap<string, RegisteredServer>, id: string): Manifest['mcp_servers'][number] {
  const { slug, url } = servers.get(id) as RegisteredServer;
  return { id, slug, url };
}
