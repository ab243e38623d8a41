import type { Mode } from '@vestra/contract/route';
import type { Tenant } from '../../platform/caller.ts';
import type { Database, Executor, Transaction } from '../../platform/db/pool.ts';
import { prune } from '../../platform/db/prune.ts';
import { insert, maybeOne, rowsOf, run, update } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf, type NewRowOf } from '../../platform/db/table.ts';
import type { Failing } from './delivery.ts';
import { dropWaiting } from './delivery-store.ts';
import { type EndpointRow, type SecretRow, webhookEndpoints, webhookSecrets } from './tables.ts';
import type { EndpointFields } from './webhook.ts';

const columns = columnsOf(webhookEndpoints);
const ofTenant = ({ orgId, mode }: Tenant) => sql`org_id = ${orgId} AND mode = ${mode}`;
const owned = (tenant: Tenant, endpointId: string) => sql`${ofTenant(tenant)} AND id = ${endpointId}`;

export function listEndpoints(
  db: Executor,
  tenant: Tenant,
  { limit, after }: { limit: number; after: readonly string[] | null },
): Promise<EndpointRow[]> {
  const conditions = sql.and(ofTenant(tenant), after && sql`id < ${after[0] as string}`);
  return rowsOf(
    db,
    webhookEndpoints,
    sql`SELECT ${columns} FROM ${webhookEndpoints} WHERE ${conditions} ORDER BY id DESC LIMIT ${limit + 1}`,
  );
}

export function findEndpoint(db: Executor, tenant: Tenant, endpointId: string): Promise<EndpointRow | undefined> {
  return maybeOne(
    db,
    webhookEndpoints,
    sql`SELECT ${columns} FROM ${webhookEndpoints} WHERE ${owned(tenant, endpointId)}`,
  );
}

/** Held until the transaction ends, so that changes at once are judged one after the other. */
export function lockEndpoint(tx: Transaction, tenant: Tenant, endpointId: string): Promise<EndpointRow | undefined> {
  return maybeOne(
    tx,
    webhookEndpoints,
    sql`SELECT ${columns} FROM ${webhookEndpoints} WHERE ${owned(tenant, endpointId)} FOR UPDATE`,
  );
}

/** In one order for all, so that two who hold several never wait for each other. */
export function lockEndpoints(tx: Transaction, endpointIds: readonly string[]): Promise<EndpointRow[]> {
  return rowsOf(
    tx,
    webhookEndpoints,
    sql`SELECT ${columns} FROM ${webhookEndpoints} WHERE id = ANY(${endpointIds}) ORDER BY id FOR NO KEY UPDATE`,
  );
}

export async function keepFailing(tx: Transaction, endpointId: string, { since, lastAt }: Failing): Promise<void> {
  await run(
    tx,
    sql`UPDATE ${webhookEndpoints} SET failing_since = ${since}, last_failed_at = ${lastAt} WHERE id = ${endpointId}`,
  );
}

/** Those that the deployment's file has in this mode, held until the transaction ends. */
export function lockFileManaged(tx: Transaction, deploymentId: string, mode: Mode): Promise<EndpointRow[]> {
  return rowsOf(
    tx,
    webhookEndpoints,
    sql`SELECT ${columns} FROM ${webhookEndpoints}
        WHERE deployment_id = ${deploymentId} AND mode = ${mode} ORDER BY id FOR UPDATE`,
  );
}

export function insertEndpoint(tx: Transaction, row: NewRowOf<typeof webhookEndpoints>): Promise<EndpointRow> {
  return insert(tx, webhookEndpoints, row);
}

/**
 * Changing nothing still moves the time: a roll changes what the row does not show. An endpoint that is switched off, or
 * on again, has nothing left of before to be sent; one that is switched on or moved begins without failures.
 */
export async function updateEndpoint(
  tx: Transaction,
  endpointId: string,
  changes: Partial<EndpointFields>,
): Promise<EndpointRow> {
  const isFresh = changes.active !== undefined || changes.url !== undefined;
  const noFailures = isFresh && { failing_since: null, last_failed_at: null };
  const [row] = await update(
    tx,
    webhookEndpoints,
    { ...changes, ...noFailures, updated_at: sql`now()` },
    sql`id = ${endpointId}`,
  );
  if (changes.active !== undefined) await dropWaiting(tx, [endpointId]);
  return row as EndpointRow;
}

export async function deleteEndpoints(tx: Transaction, endpointIds: readonly string[]): Promise<void> {
  if (endpointIds.length === 0) return;
  await run(tx, sql`DELETE FROM ${webhookEndpoints} WHERE id = ANY(${endpointIds})`);
  await dropWaiting(tx, endpointIds);
}

export async function insertSecret(tx: Transaction, endpointId: string, sealed: Buffer): Promise<void> {
  await insert(tx, webhookSecrets, { endpoint_id: endpointId, sealed_secret: sealed });
}

/** The one in use first, then those that a roll replaced, the last of them first. */
export function secretsInForce(db: Executor, endpointId: string): Promise<SecretRow[]> {
  return rowsOf(
    db,
    webhookSecrets,
    sql`SELECT ${columnsOf(webhookSecrets)} FROM ${webhookSecrets}
        WHERE endpoint_id = ${endpointId} AND (valid_until IS NULL OR valid_until > now())
        ORDER BY valid_until DESC NULLS FIRST`,
  );
}

/** Gives the secret in use its last 24 hours, and removes those whose time is over. */
export async function retireSecrets(tx: Transaction, endpointId: string): Promise<void> {
  await run(tx, sql`DELETE FROM ${webhookSecrets} WHERE endpoint_id = ${endpointId} AND valid_until <= now()`);
  await run(
    tx,
    sql`UPDATE ${webhookSecrets} SET valid_until = now() + interval '24 hours'
        WHERE endpoint_id = ${endpointId} AND valid_until IS NULL`,
  );
}

/** Removes rolled secrets whose grace is over. False: none was left. */
export const pruneWebhookSecrets = (db: Database, before: Date, limit: number): Promise<boolean> =>
  prune(db, webhookSecrets, sql`valid_until < ${before}`, limit);
