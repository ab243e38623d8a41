import { isDeepStrictEqual } from 'node:util';
import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { Mode } from '@vestra/contract/route';
import { secretsIn } from '@vestra/contract/secrets-in-text';
import { recordAudit } from '../../account/index.ts';
import { type DeploymentRow, lockDeployment } from '../../agents/deployments/index.ts';
import { type FileObjects, recoverableWebhooks } from '../../agents/versions/index.ts';
import type { Origin, Tenant } from '../../platform/caller.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { insert, maybeOne, rowsOf, run, updateOne } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf, type NewRowOf } from '../../platform/db/table.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import { dropPending } from './deliveries.ts';
import { assertMayRoll, createSecret, retireSecrets, secretsInForce } from './signatures.ts';
import { type WebhookEndpointRow, webhookEndpoints } from './tables.ts';

/** Fields that a caller sets. */
type EndpointFields = Pick<WebhookEndpointRow, 'url' | 'events' | 'description' | 'active'>;

/** The wanted values that differ from the row. */
function differences<Fields extends Partial<FileEndpointFields>>(
  row: WebhookEndpointRow,
  wanted: Fields,
): Partial<Fields> {
  const entries = Object.entries(wanted) as [keyof FileEndpointFields, unknown][];
  return Object.fromEntries(
    entries.filter(([field, value]) => value !== undefined && !isDeepStrictEqual(row[field], value)),
  ) as Partial<Fields>;
}

function assertNotFileManaged({ managed_by }: Pick<WebhookEndpointRow, 'managed_by'>): void {
  if (managed_by !== 'file') return;
  throw fail('managed_by_file', {
    message: 'The deployment file declares this endpoint under `webhooks`: change it there and apply the file again.',
  });
}

const columns = columnsOf(webhookEndpoints);

const ofTenant = ({ orgId, mode }: Tenant) => sql`org_id = ${orgId} AND mode = ${mode}`;

const owned = (tenant: Tenant, endpointId: string) => sql`${ofTenant(tenant)} AND id = ${endpointId}`;

export function listEndpoints(
  db: Executor,
  tenant: Tenant,
  { limit, after }: { limit: number; after: readonly string[] | null },
): Promise<WebhookEndpointRow[]> {
  const conditions = sql.and(ofTenant(tenant), after && sql`id < ${after[0] as string}`);
  return rowsOf(
    db,
    webhookEndpoints,
    sql`SELECT ${columns} FROM ${webhookEndpoints} WHERE ${conditions} ORDER BY id DESC LIMIT ${limit + 1}`,
  );
}

export function findEndpoint(
  db: Executor,
  tenant: Tenant,
  endpointId: string,
): Promise<WebhookEndpointRow | undefined> {
  return maybeOne(
    db,
    webhookEndpoints,
    sql`SELECT ${columns} FROM ${webhookEndpoints} WHERE ${owned(tenant, endpointId)}`,
  );
}

/** Locks the row until the transaction ends, so that concurrent changes are serialised. */
function lockEndpoint(tx: Transaction, tenant: Tenant, endpointId: string): Promise<WebhookEndpointRow | undefined> {
  return maybeOne(
    tx,
    webhookEndpoints,
    sql`SELECT ${columns} FROM ${webhookEndpoints} WHERE ${owned(tenant, endpointId)} FOR UPDATE`,
  );
}

/** Always in the order of the ids, so that two transactions cannot deadlock. */
export function lockEndpoints(tx: Transaction, endpointIds: readonly string[]): Promise<WebhookEndpointRow[]> {
  return rowsOf(
    tx,
    webhookEndpoints,
    sql`SELECT ${columns} FROM ${webhookEndpoints} WHERE id = ANY(${endpointIds}) ORDER BY id FOR NO KEY UPDATE`,
  );
}

/** Locks the endpoints that the deployment file has in this mode. */
function lockFileManaged(tx: Transaction, deploymentId: string, mode: Mode): Promise<WebhookEndpointRow[]> {
  return rowsOf(
    tx,
    webhookEndpoints,
    sql`SELECT ${columns} FROM ${webhookEndpoints}
        WHERE deployment_id = ${deploymentId} AND mode = ${mode} ORDER BY id FOR UPDATE`,
  );
}

function insertEndpoint(tx: Transaction, row: NewRowOf<typeof webhookEndpoints>): Promise<WebhookEndpointRow> {
  return insert(tx, webhookEndpoints, row);
}

