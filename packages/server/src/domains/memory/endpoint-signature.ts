import { createHmac } from 'node:crypto';
import type { Tenant } from '../../caller.ts';

/**
 * What the calls to an org's memory endpoint are signed with, one for each mode. Made from the secret that every
 * process of the server shares, so that it needs no row and an operator can show it again.
 */
export function memoryEndpointSecret(signingSecret: Buffer, { orgId, mode }: Tenant): string {
  const purpose = JSON.stringify(['memory-endpoint', orgId, mode]);
  return `whsec_${createHmac('sha256', signingSecret).update(purpose).digest('base64')}`;
}

/** The headers of Standard Webhooks, as deliveries of events have them. */
export function signatureHeaders(secret: string, id: string, body: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
    'service-signature': signature,
  };
}
