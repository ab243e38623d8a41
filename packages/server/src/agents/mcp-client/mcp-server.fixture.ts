import { randomUUID } from 'node:crypto';
import { getRequestListener } from '@hono/node-server';
import {
  type CallToolResult,
  createMcpHandler,
  type InputRequiredResult,
  inputRequired,
  type ListToolsResult,
  legacyStatelessFallback,
  Server,
  type ServerCapabilities,
  type ServerContext,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { serve } from '../../platform/outbound/loopback.fixture.ts';

type Tool = ListToolsResult['tools'][number];

/** The answer of a tool that asks the person first. */
export const askingFirst = inputRequired;

/** The generations of the protocol: without sessions, with sessions, and the older one without them. */
export const generations = ['2026', '2025 with sessions', '2025 without sessions'] as const;
export type Generation = (typeof generations)[number];

export type Pages = (cursor: string | undefined) => { tools: Tool[]; nextCursor?: string };

/** Runs when the tool is called. */
export type Called = (name: string, args: Record<string, unknown>, context: ServerContext) => Answer | Promise<Answer>;
type Answer = CallToolResult | InputRequiredResult;

export const tool = (name: string, more: Partial<Tool> = {}): Tool => ({
  name,
  inputSchema: { type: 'object' },
  ...more,
});

/** The official MCP server on a local socket. */
export async function serveMcp(
  generation: Generation,
  offer: readonly Tool[] | Pages,
  { authorize = () => true, port, ...parts }: { authorize?: (request: Request) => boolean; port?: number } & Parts = {},
) {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const pages: Pages = typeof offer === 'function' ? offer : () => ({ tools: [...offer] });
  const servers: Server[] = [];
  const newServer = () => {
    const server = serverWith(pages, parts);
    servers.push(server);
    return server;
  };
  const modern = createMcpHandler(newServer, { legacy: 'reject' });
  const answer = {
    '2026': modern.fetch,
    '2025 with sessions': (request: Request) => inSession(request, sessions, newServer),
    '2025 without sessions': legacyStatelessFallback(newServer),
  }[generation];
  const served = await serve(
    getRequestListener((request) =>
      authorize(request) ? answer(request) : new Response('{"error":"invalid_token"}', { status: 401 }),
    ),
    port === undefined ? {} : { port },
  );
  return {
    ...served,
    url: `${served.url}/mcp`,
    sessions,
    /** Notifies all listeners that the tools have changed. */
    async toolsChanged() {
      modern.notify.toolsChanged();
      const open = generation === '2026' ? [] : servers;
      await Promise.all(open.map((server) => server.sendToolListChanged().catch(() => {})));
    },
  };
}

/** Further capabilities of the server. */
type Parts = {
  call?: Called;
  instructions?: string;
  capabilities?: ServerCapabilities;
  prepare?: (server: Server) => void;
};

function serverWith(pages: Pages, { call, instructions, capabilities = {}, prepare = () => {} }: Parts): Server {
  const server = new Server(
    { name: 'shop', version: '1' },
    { capabilities: { tools: {}, ...capabilities }, ...(instructions !== undefined && { instructions }) },
  );
  prepare(server);
  server.setRequestHandler('tools/list', ({ params }) => pages(params?.cursor));
  if (call)
    server.setRequestHandler('tools/call', ({ params }, context) => call(params.name, params.arguments ?? {}, context));
  return server;
}

async function inSession(
  request: Request,
  sessions: Map<string, WebStandardStreamableHTTPServerTransport>,
  newServer: () => Server,
): Promise<Response> {
  const known = sessions.get(request.headers.get('mcp-session-id') ?? '');
  if (known) return known.handleRequest(request);
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void sessions.set(id, transport),
    onsessionclosed: (id) => void sessions.delete(id),
  });
  await newServer().connect(transport);
  return transport.handleRequest(request);
}
