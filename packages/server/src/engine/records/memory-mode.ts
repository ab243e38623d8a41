import { findSettings } from '../../account/index.ts';
import type { Manifest } from '../../agents/versions/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Executor } from '../../platform/db/pool.ts';
import type { Memory } from '../../users/index.ts';

export type MemoryMode = Parameters<Memory['recall']>[1]['mode'];

/** As the version says, else as the org has it in this mode. */
export async function memoryModeOf(db: Executor, tenant: Tenant, manifest: Manifest): Promise<MemoryMode> {
  return manifest.memory ?? (await findSettings(db, tenant)).memory_mode;
}