/**
 * `updated_at` moves even without changes: it is the version by which signing secrets are cached, and a roll must
 * change it. Disabling and enabling drop pending deliveries. Both, and a new URL, clear the failures.
 */
export async function updateEndpoint(
  tx: Transaction,
  endpointId: string,
  changes: Partial<FileEndpointFields>,
): Promise<WebhookEndpointRow> {
  const isFresh = changes.active !== undefined || changes.url !== undefined;
  const noFailures = isFresh && { failing_since: null, last_failed_at: null };
  const row = await updateOne(
    tx,
    webhookEndpoints,
    { ...changes, ...noFailures, updated_at: sql`now()` },
    sql`id = ${endpointId}`,
  );
  if (changes.active !== undefined) await dropPending(tx, [endpointId]);
  return row;
}

async function deleteEndpoints(tx: Transaction, endpointIds: readonly string[]): Promise<void> {
  if (endpointIds.length === 0) return;
  await run(tx, sql`DELETE FROM ${webhookEndpoints} WHERE id = ANY(${endpointIds})`);
  await dropPending(tx, endpointIds);
}

export async function createEndpoint(tx: Transaction, vault: Vault, origin: Origin, fields: EndpointFields) {
  const row = await insertEndpoint(tx, { ...fields, id: newId('whk'), org_id: origin.orgId, mode: origin.mode });
  const secret = await createSecret(tx, vault, row);
  // Without the URL, since many receivers have a credential in its path or query.
  await recordAudit(tx, origin, {
    action: 'webhook_endpoint.created',
    target: { type: 'webhook_endpoint', id: row.id },
    details: { events: row.events, active: row.active },
  });
  return { ...presentEndpoint(row), secret };
}

/** Fields left out stay. Values that are already set are neither written nor audited. */
export async function changeEndpoint(
  tx: Transaction,
  origin: Origin,
  endpointId: string,
  wanted: Partial<EndpointFields>,
): Promise<WebhookEndpointRow> {
  const before = await lockEndpoint(tx, origin, endpointId);
  if (!before) throw fail('webhook_not_found');
  assertNotFileManaged(before);
  const changes = differences(before, wanted);
  if (Object.keys(changes).length === 0) return before;
  const row = await updateEndpoint(tx, endpointId, changes);
  await recordAudit(tx, origin, {
    action: 'webhook_endpoint.updated',
    target: { type: 'webhook_endpoint', id: endpointId },
    details: { changed: Object.keys(changes) },
  });
  return row;
}

export async function removeEndpoint(tx: Transaction, origin: Origin, endpointId: string): Promise<void> {
  const row = await lockEndpoint(tx, origin, endpointId);
  if (!row) throw fail('webhook_not_found');
  assertNotFileManaged(row);
  await deleteEndpoints(tx, [endpointId]);
  await recordAudit(tx, origin, {
    action: 'webhook_endpoint.deleted',
    target: { type: 'webhook_endpoint', id: endpointId },
  });
}

/** Also allowed for endpoints of a file, which does not contain secrets. */
export async function rollSecret(tx: Transaction, vault: Vault, origin: Origin, endpointId: string) {
  const endpoint = await lockEndpoint(tx, origin, endpointId);
  if (!endpoint) throw fail('webhook_not_found');
  if (endpoint.secret_name !== null) {
    throw fail('managed_by_file', {
      message: `The deployment file signs with the secret ${endpoint.secret_name}: store another value with PUT /v1/secrets/${endpoint.secret_name}.`,
    });
  }
  assertMayRoll(await secretsInForce(tx, endpointId), sharedDate());
  await retireSecrets(tx, endpointId);
  const secret = await createSecret(tx, vault, endpoint);
  const row = await updateEndpoint(tx, endpointId, {});
  await recordAudit(tx, origin, {
    action: 'webhook_endpoint.secret_rolled',
    target: { type: 'webhook_endpoint', id: endpointId },
  });
  return { ...presentEndpoint(row), secret };
}

type DeclaredEndpoints = { deployment: DeploymentRow; mode: Mode; declared: FileObjects['webhooks'] };

/** A created endpoint. Its secret is shown only here. */
export type CreatedEndpoint = { endpoint_id: string; url: string; mode: Mode; secret: string };

