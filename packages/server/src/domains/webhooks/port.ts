import type { Vault } from '../../adapters/secrets/vault.ts';
import type { Transaction } from '../../db/pool.ts';
import { replaceFileManaged } from './replace-file-managed.ts';

/** What applying a file needs of webhook endpoints. */
export const webhookPort = ({ vault }: { vault: Vault }) => ({
  replaceFileManaged: (tx: Transaction, wanted: Parameters<typeof replaceFileManaged>[2]) =>
    replaceFileManaged(tx, vault, wanted),
});
