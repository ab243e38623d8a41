import type { Catalogue } from '@vestra/models/catalogue/catalogue';
import type { JobSender } from '../platform/jobs/catalog.ts';
import type { Vault } from '../platform/secrets/vault.ts';

/** What applying a file needs beyond the domains that it stands on. */
export type ApplyDependencies = {
  vault: Vault;
  jobs: JobSender;
  /** Whether a model may be named; `default` always may. */
  models: { catalogue: Pick<Catalogue, 'has' | 'find'> };
  /** Which apps users can connect. */
  apps: { catalogue: { find: (id: string) => unknown } };
  /** Why an address must not be called, or null. The sentence never repeats the address. */
  refuseAddress: (address: string) => string | null;
  /** What is wrong with a JSON Schema, or null. */
  faultOfSchema: (schema: Readonly<Record<string, unknown>>) => Promise<string | null>;
};