/**
 * Makes these the only active endpoints that the deployment file has in this mode; their URLs differ. Returns the
 * created ones with their secrets. A live endpoint that a rollback would bring back is kept inactive, so that it comes
 * back with its id and secret. Concurrent applies are serialised. The audit entry is that of the apply.
 */
export async function replaceFileEndpoints(
  tx: Transaction,
  vault: Vault,
  { deployment, mode, declared }: DeclaredEndpoints,
): Promise<CreatedEndpoint[]> {
  await lockDeployment(tx, deployment.org_id, deployment.id);
  const before = new Map((await lockFileManaged(tx, deployment.id, mode)).map((row) => [row.url, row]));
  const urls = new Set(declared.map(({ url }) => url));
  const dropped = [...before.values()].filter(({ url }) => !urls.has(url));
  const kept = dropped.length > 0 && mode === 'live' ? await recoverableWebhooks(tx, deployment) : new Set<string>();
  await deleteEndpoints(
    tx,
    dropped.filter(({ url }) => !kept.has(url)).map(({ id }) => id),
  );
  for (const { id, url, active } of dropped) {
    if (kept.has(url) && active) await updateEndpoint(tx, id, { active: false });
  }
  const made: CreatedEndpoint[] = [];
  for (const fields of declared.map(fieldsOf)) {
    const known = before.get(fields.url);
    if (!known) {
      made.push(...(await insertFileEndpoint(tx, vault, { deployment, mode }, fields)));
      continue;
    }
    const changes = differences(known, fields);
    if (Object.keys(changes).length === 0) continue;
    const row = await updateEndpoint(tx, known.id, changes);
    if (changes.secret_name === undefined) continue;
    // The secret before stays valid for a day, so that receivers have time to change.
    await retireSecrets(tx, known.id);
    if (changes.secret_name === null) made.push(createdEndpoint(row, await createSecret(tx, vault, row)));
  }
  return made;
}

/**
 * Creates the missing endpoints of a version that is not live yet. They receive nothing until it is, but their secrets
 * are known before the first delivery. Returns the created ones.
 */
export async function prepareFileEndpoints(
  tx: Transaction,
  vault: Vault,
  { deployment, mode, declared }: DeclaredEndpoints,
): Promise<CreatedEndpoint[]> {
  if (declared.length === 0) return [];
  await lockDeployment(tx, deployment.org_id, deployment.id);
  const known = new Set((await lockFileManaged(tx, deployment.id, mode)).map(({ url }) => url));
  const made: CreatedEndpoint[] = [];
  for (const fields of declared.map(fieldsOf).filter(({ url }) => !known.has(url))) {
    made.push(...(await insertFileEndpoint(tx, vault, { deployment, mode }, { ...fields, active: false })));
  }
  return made;
}

/** Returns the created secret, or nothing if the file names one. */
async function insertFileEndpoint(
  tx: Transaction,
  vault: Vault,
  { deployment, mode }: Pick<DeclaredEndpoints, 'deployment' | 'mode'>,
  fields: FileEndpointFields,
): Promise<CreatedEndpoint[]> {
  const place = { id: newId('whk'), org_id: deployment.org_id, mode, deployment_id: deployment.id };
  const row = await insertEndpoint(tx, { ...fields, ...place, managed_by: 'file' });
  return row.secret_name === null ? [createdEndpoint(row, await createSecret(tx, vault, row))] : [];
}

const createdEndpoint = ({ id, url, mode }: WebhookEndpointRow, secret: string): CreatedEndpoint => ({
  ...{ endpoint_id: id, url, mode, secret },
});

type FileEndpointFields = EndpointFields & Pick<WebhookEndpointRow, 'secret_name'>;

/** Declared endpoints are enabled: one that was disabled for its failures cannot be enabled over the API. */
const fieldsOf = ({ url, events, description, secret }: DeclaredEndpoints['declared'][number]): FileEndpointFields => ({
  url,
  events,
  // In a file an empty description means none.
  description: description || null,
  active: true,
  secret_name: secretsIn(secret ?? '').company[0] ?? null,
});

export const presentEndpoint = (row: WebhookEndpointRow) => ({
  object: 'webhook_endpoint' as const,
  id: row.id,
  url: row.url,
  events: row.events,
  description: row.description,
  active: row.active,
  mode: row.mode,
  deployment_id: row.deployment_id,
  managed_by: row.managed_by,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});
