import { fail } from '@vestra/contract/errors';
import type { Origin } from '../../platform/caller.ts';
import { sharedNow } from '../../platform/db/clock.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { recordAudit } from '../audit/record.ts';
import { emit } from '../events/emit.ts';
import { newKeySecret } from './key.ts';
import { presentKey } from './present.ts';
import { lockKey, replaceSecret } from './store.ts';
import type { KeyRow } from './tables.ts';

export async function rollKey(
  tx: Transaction,
  origin: Origin,
  { keyId, graceSeconds, mayTouch }: { keyId: string; graceSeconds: number; mayTouch: (key: KeyRow) => void },
) {
  const before = await lockKey(tx, origin, keyId);
  if (!before) throw fail('key_not_found');
  mayTouch(before);
  const expiresAt = new Date(sharedNow() + graceSeconds * 1000);
  const { secret, hash, last4 } = newKeySecret(before.mode);
  const row = await replaceSecret(tx, keyId, { hash, last4 }, { hash: before.secret_hash, expiresAt });
  await recordAudit(tx, origin, {
    action: 'key.rolled',
    target: { type: 'key', id: keyId },
    details: { grace_seconds: graceSeconds },
  });
  await emit(tx, { orgId: row.org_id, mode: row.mode, type: 'key.rolled', data: presentKey(row) });
  return { ...presentKey(row), key: secret, previous_expires_at: expiresAt.toISOString() };
}
