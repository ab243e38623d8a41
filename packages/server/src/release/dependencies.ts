import type { Catalogue } from '@vestra/models/catalogue/catalogue';
import type { JobSender } from '../platform/jobs/catalog.ts';
import type { Vault } from '../platform/secrets/vault.ts';

/** Parts of the server that an apply needs. */
export type ApplyDependencies = {
  vault: Vault;
  jobs: JobSender;
  /** Whether a model can be used; `default` always can. */
  models: { catalogue: Pick<Catalogue, 'has' | 'find' | 'list'> };
  /** The apps that users can connect. */
  apps: { catalogue: { find: (id: string) => unknown } };
  /** Why an address must not be called, or null. The sentence never contains the address. */
  refuseAddress: (address: string) => string | null;
  /** The fault of a JSON Schema, or null. */
  faultOfSchema: (schema: Readonly<Record<string, unknown>>) => Promise<string | null>;
};
