import { setImmediate as turn } from 'node:timers/promises';
import { newId } from '@vestra/contract/ids';
import { describe, expect, it } from 'vitest';
import type { Database } from '../../platform/db/pool.ts';
import { createKeyIdentity, hashSecret } from './key-identity.ts';

const token = `vk_test_${'a'.repeat(43)}`;

const row = {
  id: newId('key'),
  org_id: newId('org'),
  mode: 'test',
  name: 'mine',
  scopes: ['all'],
  secret_hash: hashSecret(token),
  last4: 'aaaa',
  created_at: new Date(0),
  last_used_at: null,
  expires_at: null,
  revoked_at: null as Date | null,
  org_status: 'active',
  rolled_until: null,
};

/** A database that answers each read when the test says so, with the row as it was when the read began. */
function slowDatabase() {
  const reads: { answer: () => void }[] = [];
  let revokedAt: Date | null = null;
  const send = () => {
    const seen = { ...row, revoked_at: revokedAt };
    return new Promise((resolve) => reads.push({ answer: () => resolve([[seen]]) }));
  };
  return { db: { send } as unknown as Database, reads, revoke: () => (revokedAt = new Date(1)) };
}

describe('requests with the same key at the same moment', () => {
  it('share one read', async () => {
    const { db, reads } = slowDatabase();
    const { ofKey } = createKeyIdentity(db, () => 0);
    const callers = Promise.all(Array.from({ length: 24 }, () => ofKey(token)));
    await turn();
    expect(reads).toHaveLength(1);
    reads[0]?.answer();
    expect(new Set((await callers).map(({ actor }) => actor.id))).toEqual(new Set([row.id]));
    await ofKey(token);
    expect(reads).toHaveLength(1);
  });

  it('read it again after a revocation here, and do not keep what was read before', async () => {
    const { db, reads, revoke } = slowDatabase();
    const identity = createKeyIdentity(db, () => 0);
    const before = identity.ofKey(token);
    revoke();
    identity.forget(row.id);
    const after = identity.ofKey(token);
    await turn();
    expect(reads).toHaveLength(2);
    reads[1]?.answer();
    await expect(after).rejects.toMatchObject({ code: 'key_revoked' });
    reads[0]?.answer();
    await before;
    await expect(identity.ofKey(token)).rejects.toMatchObject({ code: 'key_revoked' });
  });
});
