import { createHmac } from 'node:crypto';
import type { OrgSettings } from '../../account/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import { sharedNow } from '../../platform/db/clock.ts';

type SecretSettings = Pick<OrgSettings, 'memory_secret_number' | 'memory_secret_rolled_at'>;

/** After a new secret is given, whoever receives the calls has so long to take it up. */
const oldSecretMs = 24 * 3600 * 1000;

/**
 * What the calls to an org's memory endpoint are signed with, one for each mode. Made from the secret that every
 * process of the server shares, so that it needs no row and an operator can show it again.
 */
export function memoryEndpointSecret(
  signingSecret: Buffer,
  { orgId, mode }: Tenant,
  { memory_secret_number: number }: Pick<SecretSettings, 'memory_secret_number'>,
): string {
  const purpose = JSON.stringify(['memory-endpoint', orgId, mode, ...(number === 0 ? [] : [number])]);
  return `whsec_${createHmac('sha256', signingSecret).update(purpose).digest('base64')}`;
}

/** The newest first. */
export function secretsInForce(signingSecret: Buffer, tenant: Tenant, settings: SecretSettings): string[] {
  const { memory_secret_number: number, memory_secret_rolled_at: rolledAt } = settings;
  const isOldGood = rolledAt !== null && sharedNow() - rolledAt.getTime() < oldSecretMs;
  const numbers = isOldGood ? [number, number - 1] : [number];
  return numbers.map((each) => memoryEndpointSecret(signingSecret, tenant, { memory_secret_number: each }));
}

/** The headers of Standard Webhooks, as deliveries of events have them. */
export function signatureHeaders(secrets: readonly string[], id: string, body: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signed = (secret: string) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  };
  const signature = secrets.map(signed).join(' ');
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
    'service-signature': signature,
  };
}
