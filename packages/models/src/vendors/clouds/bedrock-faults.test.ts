import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createModels } from '../../models.ts';
import { outcomeOf } from '../raw-endpoint.fixture.ts';

let listener: RequestListener;
let count = 0;
const server = createServer((request, response) => {
  count += 1;
  request.resume().on('end', () => listener(request, response));
});
beforeAll(() => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

function ask(respond: RequestListener) {
  count = 0;
  listener = respond;
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const bedrock = { region: 'us-east-1', baseUrl, access: { bearer: () => 'key' } };
  const none = { anthropic: null, openai: null, google: null, compatible: null, defaultModel: null };
  const models = createModels(
    { ...none, own: [], clouds: { bedrock, azure: null, vertex: null } },
    { firstPauseMs: 1, longestPauseMs: 2 },
  );
  const id = 'bedrock/us.anthropic.claude-haiku-5-5';
  const messages = [{ role: 'user' as const, parts: [{ kind: 'text' as const, text: 'Hi' }] }];
  return outcomeOf(
    models.model(id).stream({ model: id, system: [], messages, tools: [], signal: new AbortController().signal }),
  );
}

it.each<[string, number, string, string, object, number]>([
  [
    'a failure of the model, which is tried again',
    ...[424, '{"message":"The model returned an error","originalStatusCode":500}', 'application/json'],
    { failure: 'unavailable', message: 'Amazon Bedrock failed (424).' },
    4,
  ],
  [
    'a request that is too long',
    ...[400, '{"message":"Input is too long for requested model."}', 'application/json'],
    { failure: 'too_long' },
    1,
  ],
  [
    'a page of a proxy',
    ...[200, '<html>Sign in</html>', 'text/html'],
    {
      failure: 'unavailable',
      message: 'Amazon Bedrock answered with text/html instead of a stream: check VESTRA_BEDROCK_REGION.',
    },
    1,
  ],
  [
    'an error with the status of a stream',
    ...[200, '{"error":{"code":429,"message":"slow down"}}', 'application/json'],
    { failure: 'rate_limited' },
    4,
  ],
] as [string, number, string, string, object, number][])(
  'Bedrock reports %s [MOD-732, MOD-733, MOD-735]',
  async (_what, status, body, type, expected, attempts) => {
    const outcome = await ask((_request, response) => response.writeHead(status, { 'content-type': type }).end(body));
    expect(outcome).toMatchObject(expected);
    expect(count).toBe(attempts);
  },
);
