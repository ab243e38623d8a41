import {
  type CallToolResult,
  createMcpHandler,
  localhostAllowedHostnames,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server';
import type { CommandInput } from '@vestra/contract/commands';
import type { Command } from '@vestra/contract/derive/commands';
import { fail } from '@vestra/contract/errors';
import { check } from '@vestra/contract/fault';
import type { Scope } from '@vestra/contract/route';
import type { Client } from '@vestra/sdk/client';
import { answer } from '@vestra/sdk/commands/answer';
import { ask } from '@vestra/sdk/commands/ask';
import { embed } from '@vestra/sdk/commands/embed';
import { events } from '@vestra/sdk/commands/events';
import { test } from '@vestra/sdk/commands/test';
import type { StreamEvent } from '@vestra/sdk/stream';
import type { Placed } from '@vestra/sdk/transport';
import type { Logger } from 'pino';
import { z } from 'zod';
import { apiClientFor, type EdgeRequest, type HandleRequest, idempotencyKeyOf } from '../api-client.ts';
import { closeWhenRead, type HoldOpen } from '../event-stream.ts';
import { type ApiRefusal, apiRefusalOf, asCutShort, isServerFault } from '../refusal.ts';
import { allTools, isAllowed, toolsFor } from './tools.ts';

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

/** Runs a tool. Refusals of the API are returned as tool results, so that the model can read them. */
async function callTool(name: string, given: ToolArguments, caller: ToolCaller): Promise<CallToolResult> {
  const tool = allTools().get(name);
  if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name.slice(0, 100)}`);
  const { command } = tool;
  try {
    if (!isAllowed(command, caller.scopes)) throw missingScope(command);
    refuseUnknown(command, given);
    const composite = compositeTools[name];
    if (!composite) return await callRoute(command, given, caller);
    return answered(await composite(readArguments(command, given), caller));
  } catch (thrown) {
    const error = asCutShort(thrown, caller.signal);
    if (isServerFault(error)) caller.logFault(error);
    return refused(namedAsGiven(apiRefusalOf(error, caller.requestId), command));
  }
}

/** The key of the API's error in `_meta`. */
const errorKey = 'vestra/error';

/**
 * Without `structuredContent`: clients validate it against the tool's `outputSchema`, and would report the mismatch
 * instead of the reason.
 */
function refused(refusal: ApiRefusal): CallToolResult {
  const { code, message, param, request_id } = refusal;
  const where = param === undefined ? '' : ` (${param})`;
  return {
    isError: true,
    _meta: { [errorKey]: refusal },
    content: [{ type: 'text', text: `${code}${where}: ${message} Request ${request_id}.` }],
  };
}

function missingScope({ scopes }: Command) {
  const needed = Array.isArray(scopes) ? [...scopes, 'all'].join(' or ') : 'all';
  return fail('scope_missing', { message: `This tool needs a key with scope ${needed}.` });
}

function refuseUnknown({ arguments: taken }: Command, given: ToolArguments): void {
  for (const name of Object.keys(given)) {
    if (taken.some((argument) => argument.name === name)) continue;
    throw fail('invalid_request', { param: name, message: `Unknown argument \`${name}\`.` });
  }
}

function readArguments({ arguments: taken }: Command, given: ToolArguments): Record<string, unknown> {
  const schema = z.strictObject(Object.fromEntries(taken.map(({ name, schema: each }) => [name, each])));
  const read = check(schema, given, 'invalid_request');
  if (read.ok) return read.value;
  const [{ code, param, message }] = read.faults;
  throw fail(code, { param, message });
}

/** Replaces the API's field name by the tool's argument name. */
function namedAsGiven(refusal: ApiRefusal, { arguments: taken }: Command): ApiRefusal {
  if (refusal.param === undefined) return refusal;
  const [first, ...rest] = refusal.param.split('.');
  const name = taken.find(({ field }) => field === first)?.name ?? first;
  return { ...refusal, param: [name, ...rest].join('.') };
}

/** A tool that is one API request. The route checks permission and input. */
async function callRoute(command: Command, given: ToolArguments, caller: ToolCaller): Promise<CallToolResult> {
  if (!command.route) throw new TypeError('A command of several calls is no route.');
  const { name, route } = command.route;
  const placed = routeInputOf(command, given);
  // A route that always streams has no other response.
  if (route.streams && route.method === 'GET') return answered(await readForAWhile(name, placed, caller));
  const { client, idempotencyKey } = caller;
  const response = await client.open(name, placed, { idempotencyKey });
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('application/json')) return answered(await response.json());
  if (type.startsWith('image/')) {
    const data = Buffer.from(await response.arrayBuffer()).toString('base64');
    return { content: [{ type: 'image', data, mimeType: type }] };
  }
  return { content: [{ type: 'text', text: await response.text() }] };
}

