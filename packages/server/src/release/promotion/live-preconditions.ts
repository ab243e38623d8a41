import { fail } from '@vestra/contract/errors';
import { findSettings } from '../../account/index.ts';
import type { VersionRow } from '../../agents/deployments/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { assertSecretsStored, missingSecretsOfVersion } from '../apply/missing-secrets.ts';
import type { ApplyDependencies } from '../dependencies.ts';
import { serversNow } from './content.ts';

type Version = { tenant: Tenant } & Pick<VersionRow, 'manifest' | 'content' | 'file_objects'>;

/** Checks again before going live: the file may have been applied in test mode, or something was removed since. */
export async function assertFitForLive(
  tx: Transaction,
  { models }: Pick<ApplyDependencies, 'models'>,
  version: Version,
): Promise<void> {
  const unpriced = unpricedIn(models, version);
  if (unpriced !== null) throw fail('invalid_manifest', { param: 'model', message: unpriced });
  const moved = await movedServers(tx, version);
  if (moved.length > 0) {
    throw fail('version_incomplete', {
      names: moved.map(({ id }) => id),
      message: `This version calls ${moved.map(({ slug, url }) => `\`${slug}\` at ${url}`).join(', ')}, and the URL was changed since. Promote another version, apply the file again, or change the URL back.`,
    });
  }
  const gone = lostFiles(version);
  if (gone.length > 0) {
    throw fail('version_incomplete', {
      names: gone,
      message: `Files of this version’s computer were deleted: ${gone.join(', ')}. Apply the file with other files.`,
    });
  }
  await assertSecretsStored(tx, version);
  if (!(await isMemoryKept(tx, version))) {
    throw fail('memory_endpoint_required', {
      message: 'This version leaves memory to the customer: set `memory_endpoint` with a live key first.',
    });
  }
}

/** The reason why a version cannot go live, or null. */
export async function missingForLive(
  tx: Transaction,
  { models }: Pick<ApplyDependencies, 'models'>,
  version: Version,
): Promise<'invalid_manifest' | 'version_incomplete' | 'secret_missing' | 'memory_endpoint_required' | null> {
  if (unpricedIn(models, version) !== null) return 'invalid_manifest';
  if ((await movedServers(tx, version)).length > 0 || lostFiles(version).length > 0) return 'version_incomplete';
  if ((await missingSecretsOfVersion(tx, version)).length > 0) return 'secret_missing';
  return (await isMemoryKept(tx, version)) ? null : 'memory_endpoint_required';
}

/** Files that were deleted before versions fixed the content of their files. */
const lostFiles = ({ manifest }: Version): string[] =>
  manifest.environment?.files.flatMap(({ file_id, sha256 }) => (sha256 === undefined ? [file_id] : [])) ?? [];

/** Servers that moved since, and whose headers the version of an older release did not fix. */
async function movedServers(tx: Transaction, { tenant, ...version }: Version) {
  const now = await serversNow(tx, tenant.orgId, version);
  const { servers: fixed = {} } = version.content;
  return version.manifest.mcp_servers.filter((server, at) => !fixed[server.id] && now[at]?.url !== server.url);
}

/** Why the model cannot be billed. `default` may change, so each message checks it instead. */
function unpricedIn({ catalogue }: ApplyDependencies['models'], { manifest }: Version): string | null {
  const model = catalogue.find('live', manifest.model);
  return model && !model.priced ? model.unavailable_reason : null;
}

async function isMemoryKept(tx: Transaction, { tenant, manifest }: Version): Promise<boolean> {
  return manifest.memory !== 'customer' || (await findSettings(tx, tenant)).memory_endpoint !== null;
}
