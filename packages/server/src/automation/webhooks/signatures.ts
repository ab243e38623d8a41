import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { fail } from '@vestra/contract/errors';
import { openOwned, readSecrets, sealOwned } from '../../account/index.ts';
import type { Database, Executor, Transaction } from '../../platform/db/pool.ts';
import { insert, maybeOne, prune, rowsOf, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf } from '../../platform/db/table.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import { type WebhookEndpointRow, type WebhookSecretRow, webhookEndpoints, webhookSecrets } from './tables.ts';

type Message = { eventId: string; body: string; at: Date; secrets: readonly string[] };

/** Signature headers of Standard Webhooks 1.0, with one signature for each valid secret. */
export function signedHeaders({ eventId, body, at, secrets }: Message): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signature = secrets.map((secret) => sign(secret, `${eventId}.${timestamp}.${body}`)).join(' ');
  return {
    'webhook-id': eventId,
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
    'service-signature': signature,
  };
}

function sign(secret: string, text: string): string {
  // As a Buffer it would cost Node two errors, thrown and caught, to find its kind.
  const key = createSecretKey(keyOf(secret));
  return `v1,${createHmac('sha256', key).update(text).digest('base64')}`;
}

/** As the libraries of receivers read a secret. */
const keyOf = (secret: string): Buffer => Buffer.from(secret.trim().replace(/^whsec_/, ''), 'base64');

/** The limits of Standard Webhooks for a key. */
export const isSigningSecret = (secret: string): boolean => {
  const { length } = keyOf(secret);
  return length >= 24 && length <= 64;
};

/**
 * The format of Standard Webhooks. 24 bytes fill base64 without padding. A secret that is copied by double click or
 * read from an env file cannot lose a trailing `=`.
 */
export const newSecret = (): string => `whsec_${randomBytes(24).toString('base64')}`;

/** Each secret adds a signature to every delivery, and receivers refuse headers of more than a few kilobytes. */
const maxSecrets = 10;

/** A rolled secret stays valid for 24 hours, so none may be dropped early. */
export function assertMayRoll(inForce: readonly Pick<WebhookSecretRow, 'valid_until'>[], now: Date): void {
  if (inForce.length < maxSecrets) return;
  const ends = inForce.flatMap(({ valid_until }) => (valid_until ? [valid_until.getTime()] : []));
  throw fail('rate_limited', {
    message: `The secret of this endpoint was rolled ${maxSecrets - 1} times within 24 hours. Try again when the first of those is over, or delete the endpoint and create another.`,
    retry_after_ms: Math.max(1000, Math.min(...ends) - now.getTime()),
  });
}

type SigningEndpoint = Pick<WebhookEndpointRow, 'id' | 'org_id' | 'mode'>;

const placeOf = ({ id, org_id, mode }: SigningEndpoint) => ({
  kind: 'webhook_secret' as const,
  tenant: { orgId: org_id, mode },
  owner: id,
});

/** Creates the secret that the endpoint uses from now on. The server shows it only in this response. */
export async function createSecret(tx: Transaction, vault: Vault, endpoint: SigningEndpoint): Promise<string> {
  const secret = newSecret();
  await insertSecret(tx, endpoint.id, await sealOwned(tx, vault, placeOf(endpoint), secret));
  return secret;
}

/** The current secret first, then those that were rolled within 24 hours. */
export async function signingSecrets(db: Executor, vault: Vault, endpoint: SigningEndpoint): Promise<string[]> {
  const rows = await secretsInForce(db, endpoint.id);
  const place = placeOf(endpoint);
  const named = await namedSecret(db, vault, endpoint);
  const rolled = await openOwned(
    db,
    vault,
    place,
    rows.map(({ sealed_secret }) => sealed_secret),
  );
  return named === null ? rolled : [named, ...rolled];
}

/** The company's secret that the file names for the endpoint, or null. Throws if it is not stored in the mode. */
async function namedSecret(db: Executor, vault: Vault, { id, org_id, mode }: SigningEndpoint): Promise<string | null> {
  const found = await maybeOne(
    db,
    { secret_name: webhookEndpoints.columns.secret_name },
    sql`SELECT secret_name FROM ${webhookEndpoints} WHERE id = ${id}`,
  );
  if (!found || found.secret_name === null) return null;
  const values = await readSecrets(db, vault, { orgId: org_id, mode }, null, [found.secret_name]);
  const value = values.get(found.secret_name);
  if (value === undefined) throw new Error(`The secret ${found.secret_name} is not stored in ${mode} mode.`);
  return value;
}

async function insertSecret(tx: Transaction, endpointId: string, sealed: Buffer): Promise<void> {
  await insert(tx, webhookSecrets, { endpoint_id: endpointId, sealed_secret: sealed });
}

/** The current secret first, then rolled ones, latest first. */
export function secretsInForce(db: Executor, endpointId: string): Promise<WebhookSecretRow[]> {
  return rowsOf(
    db,
    webhookSecrets,
    sql`SELECT ${columnsOf(webhookSecrets)} FROM ${webhookSecrets}
        WHERE endpoint_id = ${endpointId} AND (valid_until IS NULL OR valid_until > now())
        ORDER BY valid_until DESC NULLS FIRST`,
  );
}

/** Lets the current secret expire in 24 hours, and deletes expired ones. */
export async function retireSecrets(tx: Transaction, endpointId: string): Promise<void> {
  await run(tx, sql`DELETE FROM ${webhookSecrets} WHERE endpoint_id = ${endpointId} AND valid_until <= now()`);
  await run(
    tx,
    sql`UPDATE ${webhookSecrets} SET valid_until = now() + interval '24 hours'
        WHERE endpoint_id = ${endpointId} AND valid_until IS NULL`,
  );
}

/** Deletes expired secrets. Returns false if none are left. */
export const pruneWebhookSecrets = (db: Database, before: Date, limit: number): Promise<boolean> =>
  prune(db, webhookSecrets, sql`valid_until < ${before}`, limit);

type CachedEndpoint = Parameters<typeof signingSecrets>[2];
type CachedSecrets = { version: string; readAt: number; secrets: Promise<string[]> };

/** Upper bound for how long an expired secret still signs. */
const maxAgeMs = 60_000;
const maxCached = 1000;

/**
 * Caches the signing secrets of an endpoint by its version. A roll changes the version, so a new secret is used at
 * once.
 */
export function cacheSecrets(db: Database, vault: Vault) {
  const remembered = new Map<string, CachedSecrets>();

  return (endpoint: CachedEndpoint, version: string): Promise<string[]> => {
    const known = remembered.get(endpoint.id);
    if (known?.version === version && performance.now() - known.readAt < maxAgeMs) return known.secrets;
    if (remembered.size >= maxCached) remembered.clear();
    const secrets = signingSecrets(db, vault, endpoint);
    remembered.set(endpoint.id, { version, readAt: performance.now(), secrets });
    secrets.catch(() => remembered.delete(endpoint.id));
    return secrets;
  };
}
