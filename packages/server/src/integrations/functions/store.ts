import type { Tenant } from '../../platform/caller.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { insert, maybeOne, rowsOf, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf } from '../../platform/db/table.ts';
import { type EndpointRow, functionEndpointSecrets, functionEndpoints, type SecretRow } from './tables.ts';

const columns = columnsOf(functionEndpoints);

const isOf = ({ orgId, mode }: Tenant, deploymentId: string) =>
  sql`org_id = ${orgId} AND mode = ${mode} AND deployment_id = ${deploymentId}`;

export const findEndpoint = (db: Executor, tenant: Tenant, deploymentId: string): Promise<EndpointRow | undefined> =>
  maybeOne(db, functionEndpoints, sql`SELECT ${columns} FROM ${functionEndpoints} WHERE ${isOf(tenant, deploymentId)}`);

/** Held until the transaction ends, so that changes at once are judged one after the other. */
export const lockEndpoint = (tx: Transaction, tenant: Tenant, deploymentId: string): Promise<EndpointRow | undefined> =>
  maybeOne(
    tx,
    functionEndpoints,
    sql`SELECT ${columns} FROM ${functionEndpoints} WHERE ${isOf(tenant, deploymentId)} FOR UPDATE`,
  );

/** Of every org: whose functions this server answers by calling an address. */
export const allEndpoints = (db: Executor): Promise<EndpointRow[]> =>
  rowsOf(db, functionEndpoints, sql`SELECT ${columns} FROM ${functionEndpoints}`);

/** The first one, or another address in its place. */
export async function putEndpoint(
  tx: Transaction,
  { orgId, mode }: Tenant,
  deploymentId: string,
  url: string,
): Promise<EndpointRow> {
  const row = await insert(
    tx,
    functionEndpoints,
    { org_id: orgId, mode, deployment_id: deploymentId, url },
    {
      onConflict: sql`(org_id, mode, deployment_id) DO UPDATE SET url = excluded.url, updated_at = now(),
      last_failure = NULL, last_failed_at = NULL`,
    },
  );
  return row as EndpointRow;
}

/** What is shown of an address that does not answer as it should. */
export async function keepFailure(db: Executor, tenant: Tenant, deploymentId: string, fault: string): Promise<void> {
  await run(
    db,
    sql`UPDATE ${functionEndpoints} SET last_failure = ${fault}, last_failed_at = now()
      WHERE ${isOf(tenant, deploymentId)}`,
  );
}

/** Its secrets go with it. */
export async function deleteEndpoint(tx: Transaction, tenant: Tenant, deploymentId: string): Promise<boolean> {
  return (await run(tx, sql`DELETE FROM ${functionEndpoints} WHERE ${isOf(tenant, deploymentId)}`)) > 0;
}

export async function insertSecret(
  tx: Transaction,
  { orgId, mode }: Tenant,
  deploymentId: string,
  sealed: Buffer,
): Promise<void> {
  await insert(tx, functionEndpointSecrets, {
    org_id: orgId,
    mode,
    deployment_id: deploymentId,
    sealed_secret: sealed,
  });
}

/** The one in use first, then those that a roll replaced, the last of them first. */
export const secretsInForce = (db: Executor, tenant: Tenant, deploymentId: string): Promise<SecretRow[]> =>
  rowsOf(
    db,
    functionEndpointSecrets,
    sql`SELECT ${columnsOf(functionEndpointSecrets)} FROM ${functionEndpointSecrets}
      WHERE ${isOf(tenant, deploymentId)} AND (valid_until IS NULL OR valid_until > now())
      ORDER BY valid_until DESC NULLS FIRST`,
  );

/** Gives the secret in use its last 24 hours, and removes those whose time is over. */
export async function retireSecrets(tx: Transaction, tenant: Tenant, deploymentId: string): Promise<void> {
  const secrets = functionEndpointSecrets;
  await run(tx, sql`DELETE FROM ${secrets} WHERE ${isOf(tenant, deploymentId)} AND valid_until <= now()`);
  await run(
    tx,
    sql`UPDATE ${secrets} SET valid_until = now() + interval '24 hours'
      WHERE ${isOf(tenant, deploymentId)} AND valid_until IS NULL`,
  );
}