/** Reads a stream until it ends, the time is up or the client disconnects. */
async function readForAWhile(name: string, placed: Placed, { client, signal, reportProgress }: ToolCaller) {
  const enough = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
  const answer = await client.request(name, placed, { signal: enough });
  if (!isStream(answer)) return answer;
  const events: { type: string }[] = [];
  for await (const event of answer) {
    events.push(event);
    reportProgress(event.type);
  }
  return { events, is_over: !enough.aborted };
}

const isStream = (answer: unknown): answer is AsyncIterable<{ type: string }> =>
  typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer;

function routeInputOf({ route, arguments: taken }: Command, given: ToolArguments): Placed {
  const values = taken.flatMap((argument) => {
    const value = given[argument.name];
    return value === undefined ? [] : [{ ...argument, value }];
  });
  const fieldsIn = (place: string) =>
    values.flatMap((each) => (each.place === place && each.field !== null ? [[each.field, each.value] as const] : []));
  const params = new Map(fieldsIn('params'));
  const whole = values.find(({ place, field }) => place === 'body' && field === null);
  const named = taken.flatMap(({ place, field }) => (place === 'params' && field !== null ? [field] : []));
  return {
    params: Object.fromEntries(named.map((field) => [field, segment(field, params.get(field))])),
    query: Object.fromEntries(fieldsIn('query').map(([field, value]) => [field, written(value)])),
    ...(route?.route.body && { body: whole ? whole.value : Object.fromEntries(fieldsIn('body')) }),
  };
}

function segment(field: string, value: unknown): string {
  if (value === undefined && field === 'user_id') {
    throw fail('user_required', { param: 'user', message: 'Name the `user`: the org’s own agent has no such record.' });
  }
  if (value === undefined) throw fail('invalid_request', { param: field, message: 'This field is required.' });
  const text = written(value).toWellFormed();
  // These would name another path.
  if (text === '' || text === '.' || text === '..') throw fail('invalid_request', { param: field });
  return text;
}

const written = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value));

/** The tools that make several requests. The command schemas have validated their arguments. */
const compositeTools: Readonly<Record<string, (given: ToolArguments, caller: ToolCaller) => Promise<unknown>>> = {
  ask: (given, { client, signal, idempotencyKey, reportProgress }) =>
    ask(client, given as CommandInput<'ask'>, {
      signal,
      idempotencyKey,
      onEvent: (event) => {
        const news = newsOf(event);
        if (news !== null) reportProgress(news);
      },
      onHint: reportProgress,
    }),
  answer: (given, { client, signal }) => answer(client, given as CommandInput<'answer'>, { signal }),
  embed: (given, { client, signal, idempotencyKey }) =>
    embed(client, given as CommandInput<'embed'>, { signal, idempotencyKey }),
  events: (given, { client, signal }) => events(client, given as CommandInput<'events'>, { signal }),
  test: (given, { client, signal, idempotencyKey, reportProgress }) =>
    test(client, given as CommandInput<'test'>, {
      signal,
      idempotencyKey,
      enough: AbortSignal.timeout(patienceMs),
      onProgress: (progress) => {
        if (progress.type === 'tested') reportProgress(`${progress.result.name}: ${progress.result.status}`);
      },
    }),
};

function newsOf({ type, data }: StreamEvent): string | null {
  if (type === 'reply.delta') return data.text;
  if (type === 'task.started') return data.task.title;
  if (type === 'task.progress') return data.progress.find(({ status }) => status === 'in_progress')?.content ?? null;
  return null;
}

/** The caller of a tool. */
type ToolCaller = {
  client: Client;
  /** For the one request that creates something. */
  idempotencyKey: string | undefined;
  scopes: readonly Scope[];
  requestId: string;
  /** Aborts when the client disconnects or cancels. */
  signal: AbortSignal;
  reportProgress: (message: string) => void;
  logFault: (error: unknown) => void;
};

type ToolArguments = Readonly<Record<string, unknown>>;

/** Below the minute after which clients give up. */
const patienceMs = 50_000;

/** The result as data, and as text for clients that read only text. */
const answered = (value: unknown): CallToolResult => ({
  structuredContent: value as CallToolResult['structuredContent'],
  content: [{ type: 'text', text: JSON.stringify(value) }],
});
