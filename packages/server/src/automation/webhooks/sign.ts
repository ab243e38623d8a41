import { createHmac } from 'node:crypto';

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
