import type { Tenant } from '../../../caller.ts';
import type { Executor } from '../../../db/pool.ts';
import type { Manifest } from '../../deployments/api.ts';
import type { Memory } from '../../memory/api.ts';
import { findSettings } from '../../orgs/api.ts';

export type MemoryMode = Parameters<Memory['recall']>[1]['mode'];

/** As the version says, else as the org has it in this mode. */
export async function memoryModeOf(db: Executor, tenant: Tenant, manifest: Manifest): Promise<MemoryMode> {
  return manifest.memory ?? (await findSettings(db, tenant)).memory_mode;
}
