import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';

/** An app with keys in a header or in the address. */
export async function startKeyedApp() {
  const keys = new Set<string>();
  const http = createServer(
    getRequestListener((request) => {
      const shown = request.headers.get('x-api-key') ?? new URL(request.url).searchParams.get('key') ?? '';
      return keys.has(shown) ? createMcpHandler(() => server()).fetch(request) : new Response('no', { status: 401 });
    }),
  );
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    /** The accepted keys. */
    keys,
    async stop() {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
}

function server(): Server {
  const made = new Server({ name: 'keyed', version: '1' }, { capabilities: { tools: {} } });
  made.setRequestHandler('tools/list', () => ({ tools: [] }));
  return made;
}
