import { hash } from 'node:crypto';
import { fail } from '@vestra/contract/errors';
import type { Caller } from '../../platform/caller.ts';
import { sharedNow } from '../../platform/db/clock.ts';
import type { Database, Executor } from '../../platform/db/pool.ts';
import { maybeOne } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf, moment, text } from '../../platform/db/table.ts';
import { apiKeys, type KeyRow, orgs, rolledKeySecrets } from '../tables.ts';

export type KeyIdentity = {
  ofKey: (token: string) => Promise<Caller>;
  /** Drops a key from this process's cache, so that a revocation takes effect here at once. */
  forget: (keyId: string) => void;
};

/** A key is cached for a second. After that, this process sees a revocation by another one. */
const cachedMs = 1000;
const maxCachedKeys = 10_000;

export function createKeyIdentity(db: Database, now: () => number = sharedNow): KeyIdentity {
  const known = new Map<string, KnownKey>();
  /** Requests that arrive at the same moment share one read. Each would take a separate connection. */
  const reading = new Map<string, Promise<KnownKey | null>>();

  function read(name: string, hash: Buffer): Promise<KnownKey | null> {
    const running = reading.get(name);
    if (running) return running;
    const readAt = now();
    const begun: Promise<KnownKey | null> = findKeyBySecret(db, hash)
      .then((found) => {
        const entry = found ? { found, caller: callerOf(found), readAt } : null;
        // A key that was forgotten meanwhile may have been read before its revocation.
        if (reading.get(name) !== begun) return entry;
        if (known.size >= maxCachedKeys) known.clear();
        if (entry) known.set(name, entry);
        else known.delete(name);
        return entry;
      })
      .finally(() => {
        if (reading.get(name) === begun) reading.delete(name);
      });
    reading.set(name, begun);
    return begun;
  }

  return {
    async ofKey(token) {
      if (!/^vk_(test|live)_[A-Za-z0-9_-]{43}$/.test(token)) throw fail('key_invalid', { message: formFault(token) });
      const hash = hashSecret(token);
      const name = hash.toString('base64');
      const cached = known.get(name);
      const entry = cached && now() - cached.readAt < cachedMs ? cached : await read(name, hash);
      if (!entry) throw fail('key_invalid');
      refuseEnded(entry.found, now());
      return entry.caller;
    },
    forget(keyId) {
      reading.clear();
      for (const [name, { found }] of known) if (found.key.id === keyId) known.delete(name);
    },
  };
}

/** Says what is wrong with the form of a key, without any of its characters. */
function formFault(token: string): string {
  if (/^vk_(test|live)_/.test(token)) return 'This API key is incomplete or has characters too many. Copy it again.';
  return `No such API key: keys of this server begin with vk_test_ or vk_live_.${vendorHint(token)}`;
}

const vendorHint = (token: string) =>
  /^(sk-|AIza|gsk_|xai-)/.test(token)
    ? ' This looks like the key of a model provider: set it in the environment of the server, and send a key of the server here.'
    : '';

function refuseEnded({ key, rolledUntil }: FoundKey, at: number): void {
  if (key.revoked_at) throw fail('key_revoked');
  if (rolledUntil && rolledUntil.getTime() <= at) {
    throw fail('key_expired', { message: 'This key was rolled and its grace period is over. Use the new key.' });
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

/** A slow hash is not needed: 32 random bytes cannot be guessed. */
export const hashSecret = (secret: string): Buffer => hash('sha256', secret, 'buffer');

type KnownKey = { found: FoundKey; caller: Caller; readAt: number };

type FoundKey = { key: KeyRow; org: { status: string }; rolledUntil: Date | null };

/** Finds a key by its current secret, or by one that a roll replaced. */
async function findKeyBySecret(db: Executor, hash: Buffer): Promise<FoundKey | undefined> {
  const shape = { ...apiKeys.columns, org_status: text(), rolled_until: moment().nullable() };
  const columns = columnsOf(apiKeys, 'k');
  const found =
    (await maybeOne(
      db,
      shape,
      sql`SELECT ${columns}, o.status AS org_status, NULL AS rolled_until
          FROM ${apiKeys} k JOIN ${orgs} o ON o.id = k.org_id WHERE k.secret_hash = ${hash}`,
    )) ??
    (await maybeOne(
      db,
      shape,
      sql`SELECT ${columns}, o.status AS org_status, r.expires_at AS rolled_until
          FROM ${rolledKeySecrets} r JOIN ${apiKeys} k ON k.id = r.key_id JOIN ${orgs} o ON o.id = k.org_id
          WHERE r.secret_hash = ${hash}`,
    ));
  if (!found) return undefined;
  const { org_status, rolled_until, ...key } = found;
  return { key, org: { status: org_status }, rolledUntil: rolled_until };
}
