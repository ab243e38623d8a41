import { createHmac, randomBytes } from 'node:crypto';
import { fail } from '@vestra/contract/errors';
import { openFor, sealFor } from '../../account/index.ts';
import type { Database, Executor, Transaction } from '../../platform/db/pool.ts';
import { prune } from '../../platform/db/prune.ts';
import { insert, rowsOf, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf } from '../../platform/db/table.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import { type EndpointRow, type SecretRow, webhookSecrets } from './tables.ts';

type Message = { eventId: string; body: string; at: Date; secrets: readonly string[] };

/** What a delivery proves itself with, as Standard Webhooks 1.0 says; one signature for each secret that is valid. */
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
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  return `v1,${createHmac('sha256', key).update(text).digest('base64')}`;
}

/**
 * As Standard Webhooks writes it. 24 bytes fill base64 without padding, so a secret that is copied by a double click or
 * read from an env file loses no `=` at its end.
 */
export const newSecret = (): string => `whsec_${randomBytes(24).toString('base64')}`;

/** Each adds a signature to the headers of every delivery, and receivers refuse headers beyond a few kilobytes. */
const mostSecrets = 10;

/** Every secret that a roll replaced is promised 24 hours: none may be dropped early to make room. */
export function assertMayRoll(inForce: readonly Pick<SecretRow, 'valid_until'>[], now: Date): void {
  if (inForce.length < mostSecrets) return;
  const ends = inForce.flatMap(({ valid_until }) => (valid_until ? [valid_until.getTime()] : []));
  throw fail('rate_limited', {
    message: `The secret of this endpoint was rolled ${mostSecrets - 1} times within 24 hours. Try again when the first of those is over, or delete the endpoint and create another.`,
    retry_after_ms: Math.max(1000, Math.min(...ends) - now.getTime()),
  });
}

type SigningEndpoint = Pick<EndpointRow, 'id' | 'org_id' | 'mode'>;

const placeOf = ({ id, org_id, mode }: SigningEndpoint) => ({
  kind: 'webhook_secret' as const,
  tenant: { orgId: org_id, mode },
  owner: id,
});

/** Makes the secret that the endpoint uses from now on. It leaves this process once, in the answer of the call. */
export async function giveSecret(tx: Transaction, vault: Vault, endpoint: SigningEndpoint): Promise<string> {
  const secret = newSecret();
  await insertSecret(tx, endpoint.id, await sealFor(tx, vault, placeOf(endpoint), secret));
  return secret;
}

/** What a delivery is signed with: the secret in use first, then those that a roll replaced within 24 hours. */
export async function signingSecrets(db: Executor, vault: Vault, endpoint: SigningEndpoint): Promise<string[]> {
  const rows = await secretsInForce(db, endpoint.id);
  return openFor(
    db,
    vault,
    placeOf(endpoint),
    rows.map(({ sealed_secret }) => sealed_secret),
  );
}

async function insertSecret(tx: Transaction, endpointId: string, sealed: Buffer): Promise<void> {
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

type RememberedEndpoint = Parameters<typeof signingSecrets>[2];
type Remembered = { version: string; readAt: number; secrets: Promise<string[]> };

/** Bounds for how long an old secret still signs after its 24 hours. */
const longestMs = 60_000;
const mostRemembered = 1000;

/** The signing secrets of an endpoint in this version: a roll makes another, so a new secret is never missed. */
export function rememberSecrets(db: Database, vault: Vault) {
  const remembered = new Map<string, Remembered>();

  return (endpoint: RememberedEndpoint, version: string): Promise<string[]> => {
    const known = remembered.get(endpoint.id);
    if (known?.version === version && performance.now() - known.readAt < longestMs) return known.secrets;
    if (remembered.size >= mostRemembered) remembered.clear();
    const secrets = signingSecrets(db, vault, endpoint);
    remembered.set(endpoint.id, { version, readAt: performance.now(), secrets });
    secrets.catch(() => remembered.delete(endpoint.id));
    return secrets;
  };
}
