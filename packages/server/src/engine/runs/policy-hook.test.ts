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

async function asked(handle: RequestListener, signal?: AbortSignal) {
  const served = await serve(handle);
  const answer = await createPolicyHook({ url: `${served.url}/policy`, secret }).mayRun(question, signal);
  return { ...served, answer };
}

const answering =
  (body: string, status = 200, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) =>
    void response.writeHead(status, headers).end(body);

const no = (what: string) => ({ kind: 'blocked', message: `The operator’s policy hook ${what}.` });

it('without an address allows everything', async () => {
  expect(await createPolicyHook({ url: null, secret }).mayRun(question)).toEqual({ kind: 'allowed' });
});

it('asks with a signature that any verifier of webhooks knows', async () => {
  const seen: { body: string; headers: Record<string, string>; method: string | undefined }[] = [];
  const { answer } = await asked(async (request, response) => {
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

describe('an answer', () => {
  it.each([
    ['{"allow":true}', { kind: 'allowed' }],
    ['{"allow":true,"message":"fine"}', { kind: 'allowed' }],
    ['{"allow":false,"message":" Not on Sundays. "}', { kind: 'blocked', message: 'Not on Sundays.' }],
    ['{"allow":false}', { kind: 'blocked', message: null }],
    ['{"allow":false,"message":7}', { kind: 'blocked', message: null }],
    [`{"allow":false,"message":"${'x'.repeat(600)}"}`, { kind: 'blocked', message: 'x'.repeat(500) }],
    ['{"allow":"yes"}', no('gave an answer that cannot be read')],
    ['{"allow":1}', no('gave an answer that cannot be read')],
    ['{}', no('gave an answer that cannot be read')],
    ['[true]', no('gave an answer that cannot be read')],
    ['null', no('gave an answer that cannot be read')],
    ['{"allow":true', no('gave an answer that cannot be read')],
    ['', no('gave an answer that cannot be read')],
  ])('%s means %j', async (body, meaning) => {
    expect((await asked(answering(body))).answer).toEqual(meaning);
  });

  it.each([301, 302, 307, 400, 401, 404, 500, 503])('with the status %s is a no, whatever it says', async (status) => {
    const { answer, requests } = await asked(answering('{"allow":true}', status, { location: '/other' }));
    expect(answer).toEqual(no(`answered ${status}`));
    expect(requests.map(({ url }) => url)).toEqual(['/policy']);
  });

  it('without end is a no, and is cut off', async () => {
    const { answer, sockets } = await asked(endless(Buffer.from(`{"allow":true,"x":"${'x'.repeat(10_000)}`)));
    expect(answer).toEqual(no('answered with too much'));
    await vi.waitFor(() => expect(sockets.every(({ destroyed }) => destroyed)).toBe(true));
  });

  it.each<[string, RequestListener]>([
    ['never comes', () => {}],
    [
      'comes byte by byte',
      (_request, response) => {
        response.writeHead(200).write('{"allow":true');
        const drip = setInterval(() => response.write(' '), 50);
        response.on('close', () => clearInterval(drip));
      },
    ],
  ])('that %s in 2 seconds is a no [TASK-037]', { timeout: 15_000 }, async (_what, handle) => {
    const { answer, sockets } = await asked(handle);
    expect(answer).toEqual(no('gave no answer in 2 seconds'));
    await vi.waitFor(() => expect(sockets.every(({ destroyed }) => destroyed)).toBe(true));
  });

  it('from nobody is a no', async () => {
    const hook = createPolicyHook({ url: `http://127.0.0.1:${await unusedPort()}`, secret });
    expect(await hook.mayRun(question)).toEqual(no('could not be reached'));
    const breaking = await asked((request) => void request.socket.destroy());
    expect(breaking.answer).toEqual(no('could not be reached'));
  });
});

it('ends with the signal of who asks', async () => {
  const controller = new AbortController();
  const asking = asked(() => controller.abort(new Error('stopped')), controller.signal);
  await expect(asking).rejects.toThrow('stopped');
});
