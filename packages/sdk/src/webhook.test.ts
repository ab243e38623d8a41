import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signWebhook, verifyWebhook, WebhookError } from './webhook.ts';

const secret = `whsec_${Buffer.from('a key of at least 24 bytes, it is').toString('base64')}`;
const body = '{"id":"evt_1","type":"webhook.test","data":{"text":"grün"}}';
const at = new Date('2026-03-01T12:00:00.700Z');
const timestamp = String(Math.floor(at.getTime() / 1000));
/** Computed without the code under test, from the specification. */
const signature = `v1,${createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
  .update(`evt_1.${timestamp}.${body}`)
  .digest('base64')}`;
const headers = { 'Webhook-Id': 'evt_1', 'webhook-timestamp': timestamp, 'webhook-signature': signature };
const delivery = { body, headers, secret, now: at };
const other = `whsec_${Buffer.from('another key of the same kind, it').toString('base64')}`;

describe('a delivery', () => {
  it('is signed according to Standard Webhooks', async () => {
    expect(await signWebhook({ id: 'evt_1', body, secret, at })).toEqual({
      'webhook-id': 'evt_1',
      'webhook-timestamp': timestamp,
      'webhook-signature': signature,
      'service-signature': signature,
    });
  });

  it.each<[string, Partial<Parameters<typeof verifyWebhook>[0]>]>([
    ['as text', {}],
    ['as bytes', { body: new TextEncoder().encode(body) }],
    ['with headers of the web', { headers: new Headers(headers) }],
    ['with headers in lists', { headers: { ...headers, 'webhook-signature': [signature] } }],
    ['with several signatures', { headers: { ...headers, 'webhook-signature': `v1a,x v1,%% v1,AAAA ${signature}` } }],
    ['with one of several secrets', { secret: [other, secret] }],
    ['five minutes late', { now: new Date(Number(timestamp) * 1000 + 300_000) }],
    ['five minutes early', { now: new Date(Number(timestamp) * 1000 - 300_000) }],
  ])('is taken %s', async (_, change) => {
    expect(await verifyWebhook({ ...delivery, ...change })).toEqual(JSON.parse(body));
  });

  it.each<[string, string, Partial<Parameters<typeof verifyWebhook>[0]>]>([
    ['a byte more', 'signature_mismatch', { body: `${body} ` }],
    ['another id', 'signature_mismatch', { headers: { ...headers, 'Webhook-Id': 'evt_2' } }],
    ['another secret', 'signature_mismatch', { secret: other }],
    ['no secret', 'signature_mismatch', { secret: [] }],
    ['a cut signature', 'signature_mismatch', { headers: { ...headers, 'webhook-signature': signature.slice(0, -4) } }],
    ['an empty signature', 'signature_mismatch', { headers: { ...headers, 'webhook-signature': 'v1,' } }],
    [
      'another version',
      'signature_mismatch',
      { headers: { ...headers, 'webhook-signature': signature.replace('v1', 'v2') } },
    ],
    ['a late clock', 'timestamp_out_of_range', { now: new Date(Number(timestamp) * 1000 + 301_000) }],
    ['an early clock', 'timestamp_out_of_range', { now: new Date(Number(timestamp) * 1000 - 301_000) }],
    ['a time in words', 'timestamp_out_of_range', { headers: { ...headers, 'webhook-timestamp': 'NaN' } }],
    ['no signature', 'headers_missing', { headers: { ...headers, 'webhook-signature': undefined } }],
  ])('is refused with %s', async (_, code, change) => {
    const refused = await verifyWebhook({ ...delivery, ...change }).catch((error) => error);
    expect(refused).toBeInstanceOf(WebhookError);
    expect(refused.code).toBe(code);
  });

  it('is never accepted with an invalid secret', async () => {
    await expect(verifyWebhook({ ...delivery, secret: 'whsec_' })).rejects.toThrow('signing secret');
    await expect(signWebhook({ id: 'evt_1', body, secret: '' })).rejects.toThrow('signing secret');
  });

  it('that is signed but not JSON is rejected as such', async () => {
    const signed = await signWebhook({ id: 'evt_1', body: '{', secret });
    await expect(verifyWebhook({ body: '{', headers: signed, secret })).rejects.toMatchObject({ code: 'invalid_body' });
  });
});
