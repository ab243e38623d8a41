import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createModels } from '@vestra/models/models';
import pino from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { measuredModels } from './metrics.ts';

const key = 'sk-the-key-of-the-operator';
let answer = { status: 200, headers: {} as Record<string, string>, body: '' };
const vendor = createServer((request, response) => {
  request.resume();
  request.once('end', () => response.writeHead(answer.status, answer.headers).end(answer.body));
});
let baseUrl = '';

beforeAll(async () => {
  vendor.listen(0, '127.0.0.1');
  await once(vendor, 'listening');
  baseUrl = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}/v1`;
});
afterAll(() => {
  vendor.closeAllConnections();
  vendor.close();
});

/** Calls the model once. Returns the log and the counted outcomes. */
async function callOnce(signal = new AbortController().signal) {
  let written = '';
  const outcomes: string[] = [];
  const log = pino({ base: undefined, timestamp: false }, { write: (line) => (written += line) });
  const none = { anthropic: null, openai: null, google: null, own: [], defaultModel: null };
  const compatible = { apiKey: () => key, baseUrl, models: ['m-1'], price: null, maxOutputTokens: null };
  const metrics = { modelBegan: () => {}, modelAnswered: ({ outcome }: { outcome: string }) => outcomes.push(outcome) };
  const models = measuredModels(createModels({ ...none, compatible }, { attempts: 1 }), metrics, log);
  const request = {
    model: 'compatible/m-1',
    system: ['A private instruction.'],
    messages: [{ role: 'user' as const, parts: [{ kind: 'text' as const, text: 'A private question.' }] }],
    tools: [],
    signal,
  };
  const reading = (async () => {
    for await (const _ of models.model('compatible/m-1').stream(request));
  })();
  const failure = await reading.catch((error) => error);
  return {
    failure,
    written,
    lines: written
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line)),
    outcomes,
  };
}

it.each([
  [401, 'x-request-id', 'account', 'did not accept the key'],
  [403, 'request-id', 'account', 'did not accept the key'],
  [402, 'x-amzn-requestid', 'account', 'no credit left'],
  [500, 'apim-request-id', 'unavailable', 'failed (500'],
  [429, 'x-request-id', 'rate_limited', 'limits the rate'],
  [400, 'x-request-id', 'refused', 'refused the request'],
])(
  'a call that fails with %i is one line in the log, without content [OPS-721]',
  async (status, header, outcome, words) => {
    const body = JSON.stringify({ error: { message: `You sent: A private question. Your key: ${key}` } });
    answer = { status, headers: { 'content-type': 'application/json', [header]: 'req_011' }, body };
    const { lines, written, outcomes } = await callOnce();
    expect(outcomes).toEqual([outcome]);
    expect(lines).toMatchObject([
      {
        level: 40,
        msg: 'a model call failed',
        provider: 'compatible',
        model: 'compatible/m-1',
        outcome,
        reason: expect.stringContaining(words),
        status,
        vendor_request_id: 'req_011',
        ms: expect.any(Number),
      },
    ]);
    expect(written).not.toMatch(/private|sk-the-key/);
  },
);

it('an id that is none is not logged [OPS-721]', async () => {
  answer = { status: 500, headers: { 'x-request-id': 'an id with spaces and more' }, body: '<html>' };
  const { lines } = await callOnce();
  expect(lines).toHaveLength(1);
  expect(lines[0]).not.toHaveProperty('vendor_request_id');
});

it('a call that the caller ended is no failure [OPS-721]', async () => {
  const { lines, outcomes } = await callOnce(AbortSignal.abort(new Error('stopped')));
  expect(lines).toEqual([]);
  expect(outcomes).toEqual(['aborted']);
});
