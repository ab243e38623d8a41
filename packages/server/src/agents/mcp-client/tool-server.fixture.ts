import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { createMcpHandler, type ListToolsResult, Server } from '@modelcontextprotocol/server';

/** The official MCP server on a local socket, for programs that are not tests. Each call returns a text. */
export async function serveTools(
  tools: ListToolsResult['tools'],
  call: (name: string, given: Record<string, unknown>) => Promise<string>,
): Promise<{ url: string; close: () => Promise<void> }> {
  const handler = createMcpHandler(() => {
    const server = new Server({ name: 'shop', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', () => ({ tools }));
    server.setRequestHandler('tools/call', async ({ params }) => ({
      content: [{ type: 'text', text: await call(params.name, params.arguments ?? {}) }],
    }));
    return server;
  });
  const server = createServer(getRequestListener((request) => handler.fetch(request)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
