import type { Tenant } from '../../../caller.ts';
import type { Executor } from '../../../db/pool.ts';
import { type FixedContent, getVersion, type Manifest } from '../../deployments/api.ts';
import type { Memory } from '../../memory/api.ts';
import { findSettings } from '../../orgs/api.ts';

export type MemoryMode = Parameters<Memory['recall']>[1]['mode'];

type CachedVersion = { manifest: Manifest; content: FixedContent };

const mostVersions = 500;
const known = new Map<string, CachedVersion>();

/** What a version says and fixes never changes once it is saved, so it is read once. */
export async function versionOf(db: Executor, deploymentId: string, version: number): Promise<CachedVersion> {
  const name = `${deploymentId}@${version}`;
  const found = known.get(name);
  if (found) return found;
  const { manifest, content } = await getVersion(db, { id: deploymentId }, version);
  if (known.size >= mostVersions) known.clear();
  known.set(name, { manifest, content });
  return { manifest, content };
}

export async function manifestOf(db: Executor, deploymentId: string, version: number): Promise<Manifest> {
  return (await versionOf(db, deploymentId, version)).manifest;
}

/** As the version says, else as the org has it in this mode. */
export async function memoryModeOf(db: Executor, tenant: Tenant, manifest: Manifest): Promise<MemoryMode> {
  return manifest.memory ?? (await findSettings(db, tenant)).memory_mode;
}
