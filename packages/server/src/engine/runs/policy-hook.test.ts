import type { RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it, vi } from 'vitest';
import { endless, serve, unusedPort } from '../../platform/outbound/loopback.fixture.ts';
import { createPolicyHook, ownPolicyHookSecret, type PolicyQuestion } from './policy-hook.ts';

const secret = ownPolicyHookSecret(Buffer.from('a signing secret'));
const question: PolicyQuestion = {
  org_id: 'org_1',
  mode: 'live',
  user_id: 'ada',
  conversation_id: 'conv_1',
  task_id: null,
  deployment_id: 'dep_1',
  deployment_version: 3,
  tool: { name: 'refund', server: 'shop' },
  arguments: { order: 'ä7' },
};

async function askHook(handle: RequestListener, signal?: AbortSignal) {
  const served = await serve(handle);
  const answer = await createPolicyHook({ url: `${served.url}/policy`, secret }).mayRun(question, signal);
  return { ...served, answer };
}

const answering =
  (body: string, status = 200, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) =>
    void response.writeHead(status, headers).end(body);

const blocked = (what: string) => ({ kind: 'blocked', message: `The operator’s policy hook ${what}.` });

it('allows every call without an address', async () => {
  expect(await createPolicyHook({ url: null, secret }).mayRun(question)).toEqual({ kind: 'allowed' });
});

it('signs the request so that a Standard Webhooks library verifies it', async () => {
  const seen: { body: string; headers: Record<string, string>; method: string | undefined }[] = [];
  const { answer } = await askHook(async (request, response) => {
    const { method, headers } = request;
    seen.push({ body: await text(request), headers: headers as Record<string, string>, method });
    response.end('{"allow": true}');
  });
  expect(answer).toEqual({ kind: 'allowed' });
  const [{ body, headers, method } = { body: '', headers: {}, method: '' }] = seen;
  expect([method, headers['content-type']]).toEqual(['POST', 'application/json']);
  expect(headers['service-signature']).toBe(headers['webhook-signature']);
  expect(new Webhook(secret).verify(body, headers)).toEqual(question);
  expect(() => new Webhook(secret).verify(body.replace('refund', 'refunt'), headers)).toThrow();
  expect(() => new Webhook(ownPolicyHookSecret(Buffer.from('x'))).verify(body, headers)).toThrow();
});

describe('the policy hook', () => {
  it.each([
    ['{"allow":true}', { kind: 'allowed' }],
    ['{"allow":true,"message":"fine"}', { kind: 'allowed' }],
    ['{"allow":false,"message":" Not on Sundays. "}', { kind: 'blocked', message: 'Not on Sundays.' }],
    ['{"allow":false}', { kind: 'blocked', message: null }],
    ['{"allow":false,"message":7}', { kind: 'blocked', message: null }],
    [`{"allow":false,"message":"${'x'.repeat(600)}"}`, { kind: 'blocked', message: 'x'.repeat(500) }],
    ['{"allow":"yes"}', blocked('gave an answer that cannot be read')],
    ['{"allow":1}', blocked('gave an answer that cannot be read')],
    ['{}', blocked('gave an answer that cannot be read')],
    ['[true]', blocked('gave an answer that cannot be read')],
    ['null', blocked('gave an answer that cannot be read')],
    ['{"allow":true', blocked('gave an answer that cannot be read')],
    ['', blocked('gave an answer that cannot be read')],
  ])('reads %s as %j', async (body, meaning) => {
    expect((await askHook(answering(body))).answer).toEqual(meaning);
  });

  it.each([301, 302, 307, 400, 401, 404, 500, 503])(
    'blocks the call on status %s, whatever the body',
    async (status) => {
      const { answer, requests } = await askHook(answering('{"allow":true}', status, { location: '/other' }));
      expect(answer).toEqual(blocked(`answered ${status}`));
      expect(requests.map(({ url }) => url)).toEqual(['/policy']);
    },
  );

  it('blocks the call and closes the connection if the answer does not end', async () => {
    const { answer, sockets } = await askHook(endless(Buffer.from(`{"allow":true,"x":"${'x'.repeat(10_000)}`)));
    expect(answer).toEqual(blocked('answered with too much'));
    await vi.waitFor(() => expect(sockets.every(({ destroyed }) => destroyed)).toBe(true));
  });

  it.each<[string, RequestListener]>([
    ['is never sent', () => {}],
    [
      'arrives byte by byte',
      (_request, response) => {
        response.writeHead(200).write('{"allow":true');
        const drip = setInterval(() => response.write(' '), 50);
        response.on('close', () => clearInterval(drip));
      },
    ],
  ])('blocks the call after 2 seconds if the answer %s [TASK-037]', { timeout: 15_000 }, async (_what, handle) => {
    const { answer, sockets } = await askHook(handle);
    expect(answer).toEqual(blocked('gave no answer in 2 seconds'));
    await vi.waitFor(() => expect(sockets.every(({ destroyed }) => destroyed)).toBe(true));
  });

  it('blocks the call if it is unreachable', async () => {
    const hook = createPolicyHook({ url: `http://127.0.0.1:${await unusedPort()}`, secret });
    expect(await hook.mayRun(question)).toEqual(blocked('could not be reached'));
    const breaking = await askHook((request) => void request.socket.destroy());
    expect(breaking.answer).toEqual(blocked('could not be reached'));
  });
});

it('ends when the signal of the caller aborts', async () => {
  const controller = new AbortController();
  const asking = askHook(() => controller.abort(new Error('stopped')), controller.signal);
  await expect(asking).rejects.toThrow('stopped');
});
