import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, vi } from 'vitest';
import { outcomeOf, sse, startRawEndpoint } from './raw-endpoint.fixture.ts';

// In a separate process, because its first call reads the proxy settings.
it('uses a proxy if Node is configured to', async () => {
  const asked: string[] = [];
  const proxy = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end(sse({ choices: [{ delta: { content: 'Hi' }, finish_reason: 'stop' }] }));
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  for (const [name, value] of Object.entries({ NODE_USE_ENV_PROXY: '1', http_proxy: address, HTTP_PROXY: address })) {
    vi.stubEnv(name, value);
  }
  const proxied = await startRawEndpoint('http://models.invalid');
  expect(await outcomeOf(proxied.stream('compatible', {}, { attempts: 1 }))).toMatchObject({
    text: 'Hi',
    failure: null,
  });
  // The first call has read them.
  vi.unstubAllEnvs();
  expect(asked).toEqual(['http://models.invalid/v1/chat/completions']);
  await proxied.close();
  proxy.closeAllConnections();
  await new Promise((resolve) => proxy.close(resolve));
});
