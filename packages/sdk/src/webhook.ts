import type { Api } from '@vestra/contract/api';
import type { AnswerOf } from '@vestra/contract/call';

/** One event of a delivery. */
export type WebhookEvent = AnswerOf<Api['events']['get']>;

type Bytes = string | Uint8Array | ArrayBuffer;
type GivenHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** The error for a rejected delivery. Respond with 400 and do nothing else. */
export class WebhookError extends Error {
  readonly code: 'headers_missing' | 'timestamp_out_of_range' | 'signature_mismatch' | 'invalid_body';

  constructor(code: WebhookError['code'], message: string) {
    super(message);
    this.name = 'WebhookError';
    this.code = code;
  }
}

/**
 * Returns the event of a delivery after verifying that the service sent it and that it is recent. `body` must be the
 * raw body: a serialised copy has another signature. Pass both secrets during rotation.
 */
export async function verifyWebhook(delivery: SignedDelivery): Promise<WebhookEvent> {
  return (await verifySigned(delivery)) as WebhookEvent;
}

export type SignedDelivery = {
  body: Bytes;
  headers: GivenHeaders;
  secret: string | readonly string[];
  /** The maximum clock difference. Default: 5 minutes. */
  toleranceSeconds?: number;
  now?: Date;
};

/** Verifies any signed request of the service and returns its data. */
export async function verifySigned(delivery: SignedDelivery): Promise<unknown> {
  const { body, toleranceSeconds = 300, now = new Date() } = delivery;
  const id = headerOf(delivery.headers, 'webhook-id');
  const timestamp = headerOf(delivery.headers, 'webhook-timestamp');
  const signatures = signaturesOf(headerOf(delivery.headers, 'webhook-signature'));
  if (!/^\d{1,15}$/.test(timestamp) || Math.abs(now.getTime() / 1000 - Number(timestamp)) > toleranceSeconds) {
    throw new WebhookError('timestamp_out_of_range', 'The timestamp is too far from the time of this clock.');
  }
  const signed = signedBytes(id, timestamp, body);
  const secrets = typeof delivery.secret === 'string' ? [delivery.secret] : delivery.secret;
  const keys = await Promise.all(secrets.map((secret) => keyOf(secret, 'verify')));
  const checks = keys.flatMap((key) =>
    signatures.map((signature) => crypto.subtle.verify('HMAC', key, signature, signed)),
  );
  if (!(await Promise.all(checks)).includes(true)) {
    throw new WebhookError('signature_mismatch', 'No signature of the delivery fits the secret and the body.');
  }
  return readBody(body);
}

/** The headers that prove a delivery, as the service sends them. */
export async function signWebhook(delivery: {
  /** The event's id. */
  id: string;
  body: Bytes;
  secret: string | readonly string[];
  at?: Date;
}): Promise<Record<string, string>> {
  const { id, body, at = new Date() } = delivery;
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signed = signedBytes(id, timestamp, body);
  const secrets = typeof delivery.secret === 'string' ? [delivery.secret] : delivery.secret;
  const signatures = await Promise.all(
    secrets.map(async (secret) => {
      const signature = await crypto.subtle.sign('HMAC', await keyOf(secret, 'sign'), signed);
      return `v1,${toBase64(new Uint8Array(signature))}`;
    }),
  );
  const signature = signatures.join(' ');
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
    'service-signature': signature,
  };
}

function headerOf(headers: GivenHeaders, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : foldedHeader(headers, name);
  if (!value) throw new WebhookError('headers_missing', `The header \`${name}\` is missing.`);
  return value;
}

function foldedHeader(headers: Readonly<Record<string, string | readonly string[] | undefined>>, name: string) {
  const found = Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
  return typeof found === 'string' ? found : found?.[0];
}

/** A rotation has two; the limit bounds the work. */
const mostSignatures = 10;

/** The signatures of the only known version. Others are for future readers. */
function signaturesOf(header: string): Uint8Array<ArrayBuffer>[] {
  return header
    .split(' ')
    .filter((each) => each.startsWith('v1,'))
    .slice(0, mostSignatures)
    .flatMap((each) => fromBase64(each.slice('v1,'.length)) ?? []);
}

async function keyOf(secret: string, use: 'sign' | 'verify'): Promise<CryptoKey> {
  const bytes = fromBase64(secret.replace(/^whsec_/, ''));
  if (!bytes || bytes.length === 0) throw new TypeError('A signing secret is `whsec_` and base64.');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, [use]);
}

function signedBytes(id: string, timestamp: string, body: Bytes): Uint8Array<ArrayBuffer> {
  const head = new TextEncoder().encode(`${id}.${timestamp}.`);
  const rest = bytesOf(body);
  const whole = new Uint8Array(head.length + rest.length);
  whole.set(head);
  whole.set(rest, head.length);
  return whole;
}

function bytesOf(body: Bytes): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  return body instanceof Uint8Array ? body : new Uint8Array(body);
}

function readBody(body: Bytes): unknown {
  try {
    return JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(bytesOf(body)));
  } catch {
    throw new WebhookError('invalid_body', 'The body is signed, and is not JSON.');
  }
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

const toBase64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes));
