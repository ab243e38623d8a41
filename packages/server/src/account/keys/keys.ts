import { randomBytes } from 'node:crypto';
import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { Mode, Scope } from '@vestra/contract/route';
import type { Caller, Origin, Tenant } from '../../platform/caller.ts';
import { sharedDate, sharedNow } from '../../platform/db/clock.ts';
import type { Database, Executor, Transaction } from '../../platform/db/pool.ts';
import { insert, maybeOne, rowsOf, run, updateOne } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf, type NewRowOf, text } from '../../platform/db/table.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import { recordAudit } from '../audit/audit-log.ts';
import { emit } from '../events/emit.ts';
import { apiKeys, type KeyRow, rolledKeySecrets } from '../tables.ts';
import { hashSecret, type KeyIdentity } from './key-identity.ts';

type KeyDependencies = {
  db: Database;
  identity: KeyIdentity;
  /** Called after a key was revoked, to close its open connections. */
  ended: (keyId: string) => void;
};

export function keyRoutes({ db, identity, ended }: KeyDependencies): Handlers<'keys'> {
  return {
    list: async ({ caller, page }) => page.of(await listKeys(db, caller, page), presentKey, (row) => [row.id]),
    create: async ({ caller, origin, body, commit }) => {
      refuseStrongerKey(makerOf(caller), body);
      return commit((tx) => createKey(tx, origin, body));
    },
    roll: async ({ caller, origin, params, body, commit }) => {
      const answer = await commit((tx) =>
        rollKey(tx, origin, {
          keyId: params.key_id,
          graceSeconds: body.grace_seconds,
          mayTouch: (key) => refuseStrongerKey(makerOf(caller), key),
        }),
      );
      identity.forget(params.key_id);
      return answer;
    },
    revoke: async ({ caller, origin, params }) => {
      await transaction(db, (tx) =>
        revokeKey(tx, origin, {
          keyId: params.key_id,
          mayTouch: (key) => refuseStrongerKey(makerOf(caller), key),
        }),
      );
      identity.forget(params.key_id);
      ended(params.key_id);
      return { object: 'key', id: params.key_id, deleted: true };
    },
  };
}

const makerOf = ({ mode, scopes, member }: Caller) => ({ mode, scopes, isMember: member !== null });

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

async function rollKey(
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

async function revokeKey(
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

type KeySecret = { secret: string; hash: Buffer; last4: string };

/** The secret leaves this process only in the response that creates it. */
function newKeySecret(mode: Mode): KeySecret {
  const secret = `vk_${mode}_${randomBytes(32).toString('base64url')}`;
  return { secret, hash: hashSecret(secret), last4: secret.slice(-4) };
}

/** A key may only create or change keys with its own scopes or fewer. A test key cannot create a live key. */
function refuseStrongerKey(
  maker: { mode: Mode; scopes: readonly Scope[]; isMember: boolean },
  wanted: { mode: Mode; scopes: readonly Scope[] },
): void {
  if (wanted.mode === 'live' && maker.mode === 'test' && !maker.isMember)
    throw fail('live_key_required', { param: 'mode' });
  const missing = maker.scopes.includes('all')
    ? undefined
    : wanted.scopes.find((scope) => !maker.scopes.includes(scope));
  if (missing) {
    throw fail('scope_missing', {
      param: 'scopes',
      message: `This key does not hold the scope \`${missing}\` itself.`,
    });
  }
}

const presentKey = (row: KeyRow) => ({
  object: 'key' as const,
  id: row.id,
  name: row.name,
  mode: row.mode,
  scopes: row.scopes,
  last4: row.last4,
  created_at: row.created_at.toISOString(),
  last_used_at: row.last_used_at?.toISOString() ?? null,
  expires_at: row.expires_at?.toISOString() ?? null,
});

function insertKey(tx: Executor, row: NewRowOf<typeof apiKeys>): Promise<KeyRow> {
  return insert(tx, apiKeys, row);
}

const notRevoked = ({ orgId, mode }: Tenant) => sql`org_id = ${orgId} AND mode = ${mode} AND revoked_at IS NULL`;

function listKeys(
  db: Executor,
  tenant: Tenant,
  page: { limit: number; after: readonly string[] | null },
): Promise<KeyRow[]> {
  const conditions = sql.and(notRevoked(tenant), page.after && sql`id < ${page.after[0] as string}`);
  return rowsOf(
    db,
    apiKeys,
    sql`SELECT ${columnsOf(apiKeys)} FROM ${apiKeys} WHERE ${conditions} ORDER BY id DESC LIMIT ${page.limit + 1}`,
  );
}

function lockKey(tx: Executor, tenant: Tenant, keyId: string): Promise<KeyRow | undefined> {
  return maybeOne(
    tx,
    apiKeys,
    sql`SELECT ${columnsOf(apiKeys)} FROM ${apiKeys} WHERE id = ${keyId} AND ${notRevoked(tenant)} FOR UPDATE`,
  );
}

async function replaceSecret(
  tx: Executor,
  keyId: string,
  next: { hash: Buffer; last4: string },
  previous: { hash: Buffer; expiresAt: Date },
): Promise<KeyRow> {
  await insert(tx, rolledKeySecrets, { secret_hash: previous.hash, key_id: keyId, expires_at: previous.expiresAt });
  return updateOne(tx, apiKeys, { secret_hash: next.hash, last4: next.last4 }, sql`id = ${keyId}`);
}

async function markRevoked(tx: Executor, keyId: string): Promise<void> {
  await run(tx, sql`UPDATE ${apiKeys} SET revoked_at = ${sharedDate()} WHERE id = ${keyId}`);
}

/** Returns those of the keys that are not revoked. */
export async function liveKeys(db: Executor, ids: string[]): Promise<string[]> {
  const live = sql`SELECT id FROM ${apiKeys} WHERE id = ANY(${ids}) AND revoked_at IS NULL`;
  return (await rowsOf(db, { id: text() }, live)).map(({ id }) => id);
}
