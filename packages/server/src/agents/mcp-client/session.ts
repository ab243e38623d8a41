import { createHash } from 'node:crypto';
import {
  Client,
  type ClientCapabilities,
  type JSONRPCMessage,
  ProtocolError,
  SdkHttpError,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { untilAborted } from '../../platform/async/waiters.ts';
import { boundedFetch, type SessionBounds } from './bounded-fetch.ts';

export type McpTarget = { url: string; headers: Readonly<Record<string, string>> };

export type SessionLimits = SessionBounds & { timeoutMs: number };

/** Dependencies of every session. */
export type SessionDependencies = {
  fetch: typeof fetch;
  version: string;
  olderServers: OlderServers;
};

type Dependencies = SessionDependencies & { limits: SessionLimits };

type SessionOptions = {
  /** The client capabilities for this server. Defaults to none. */
  capabilities?: ClientCapabilities;
  /** Runs before the handshake. Register handlers for requests of the server here. */
  prepare?: (client: Client) => void;
  /** The server may send unsolicited messages on a separate stream. */
  mayListen?: boolean;
  /** The sessions of the run. Absent if the session ends with the call. */
  sessions?: RunSessions | undefined;
};

/** URLs of servers that only support the older protocol, so that each call need not try the newer one first. */
export type OlderServers = { has: (url: string) => boolean; add: (url: string) => void; delete: (url: string) => void };

/**
 * A session of the older protocol that outlives a call. A later call resumes it with a new client, so that limits, time
 * and questions stay per call. Null if the server uses the newer protocol, which has no sessions.
 */
type KeptSession = { target: McpTarget; id: string; protocolVersion: string | undefined; calls: number } | null;

/** The sessions of one run, by server and headers. Never share them with another run. */
export type RunSessions = { open: Map<string, Promise<KeptSession | undefined>>; isClosed: boolean };

const endSessionMs = 1000;
/** A call sends at most a hundred requests; ids must differ between all calls of a session. */
const idsPerCall = 1000;

/**
 * Connects to a server with the newest protocol that both support. The time limit, the caller's signal or an exceeded
 * limit ends everything and rejects with the reason. With `sessions` the session stays open for the next call of the
 * run.
 */
export async function withSession<Result>(
  { fetch, version, limits, olderServers }: Dependencies,
  target: McpTarget,
  callerSignal: AbortSignal,
  work: (client: Client) => Promise<Result>,
  { capabilities = {}, prepare = () => {}, mayListen = false, sessions }: SessionOptions = {},
): Promise<Result> {
  const { timeoutMs } = limits;
  const { hostname } = new URL(target.url);
  const end = new AbortController();
  const signal = AbortSignal.any([callerSignal, end.signal]);
  // A broken stream may still be followed by the answer. If none comes, this error is the reason.
  let streamError: Error | undefined;
  const clock = setTimeout(() => end.abort(streamError ?? new SessionTimeout()), timeoutMs);
  const onExceeded = (failure: Error) => end.abort(failure);
  const bounded = boundedFetch(fetch, limits, { host: hostname, signal, onExceeded, mayListen });
  const transports: StreamableHTTPClientTransport[] = [];

  async function connect(resumed: KeptSession, isKnownOlder = false) {
    const transport = transportTo(target, bounded, resumed);
    transports.push(transport);
    transport.onerror = (error) => {
      // The sender of a request gets its HTTP error, and servers of the older protocol refuse the first request.
      if (!(error instanceof SdkHttpError)) streamError ??= error;
    };
    const client = new Client({ name: 'Vestra', version }, { versionNegotiation: { mode: 'auto' }, capabilities });
    prepare(client);
    await client.connect(transport, { timeout: timeoutMs, ...(isKnownOlder && { prior: { kind: 'legacy' } }) });
    if (resumed) useIdsFrom(transport, resumed.calls++ * idsPerCall);
    return { client, transport };
  }

  async function open() {
    if (!olderServers.has(target.url)) {
      const opened = await connect(null);
      if (opened.client.getProtocolEra() === 'legacy') olderServers.add(target.url);
      return opened;
    }
    try {
      return await connect(null, true);
    } catch (error) {
      olderServers.delete(target.url);
      if (signal.aborted || !mayUseNewerProtocol(error)) throw error;
      return open();
    }
  }

  /** Opens the session of the run, for this call and for concurrent ones. */
  async function openKept(all: RunSessions, key: string) {
    const opening = Promise.withResolvers<KeptSession | undefined>();
    all.open.set(key, opening.promise);
    try {
      const { client, transport } = await untilAborted(open(), signal);
      const isOlder = client.getProtocolEra() === 'legacy';
      const { sessionId: id = '', protocolVersion } = transport;
      opening.resolve(isOlder ? { target, id, protocolVersion, calls: 1 } : null);
      return client;
    } catch (error) {
      all.open.delete(key);
      opening.resolve(undefined);
      throw error;
    }
  }

  async function callInKeptSession(all: RunSessions): Promise<Result> {
    const key = keyOf(target, capabilities);
    let isRetried = false;
    for (;;) {
      const entry = all.open.get(key);
      if (!entry) return work(await openKept(all, key));
      const kept = await entry;
      signal.throwIfAborted();
      // The call that opened the session failed, so this call tries again.
      if (kept === undefined) continue;
      if (kept === null) return work((await open()).client);
      try {
        return await work((await connect(kept)).client);
      } catch (error) {
        if (!isSessionGone(error)) throw error;
        if (all.open.get(key) === entry) all.open.delete(key);
        // The server refused the session, so the call had no effect.
        if (isRetried) throw error;
        isRetried = true;
      }
    }
  }

  const isKept = sessions !== undefined && !sessions.isClosed;
  const exchange = async () => (isKept ? callInKeptSession(sessions) : work((await open()).client));
  try {
    // The client ignores the signal in some phases, but the requests do not.
    return await untilAborted(exchange(), signal);
  } finally {
    const last = transports.at(-1);
    if (!isKept && last && !signal.aborted) await endSession(last, end);
    clearTimeout(clock);
    await Promise.all(transports.map((transport) => transport.close()));
  }
}

export class SessionTimeout extends Error {}

/** Ends the sessions of a run, also those still being opened. Errors of the server are ignored. */
export async function endSessions({ fetch }: Pick<SessionDependencies, 'fetch'>, sessions: RunSessions): Promise<void> {
  await Promise.all([...sessions.open.values()].map(async (entry) => endKept(fetch, await entry)));
}

async function endKept(fetch: typeof globalThis.fetch, kept: KeptSession | undefined): Promise<void> {
  if (!kept) return;
  const end = new AbortController();
  const { hostname: host } = new URL(kept.target.url);
  const bounds = { maxRequests: 1, maxBytes: 65_536, maxParts: 1000 };
  const about = { host, signal: end.signal, onExceeded: () => end.abort(), mayListen: false };
  await endSession(transportTo(kept.target, boundedFetch(fetch, bounds, about), kept), end);
}

const transportTo = ({ url, headers }: McpTarget, fetch: typeof globalThis.fetch, resumed: KeptSession) =>
  new StreamableHTTPClientTransport(new URL(url), {
    fetch,
    // The default follows redirects within an origin.
    requestInit: { headers, redirect: 'manual' },
    onInsufficientScope: 'throw',
    // An empty id is not sent: it keeps a server without sessions from starting one for each call.
    ...(resumed && { sessionId: resumed.id }),
    ...(resumed?.protocolVersion !== undefined && { protocolVersion: resumed.protocolVersion }),
  });

/** Servers of the older protocol keep a session until the client ends it. */
async function endSession(transport: StreamableHTTPClientTransport, end: AbortController): Promise<void> {
  const clock = setTimeout(() => end.abort(), endSessionMs);
  await transport.terminateSession().catch(() => {});
  clearTimeout(clock);
}

const keyOf = ({ url, headers }: McpTarget, capabilities: ClientCapabilities): string =>
  createHash('sha256')
    .update(JSON.stringify([url, Object.entries(headers).sort(), capabilities]))
    .digest('base64');

/** Shifts the request ids: every client counts from zero, and a server needs distinct ids within a session. */
function useIdsFrom(transport: StreamableHTTPClientTransport, first: number): void {
  const send = transport.send.bind(transport);
  const receive = transport.onmessage;
  const moved = (id: unknown, by: number) => (typeof id === 'number' ? id + by : id);
  transport.send = (message, options) => send(outgoing(message as JSONRPCMessage) as JSONRPCMessage, options);
  transport.onmessage = (message: JSONRPCMessage) => {
    const isAnswer = !('method' in message) && 'id' in message;
    receive?.(isAnswer ? ({ ...message, id: moved(message.id, -first) } as JSONRPCMessage) : message);
  };

  function outgoing(message: JSONRPCMessage): object {
    if (!('method' in message)) return message;
    if ('id' in message) return { ...message, id: moved(message.id, first) };
    if (message.method !== 'notifications/cancelled') return message;
    return { ...message, params: { ...message.params, requestId: moved(message.params?.requestId, first) } };
  }
}

/** A server that lost the session answers 404. Some answer 400 and mention the session in the text. */
const isSessionGone = (error: unknown): boolean =>
  error instanceof SdkHttpError &&
  (error.status === 404 || (error.status === 400 && /session|not initialized/i.test(String(error.data?.text))));

/** The server may have replaced the older protocol by the newer one. */
const mayUseNewerProtocol = (error: unknown): boolean =>
  error instanceof ProtocolError || (error instanceof SdkHttpError && [400, 404, 405, 406].includes(error.status ?? 0));
