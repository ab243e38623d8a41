import { fail } from '@vestra/contract/errors';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { recordAudit } from '../audit/record.ts';
import { emit } from '../events/emit.ts';
import { presentKey } from './present.ts';
import { lockKey, markRevoked } from './store.ts';
import type { KeyRow } from './tables.ts';

export async function revokeKey(
  tx: Transaction,
  origin: Origin,
  { keyId, mayTouch }: { keyId: string; mayTouch: (key: KeyRow) => void },
): Promise<void> {
  const row = await lockKey(tx, origin, keyId);
  if (!row) throw fail('key_not_found');
  mayTouch(row);
  await markRevoked(tx, keyId);
  await recordAudit(tx, origin, { action: 'key.revoked', target: { type: 'key', id: keyId } });
  await emit(tx, { orgId: row.org_id, mode: row.mode, type: 'key.revoked', data: presentKey(row) });
}
