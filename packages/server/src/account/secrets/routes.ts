import { fail } from '@vestra/contract/errors';
import type { Caller } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import { recordAudit } from '../audit/record.ts';
import { sealSecret } from './seal.ts';
import { listSecrets, removeSecret, upsertSecret } from './store.ts';
import type { SecretRow } from './tables.ts';

export function secretRoutes({ db, vault }: { db: Database; vault: Vault }): Handlers<'secrets'> {
  return {
    list: async ({ caller, query, page }) => {
      const userId = ownerOf(caller, query.user_id);
      return page.of(await listSecrets(db, caller, userId, page), presentSecret, (row) => [row.name]);
    },
    put: async ({ caller, origin, params, body }) => {
      const userId = ownerOf(caller, body.user_id);
      const row = await transaction(db, async (tx) => {
        const sealed = await sealSecret(tx, vault, { tenant: caller, userId, name: params.name }, body.value);
        const stored = await upsertSecret(tx, caller, { userId, name: params.name, sealed });
        await recordAudit(tx, origin, {
          action: 'secret.stored',
          target: { type: 'secret', id: params.name },
          details: { user_id: userId || null },
        });
        return stored;
      });
      return presentSecret(row);
    },
    delete: async ({ caller, origin, params, query }) => {
      const userId = ownerOf(caller, query.user_id);
      await transaction(db, async (tx) => {
        if (!(await removeSecret(tx, caller, userId, params.name))) throw fail('secret_not_found');
        await recordAudit(tx, origin, {
          action: 'secret.deleted',
          target: { type: 'secret', id: params.name },
          details: { user_id: userId || null },
        });
      });
      return { object: 'secret', name: params.name, deleted: true };
    },
  };
}

/** Scope `runtime` reaches a user's own secrets; the company's need `setup`. */
function ownerOf(caller: Caller, userId: string | undefined): string {
  const mayReachCompany = caller.scopes.includes('setup') || caller.scopes.includes('all');
  if (userId === undefined && !mayReachCompany) {
    throw fail('scope_missing', { message: 'A secret of the company needs a key with scope setup or all.' });
  }
  return userId ?? '';
}

const presentSecret = (row: SecretRow) => ({
  object: 'secret' as const,
  name: row.name,
  user_id: row.user_id || null,
  mode: row.mode,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});
