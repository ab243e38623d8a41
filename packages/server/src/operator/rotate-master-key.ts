import { resealDataKeys } from '../account/orgs/store.ts';
import { settingScope } from '../main/agreed-secret.ts';
import { resealSettings } from '../platform/db/server-settings.ts';
import { transaction } from '../platform/db/transaction.ts';
import type { Operator } from './open.ts';

/**
 * Seals every data key anew. The file holds the new key and the old one until the database has
 * committed, so that an interruption at any point leaves everything readable and the command repeatable.
 */
export async function rotateMasterKey({ db, vault, masterKeys }: Operator) {
  const forgetOld = masterKeys.rotate();
  const rewrapped = await transaction(db, async (tx) => {
    const ofOrgs = await resealDataKeys(tx, (wrapped, orgId) => vault.rewrap(wrapped, orgId));
    const ofServer = await resealSettings(tx, (wrapped, name) => vault.rewrap(wrapped, settingScope(name)));
    return ofOrgs + ofServer;
  });
  forgetOld?.();
  return { rewrapped, source: forgetOld ? ('file' as const) : ('environment' as const) };
}
