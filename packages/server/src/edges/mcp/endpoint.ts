import {
  createMcpHandler,
  localhostAllowedHostnames,
  Server,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server';
import { fail } from '@vestra/contract/errors';
import type { Logger } from 'pino';
import { apiClientFor, type EdgeRequest, type HandleRequest, idempotencyKeyOf } from '../api-client.ts';
import { closeWhenRead, type HoldOpen } from '../event-stream.ts';
import { callTool, type ToolCaller } from './tool-call.ts';
import { allTools, toolsFor } from './tools.ts';

type McpDependencies = {
  answer: HandleRequest;
  hold: HoldOpen;
  publicUrl: string;
  /** The address that the server listens on. */
  host: string;
  version: string;
  log: Logger;
};

type McpIncoming = EdgeRequest & { query: { tools?: 'all' | 'core' | undefined } };

/** One stateless endpoint for both revisions of the protocol. Each request carries its credential. */
export function mcpEndpoint({ answer, hold, publicUrl, host, version, log }: McpDependencies) {
  const hostnames = ownHostnames({ publicUrl, host });
  const handler = createMcpHandler(
    ({ authInfo }) => serverFor(authInfo?.extra?.request as McpIncoming, { answer, version, log }),
    { onerror: (error) => log.debug({ reason: error.message }, 'mcp') },
  );

  return async (incoming: McpIncoming): Promise<Response> => {
    const { headers, body, caller, signal } = incoming;
    assertOwnHost(headers, hostnames);
    assertAccepts(headers);
    if (Array.isArray(body)) return refusedBatch();
    const held = hold(caller, signal);
    // If the server aborts a call, the client still gets the reason. Only a client that disconnected gets no response.
    const request = new Request('http://vestra.internal/v1/mcp', { method: 'POST', headers, signal });
    const extra = { request: { ...incoming, signal: held.signal } };
    const authInfo = { token: '', clientId: caller.actor.id, scopes: [...caller.scopes], extra };
    const response = await handler.fetch(request, { parsedBody: body, authInfo });
    // The app sets the cache headers.
    response.headers.delete('cache-control');
    return closeWhenRead(response, held.close);
  };
}

type Serving = Pick<McpDependencies, 'answer' | 'version' | 'log'>;

function serverFor(incoming: McpIncoming, { answer, version, log }: Serving): Server {
  const server = new Server(
    { name: 'vestra', title: 'Vestra', version },
    { capabilities: { tools: {} }, instructions: introduction },
  );
  const { scopes } = incoming.caller;
  const { tools: selection = 'all' } = incoming.query;
  server.setRequestHandler('tools/list', () => ({ tools: toolsFor(scopes, selection) }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const signal = AbortSignal.any([incoming.signal, mcpReq.signal]);
    const caller: ToolCaller = {
      client: apiClientFor(answer, { ...incoming, signal }),
      idempotencyKey: idempotencyKeyOf(incoming),
      scopes,
      requestId: incoming.requestId,
      signal,
      reportProgress: progressOf(mcpReq),
      logFault: (error) => log.error({ request_id: incoming.requestId, err: error }, 'tool failed'),
    };
    const result = await callTool(params.name, params.arguments ?? {}, caller);
    return server.projectCallToolResult(result, allTools().get(params.name)?.definition.outputSchema);
  });
  return server;
}

const introduction =
  'Runs and configures AI agents. `ask` sends a message to an agent and waits; where it answers `waiting`, answer what ' +
  'it waits on with `answer`. Name a `user` to act for one of the org’s users.';

type McpRequest = {
  _meta?: { progressToken?: string | number | undefined } | undefined;
  notify: (notification: { method: string; params: Record<string, unknown> }) => Promise<void>;
};

/** Progress is sent only to clients that asked for it. A failure to send is no error. */
function progressOf({ _meta, notify }: McpRequest): (message: string) => void {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return () => {};
  let progress = 0;
  return (message) => {
    progress += 1;
    notify({ method: 'notifications/progress', params: { progressToken, progress, message } }).catch(() => {});
  };
}

function assertAccepts(headers: Headers): void {
  const accepted = (headers.get('accept') ?? '').toLowerCase();
  if (['application/json', 'text/event-stream'].every((type) => accepted.includes(type))) return;
  throw fail('invalid_request', {
    param: 'Accept',
    message: 'Accept must list both application/json and text/event-stream.',
  });
}

/** A batch would be many calls for one rate-limit unit. Neither revision allows batches. */
const refusedBatch = () =>
  Response.json(
    { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'Send one JSON-RPC message, not a batch.' } },
    { status: 400 },
  );

/**
 * Prevents DNS rebinding: a web page could let its own name resolve to this machine and call the server as same-origin.
 * Only the known host names are accepted.
 */
function ownHostnames({ publicUrl, host }: { publicUrl: string; host: string }): string[] {
  const bound = host.includes(':') ? `[${host}]` : host;
  return [...localhostAllowedHostnames(), bound, new URL(publicUrl).hostname].map((name) => name.toLowerCase());
}

function assertOwnHost(headers: Headers, hostnames: readonly string[]): void {
  const host = validateHostHeader(headers.get('host')?.toLowerCase(), [...hostnames]);
  const origin = validateOriginHeader(headers.get('origin'), [...hostnames]);
  if (!host.ok) {
    throw fail('origin_not_allowed', {
      message: 'This server is not known by that Host. The operator names its address as VESTRA_PUBLIC_URL.',
      param: 'Host',
    });
  }
  if (!origin.ok) throw fail('origin_not_allowed', { param: 'Origin' });
}
