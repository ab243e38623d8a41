import { fail } from '@vestra/contract/errors';
import { readToolInput } from '@vestra/contract/tool-input';
import { openOwned, recordAudit, sealOwned } from '../../account/index.ts';
import type { Manifest } from '../../agents/versions/index.ts';
import { assertMayRoll, newSecret } from '../../automation/index.ts';
import type { TakenCall } from '../../engine/interactions/index.ts';
import type { Origin, Tenant } from '../../platform/caller.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { insert, maybeOne, rowsOf, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf } from '../../platform/db/table.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import {
  type FunctionEndpointRow,
  type FunctionSecretRow,
  functionEndpointSecrets,
  functionEndpoints,
} from '../tables.ts';

/** A new endpoint gets a secret, which is shown only in this response. Changing the address keeps it. */
export async function setEndpoint(tx: Transaction, vault: Vault, origin: Origin, deploymentId: string, url: string) {
  const before = await lockEndpoint(tx, origin, deploymentId);
  const row = before?.url === url ? before : await putEndpoint(tx, origin, deploymentId, url);
  const hasSecret = (await secretsInForce(tx, origin, deploymentId)).length > 0;
  const secret = hasSecret ? null : await createSecret(tx, vault, origin, deploymentId);
  if (row !== before) await audit(tx, origin, deploymentId, before ? 'updated' : 'created');
  return { ...presentEndpoint(row), ...(secret !== null && { secret }) };
}

export async function removeEndpoint(tx: Transaction, origin: Origin, deploymentId: string): Promise<void> {
  if (!(await deleteEndpoint(tx, origin, deploymentId))) throw fail('function_endpoint_not_found');
  await audit(tx, origin, deploymentId, 'deleted');
}

export async function rollSecret(tx: Transaction, vault: Vault, origin: Origin, deploymentId: string) {
  const row = await lockEndpoint(tx, origin, deploymentId);
  if (!row) throw fail('function_endpoint_not_found');
  assertMayRoll(await secretsInForce(tx, origin, deploymentId), sharedDate());
  await retireSecrets(tx, origin, deploymentId);
  const secret = await createSecret(tx, vault, origin, deploymentId);
  await audit(tx, origin, deploymentId, 'secret_rolled');
  return { ...presentEndpoint(row), secret };
}

/** The current secret first, then those that were rolled within 24 hours. */
export async function signingSecrets(
  db: Executor,
  vault: Vault,
  tenant: Tenant,
  deploymentId: string,
): Promise<string[]> {
  const rows = await secretsInForce(db, tenant, deploymentId);
  const sealed = rows.map(({ sealed_secret }) => sealed_secret);
  return openOwned(db, vault, placeOf(tenant, deploymentId), sealed);
}

async function createSecret(tx: Transaction, vault: Vault, tenant: Tenant, deploymentId: string): Promise<string> {
  const secret = newSecret();
  await insertSecret(tx, tenant, deploymentId, await sealOwned(tx, vault, placeOf(tenant, deploymentId), secret));
  return secret;
}

const placeOf = (tenant: Tenant, deploymentId: string) => ({
  kind: 'function_endpoint' as const,
  tenant,
  owner: deploymentId,
});

/** Without the URL, since many receivers have a credential in its path or query. */
const audit = (tx: Transaction, origin: Origin, deploymentId: string, what: string) =>
  recordAudit(tx, origin, {
    action: `function_endpoint.${what}`,
    target: { type: 'deployment', id: deploymentId },
  });

export const presentFunction = ({ function: name, input, ...declared }: Manifest['tools'][number]) => ({
  name,
  description: declared.description,
  input_schema: readToolInput(input).schema,
  timeout_s: declared.timeout_s,
  read_only: declared.read_only,
  run_without_asking: declared.run_without_asking,
});

export const presentTaken = (row: TakenCall) => ({
  object: 'tool_call' as const,
  call_id: row.id,
  name: String(row.details.tool_name),
  arguments: row.arguments,
  deployment_id: row.deployment_id as string,
  conversation_id: row.conversation_id,
  task_id: row.task_id,
  user_id: row.user_id,
  claim_id: row.taken_by as string,
  attempt: row.attempts,
  taken_until: (row.taken_until as Date).toISOString(),
  expires_at: row.expires_at?.toISOString() ?? null,
});

