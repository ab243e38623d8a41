import { newId } from '@vestra/contract/ids';
import type { Mode, Scope } from '@vestra/contract/route';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { recordAudit } from '../audit/record.ts';
import { emit } from '../events/emit.ts';
import { newKeySecret } from './key.ts';
import { presentKey } from './present.ts';
import { insertKey } from './store.ts';

export async function createKey(
  tx: Transaction,
  origin: Origin,
  wanted: { name: string; mode: Mode; scopes: readonly Scope[] },
) {
  const { secret, hash, last4 } = newKeySecret(wanted.mode);
  const row = await insertKey(tx, {
    id: newId('key'),
    org_id: origin.orgId,
    mode: wanted.mode,
    name: wanted.name,
    scopes: [...new Set(wanted.scopes)],
    secret_hash: hash,
    last4,
  });
  await recordAudit(tx, origin, {
    action: 'key.created',
    target: { type: 'key', id: row.id },
    details: { mode: row.mode, scopes: row.scopes },
  });
  await emit(tx, { orgId: row.org_id, mode: row.mode, type: 'key.created', data: presentKey(row) });
  return { ...presentKey(row), key: secret };
}
