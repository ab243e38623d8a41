import type { Tenant } from '../../platform/caller.ts';
import type { Executor } from '../../platform/db/pool.ts';
import { insert, rowsOf, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf, text } from '../../platform/db/table.ts';
import { type SecretRow, secrets } from './tables.ts';

const columns = columnsOf(secrets);
const owned = ({ orgId, mode }: Tenant, userId: string) =>
  sql`org_id = ${orgId} AND mode = ${mode} AND user_id = ${userId}`;

export async function upsertSecret(
  tx: Executor,
  { orgId, mode }: Tenant,
  { userId, name, sealed }: { userId: string; name: string; sealed: Buffer },
): Promise<SecretRow> {
  const row = await insert(
    tx,
    secrets,
    { org_id: orgId, mode, user_id: userId, name, sealed_value: sealed },
    {
      onConflict: sql`(org_id, mode, user_id, name) DO UPDATE SET sealed_value = excluded.sealed_value, updated_at = now()`,
    },
  );
  return row as SecretRow;
}

/** By name: a secret has no other key, and nobody looks for the newest one. */
export function listSecrets(
  db: Executor,
  tenant: Tenant,
  userId: string,
  page: { limit: number; after: readonly string[] | null },
): Promise<SecretRow[]> {
  const conditions = sql.and(owned(tenant, userId), page.after && sql`name > ${page.after[0] as string}`);
  return rowsOf(
    db,
    secrets,
    sql`SELECT ${columns} FROM ${secrets} WHERE ${conditions} ORDER BY name LIMIT ${page.limit + 1}`,
  );
}

export async function removeSecret(tx: Executor, tenant: Tenant, userId: string, name: string): Promise<boolean> {
  return (await run(tx, sql`DELETE FROM ${secrets} WHERE ${owned(tenant, userId)} AND name = ${name}`)) > 0;
}

/** Those of the names under which the company stored a secret in this mode. */
export async function storedNames(
  db: Executor,
  tenant: Tenant,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  if (names.length === 0) return new Set();
  const rows = await rowsOf(
    db,
    { name: text() },
    sql`SELECT name FROM ${secrets} WHERE ${owned(tenant, '')} AND name = ANY(${names})`,
  );
  return new Set(rows.map(({ name }) => name));
}

export async function removeSecretsOfUser(tx: Executor, tenant: Tenant, userId: string): Promise<void> {
  await run(tx, sql`DELETE FROM ${secrets} WHERE ${owned(tenant, userId)}`);
}

export async function findSecrets(db: Executor, tenant: Tenant, userId: string, names: string[]): Promise<SecretRow[]> {
  if (names.length === 0) return [];
  return rowsOf(
    db,
    secrets,
    sql`SELECT ${columns} FROM ${secrets} WHERE ${owned(tenant, userId)} AND name = ANY(${names})`,
  );
}
