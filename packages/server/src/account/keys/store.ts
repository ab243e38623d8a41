import type { Tenant } from '../../platform/caller.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Executor } from '../../platform/db/pool.ts';
import { insert, maybeOne, rowsOf, run, update } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf, moment, type NewRowOf, text } from '../../platform/db/table.ts';
import { orgs } from '../orgs/tables.ts';
import { apiKeys, type KeyRow, rolledKeySecrets } from './tables.ts';

export function insertKey(tx: Executor, row: NewRowOf<typeof apiKeys>): Promise<KeyRow> {
  return insert(tx, apiKeys, row);
}

const standing = ({ orgId, mode }: Tenant) => sql`org_id = ${orgId} AND mode = ${mode} AND revoked_at IS NULL`;

export function listKeys(
  db: Executor,
  tenant: Tenant,
  page: { limit: number; after: readonly string[] | null },
): Promise<KeyRow[]> {
  const conditions = sql.and(standing(tenant), page.after && sql`id < ${page.after[0] as string}`);
  return rowsOf(
    db,
    apiKeys,
    sql`SELECT ${columnsOf(apiKeys)} FROM ${apiKeys} WHERE ${conditions} ORDER BY id DESC LIMIT ${page.limit + 1}`,
  );
}

export function lockKey(tx: Executor, tenant: Tenant, keyId: string): Promise<KeyRow | undefined> {
  return maybeOne(
    tx,
    apiKeys,
    sql`SELECT ${columnsOf(apiKeys)} FROM ${apiKeys} WHERE id = ${keyId} AND ${standing(tenant)} FOR UPDATE`,
  );
}

export async function replaceSecret(
  tx: Executor,
  keyId: string,
  next: { hash: Buffer; last4: string },
  previous: { hash: Buffer; expiresAt: Date },
): Promise<KeyRow> {
  await insert(tx, rolledKeySecrets, { secret_hash: previous.hash, key_id: keyId, expires_at: previous.expiresAt });
  const [row] = await update(tx, apiKeys, { secret_hash: next.hash, last4: next.last4 }, sql`id = ${keyId}`);
  return row as KeyRow;
}

export async function markRevoked(tx: Executor, keyId: string): Promise<void> {
  await run(tx, sql`UPDATE ${apiKeys} SET revoked_at = ${sharedDate()} WHERE id = ${keyId}`);
}

/** Of these, the ones that were not revoked. */
export async function liveKeys(db: Executor, ids: string[]): Promise<string[]> {
  const live = sql`SELECT id FROM ${apiKeys} WHERE id = ANY(${ids}) AND revoked_at IS NULL`;
  return (await rowsOf(db, { id: text() }, live)).map(({ id }) => id);
}

export type FoundKey = { key: KeyRow; org: { status: string }; rolledUntil: Date | null };

/** The key behind a secret: its current one, or one that a roll replaced. */
export async function findKeyBySecret(db: Executor, hash: Buffer): Promise<FoundKey | undefined> {
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
