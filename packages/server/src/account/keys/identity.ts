import { fail } from '@vestra/contract/errors';
import type { Caller } from '../../platform/caller.ts';
import { sharedNow } from '../../platform/db/clock.ts';
import type { Database } from '../../platform/db/pool.ts';
import { hashSecret } from './key.ts';
import { type FoundKey, findKeyBySecret } from './store.ts';

export type KeyIdentity = {
  ofKey: (token: string) => Promise<Caller>;
  /** Drops what this process remembers of a key, so that here a revocation counts at once. */
  forget: (keyId: string) => void;
};

/** A key that was looked up is believed for a second: after that a revocation elsewhere is seen here too. */
const believedMs = 1000;
const remembered = 10_000;

export function createKeyIdentity(db: Database, now: () => number = sharedNow): KeyIdentity {
  const known = new Map<string, { found: FoundKey; caller: Caller; readAt: number }>();

  return {
    async ofKey(token) {
      if (!/^vk_(test|live)_[A-Za-z0-9_-]{43}$/.test(token)) throw fail('key_invalid');
      const hash = hashSecret(token);
      const name = hash.toString('base64');
      let entry = known.get(name);
      if (!entry || now() - entry.readAt >= believedMs) {
        const readAt = now();
        const found = await findKeyBySecret(db, hash);
        if (!found) {
          known.delete(name);
          throw fail('key_invalid');
        }
        entry = { found, caller: callerOf(found), readAt };
        if (known.size >= remembered) known.clear();
        known.set(name, entry);
      }
      refuseEnded(entry.found, now());
      return entry.caller;
    },
    forget(keyId) {
      for (const [name, { found }] of known) if (found.key.id === keyId) known.delete(name);
    },
  };
}

function refuseEnded({ key, rolledUntil }: FoundKey, at: number): void {
  if (key.revoked_at) throw fail('key_revoked');
  if (rolledUntil && rolledUntil.getTime() <= at) {
    throw fail('key_expired', { message: 'This key was rolled and its grace period is over.' });
  }
  if (key.expires_at && key.expires_at.getTime() <= at) throw fail('key_expired');
}

const callerOf = ({ key, org }: FoundKey): Caller => ({
  orgId: key.org_id,
  orgStatus: org.status,
  mode: key.mode,
  actor: { type: 'key', id: key.id, name: key.name },
  scopes: key.scopes,
  key: { id: key.id, name: key.name, last4: key.last4 },
  member: null,
  grant: null,
  session: null,
});