export const presentEndpoint = (row: FunctionEndpointRow) => ({
  object: 'function_endpoint' as const,
  deployment_id: row.deployment_id,
  mode: row.mode,
  url: row.url,
  last_failure:
    row.last_failure === null || row.last_failed_at === null
      ? null
      : { message: row.last_failure, at: row.last_failed_at.toISOString() },
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

const columns = columnsOf(functionEndpoints);

const isOf = ({ orgId, mode }: Tenant, deploymentId: string) =>
  sql`org_id = ${orgId} AND mode = ${mode} AND deployment_id = ${deploymentId}`;

export const findEndpoint = (
  db: Executor,
  tenant: Tenant,
  deploymentId: string,
): Promise<FunctionEndpointRow | undefined> =>
  maybeOne(db, functionEndpoints, sql`SELECT ${columns} FROM ${functionEndpoints} WHERE ${isOf(tenant, deploymentId)}`);

/** Locks the row until the transaction ends, so that concurrent changes are serialised. */
const lockEndpoint = (
  tx: Transaction,
  tenant: Tenant,
  deploymentId: string,
): Promise<FunctionEndpointRow | undefined> =>
  maybeOne(
    tx,
    functionEndpoints,
    sql`SELECT ${columns} FROM ${functionEndpoints} WHERE ${isOf(tenant, deploymentId)} FOR UPDATE`,
  );

/** The endpoints of all orgs. */
export const allEndpoints = (db: Executor): Promise<FunctionEndpointRow[]> =>
  rowsOf(db, functionEndpoints, sql`SELECT ${columns} FROM ${functionEndpoints}`);

async function putEndpoint(
  tx: Transaction,
  { orgId, mode }: Tenant,
  deploymentId: string,
  url: string,
): Promise<FunctionEndpointRow> {
  const row = await insert(
    tx,
    functionEndpoints,
    { org_id: orgId, mode, deployment_id: deploymentId, url },
    {
      onConflict: sql`(org_id, mode, deployment_id) DO UPDATE SET url = excluded.url, updated_at = now(),
      last_failure = NULL, last_failed_at = NULL`,
    },
  );
  return row as FunctionEndpointRow;
}

/** The last failure, which the org sees. */
export async function recordFailure(db: Executor, tenant: Tenant, deploymentId: string, fault: string): Promise<void> {
  await run(
    db,
    sql`UPDATE ${functionEndpoints} SET last_failure = ${fault}, last_failed_at = now()
      WHERE ${isOf(tenant, deploymentId)}`,
  );
}

/** Also deletes its secrets. */
async function deleteEndpoint(tx: Transaction, tenant: Tenant, deploymentId: string): Promise<boolean> {
  return (await run(tx, sql`DELETE FROM ${functionEndpoints} WHERE ${isOf(tenant, deploymentId)}`)) > 0;
}

async function insertSecret(
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

/** The current secret first, then rolled ones, latest first. */
const secretsInForce = (db: Executor, tenant: Tenant, deploymentId: string): Promise<FunctionSecretRow[]> =>
  rowsOf(
    db,
    functionEndpointSecrets,
    sql`SELECT ${columnsOf(functionEndpointSecrets)} FROM ${functionEndpointSecrets}
      WHERE ${isOf(tenant, deploymentId)} AND (valid_until IS NULL OR valid_until > now())
      ORDER BY valid_until DESC NULLS FIRST`,
  );

/** Lets the current secret expire in 24 hours, and deletes expired ones. */
async function retireSecrets(tx: Transaction, tenant: Tenant, deploymentId: string): Promise<void> {
  const secrets = functionEndpointSecrets;
  await run(tx, sql`DELETE FROM ${secrets} WHERE ${isOf(tenant, deploymentId)} AND valid_until <= now()`);
  await run(
    tx,
    sql`UPDATE ${secrets} SET valid_until = now() + interval '24 hours'
      WHERE ${isOf(tenant, deploymentId)} AND valid_until IS NULL`,
  );
}
