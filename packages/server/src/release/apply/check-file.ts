import { deploymentFile } from '@vestra/contract/deployment-file';
import { Failure, type Fault } from '@vestra/contract/errors';
import { check } from '@vestra/contract/fault';
import type { CheckManifest } from '../../agents/deployments/index.ts';
import { findById, type RegisteredServer } from '../../agents/tool-servers/index.ts';
import { type GivenManifest, type Manifest, withoutRepeats } from '../../agents/versions/index.ts';
import type { Caller } from '../../platform/caller.ts';
import type { Database, Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { ApplyDependencies } from '../dependencies.ts';
import { fault, inOrderOf, isRefused, refusal, serverFaults, settingFaults } from './faults.ts';
import { fixedFilesOf, fixFiles } from './fix-files.ts';
import {
  companySecrets,
  computerSecrets,
  missingSecretFaults,
  testSecretsOf,
  webhookSecretsOf,
} from './missing-secrets.ts';
import { type DeploymentFile, type FileParts, fileKeys, fileParts, settingParts } from './parts.ts';
import { objectFaults, referenceFaults } from './reference-faults.ts';
import { type AppliedVersion, type PlannedServer, planServers } from './servers.ts';

/** A file after the checks that need no database. */
export type ReadFile = { file: DeploymentFile | null; parts: FileParts; formFaults: Fault[]; faults: Fault[] };

export type CheckedFile = { file: DeploymentFile; servers: PlannedServer[] };

/** `name` is the name in the path; undefined if the path has none. */
export async function readFile(
  body: unknown,
  dependencies: ApplyDependencies,
  name: string | undefined,
): Promise<ReadFile> {
  const checked = check(deploymentFile, body, 'invalid_manifest');
  const parts = fileParts(body);
  const faults = [
    ...parts.name
      .filter(({ value }) => name !== undefined && value !== name)
      .map(({ at, value }) =>
        fault('name_mismatch', at, `The file is named \`${value}\` and the path asks for \`${name}\`.`),
      ),
    ...(await settingFaults(parts, dependencies)),
    ...serverFaults(parts.servers, dependencies),
    ...parts.localPaths.map(({ at }) =>
      fault('path_not_resolved', at, 'The server cannot read a local path. Apply the file with the CLI or an SDK.'),
    ),
    ...objectFaults(parts, dependencies),
  ];
  return { file: checked.ok ? checked.value : null, parts, formFaults: checked.ok ? [] : checked.faults, faults };
}

/**
 * Checks a file against the org and refuses it with all faults at once: faults of form first, then faults of meaning in
 * the order of the file, then missing secrets.
 */
export async function checkFile(
  tx: Transaction,
  { caller, read, newest, hold }: { caller: Caller; read: ReadFile; newest: AppliedVersion | null } & { hold: boolean },
): Promise<CheckedFile> {
  const { file, parts } = read;
  const servers = await planServers(tx, { orgId: caller.orgId, parts, newest, hold });
  const meaning = [
    ...read.faults,
    ...(await referenceFaults(tx, { caller, parts, fixedFiles: fixedFilesOf(newest?.version.manifest ?? null), hold })),
    ...toolResultFaults(parts, servers),
  ];
  const needs = [
    ...servers.flatMap(secretsOfServer),
    ...computerSecrets(parts),
    ...webhookSecretsOf(parts),
    ...testSecretsOf(parts),
  ];
  const missing = await missingSecretFaults(tx, { tenant: caller, needs });
  const faults = [...read.formFaults, ...inOrderOf(['name', ...fileKeys], meaning), ...missing.faults];
  if (isRefused(faults)) throw refusal(faults, missing.names);
  return { file: file as DeploymentFile, servers };
}

/** All faults for which an apply would refuse the file; empty if it would be accepted. */
export async function faultsOfFile(
  db: Database,
  dependencies: ApplyDependencies,
  { caller, body }: { caller: Caller; body: unknown },
): Promise<{ param: string; message: string }[]> {
  const read = await readFile(body, dependencies, undefined);
  try {
    await transaction(db, (tx) => checkFile(tx, { caller, read, newest: null, hold: false }));
    return [];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return (error.details.errors ?? [{ param: '', message: error.message }]).map(({ param, message }) => ({
      param,
      message,
    }));
  }
}

/** Secrets in the headers of the entry, else in those of the registered server. */
function secretsOfServer({ at, entry: { auth, headers }, wanted, registered }: PlannedServer) {
  if (auth === undefined && headers === undefined) {
    const values = Object.values(wanted.headers ?? registered?.headers ?? {});
    return companySecrets(values.map((value) => ({ at: `${at}.mcp`, value })));
  }
  return companySecrets([
    ...(auth === undefined ? [] : [{ at: `${at}.auth`, value: auth }]),
    ...Object.entries(headers ?? {}).map(([name, value]) => ({ at: `${at}.headers.${name}`, value })),
  ]);
}

/** A result for an unknown tool would never be used, and the test would fail for another reason. */
function toolResultFaults({ tests, functions, knowsAllTools }: FileParts, servers: readonly PlannedServer[]): Fault[] {
  if (!knowsAllTools) return [];
  const names = new Set(functions.map(({ value }) => value.function));
  const slugs = new Set(servers.map(({ slug }) => slug));
  const isTool = (key: string) => names.has(key) || slugs.has(key.slice(0, Math.max(0, key.indexOf('.'))));
  const expected =
    slugs.size === 0 ? 'a function of this file' : `a function of this file, or a tool as <server>.<tool>`;
  const known = [...slugs].map((slug) => ` \`${slug}\``).join(',');
  return tests.flatMap(({ at, value: { tool_results = {}, recorded_calls = [] } }) =>
    [
      ...Object.keys(tool_results).map((key) => ({ key, place: `tool_results.${key}` })),
      ...recorded_calls.map(({ tool: key }, index) => ({ key, place: `recorded_calls.${index}.tool` })),
    ]
      .filter(({ key }) => !isTool(key))
      .map(({ place }) =>
        fault(
          'invalid_manifest',
          `${at}.${place}`,
          `Name ${expected}.${slugs.size === 0 ? '' : ` The servers are:${known}.`}`,
        ),
      ),
  );
}

/** Checks a manifest against the org. Its servers are given by id and returned with slug and URL. */
export function manifestChecker(dependencies: ApplyDependencies): CheckManifest {
  return async (tx, caller, given, prefix) => {
    const at = `${prefix}.`;
    const parts = settingParts(given, { at, computer: 'environment' });
    const ids = [...new Set(given.mcp_servers.map(({ id }) => id))];
    const found = ids.length === 0 ? [] : await findById(tx, caller.orgId, ids, { hold: true });
    const servers = new Map(found.map((server) => [server.id, server]));
    const meaning = [
      ...(await settingFaults(parts, dependencies)),
      ...(await referenceFaults(tx, { caller, parts, fixedFiles: new Map(), hold: true })),
      ...listedServerFaults(given, servers, at),
    ];
    const headers = given.mcp_servers.flatMap(({ id }, index) =>
      Object.values(servers.get(id)?.headers ?? {}).map((value) => ({ at: `${at}mcp_servers.${index}`, value })),
    );
    const needs = [...companySecrets(headers), ...computerSecrets(parts)];
    const missing = await missingSecretFaults(tx, { tenant: caller, needs });
    const faults = [...inOrderOf(Object.keys(given), meaning, at), ...missing.faults];
    if (isRefused(faults)) throw refusal(faults, missing.names);
    const settings = { ...withoutRepeats(given), mcp_servers: given.mcp_servers.map(({ id }) => shown(servers, id)) };
    return fixFiles(tx, caller, settings, null);
  };
}

function listedServerFaults(
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
