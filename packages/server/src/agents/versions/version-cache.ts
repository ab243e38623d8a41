import type { Executor } from '../../platform/db/pool.ts';
import { getVersion } from '../deployments/store.ts';
import type { FixedContent, Manifest } from './manifest.ts';

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
