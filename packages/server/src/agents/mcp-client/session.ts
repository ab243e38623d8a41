import { createHash, randomInt } from 'node:crypto';
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

/** A server that reports progress gets `timeoutMs` again with each report, and at most `totalMs` in all. */
export type SessionLimits = SessionBounds & { timeoutMs: number; totalMs?: number };

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
  /** The sessions of the conversation or task. Absent if the session ends with the call. */
  sessions?: RunSessions | undefined;
  /** Called if a session was opened that stays open after the call. The server knows nothing of an earlier one. */
  onOpened?: (() => void) | undefined;
};

/** `extend` gives the server its time again, because it reported progress. */
type SessionWork<Result> = (client: Client, session: { extend: () => void }) => Promise<Result>;

/** URLs of servers that only support the older protocol, so that each call need not try the newer one first. */
export type OlderServers = { has: (url: string) => boolean; add: (url: string) => void; delete: (url: string) => void };

/**
 * A session of the older protocol that outlives a call. A later call resumes it with a new client, so that limits, time
 * and questions stay per call. Null if the server uses the newer protocol, which has no sessions.
 */
type KeptSession = {
  target: McpTarget;
  id: string;
  protocolVersion: string | undefined;
  /** False once the server refused a stream for unsolicited messages. */
  mayStream: boolean;
  /** Calls that listen now. A server accepts one stream per session. */
  listeners: number;
} | null;

/** The sessions of one conversation or task, by server and headers. Never share them with another one. */
export type RunSessions = { open: Map<string, Promise<KeptSession | undefined>>; isClosed: boolean };

const endSessionMs = 1000;
/** A server that opens the stream later may miss the listener. The call does not wait longer for it. */
const streamMs = 2000;
/** The server may not have noticed yet that the stream of the previous call ended. */
const streamRetryMs = 100;
const maxStreamAttempts = 4;
/** Ids must differ between all calls of a session, and between the attempts of one call. */
const maxFirstId = 2 ** 31;

/**
 * Connects to a server with the newest protocol that both support. The time limit, the caller's signal or an exceeded
 * limit ends everything and rejects with the reason. With `sessions` the session stays open for the next call.
 */
export async function withSession<Result>(
  { fetch, version, limits, olderServers }: Dependencies,
  target: McpTarget,
  callerSignal: AbortSignal,
  work: SessionWork<Result>,
  { capabilities = {}, prepare = () => {}, mayListen = false, sessions, onOpened }: SessionOptions = {},
): Promise<Result> {
  const { timeoutMs, totalMs = timeoutMs } = limits;
  const { hostname } = new URL(target.url);
  const end = new AbortController();
  const signal = AbortSignal.any([callerSignal, end.signal]);
  // A broken stream may still be followed by the answer. If none comes, this error is the reason.
  let streamError: Error | undefined;
  const endsAt = performance.now() + totalMs;
  const startClock = () =>
    setTimeout(
      () => end.abort(streamError ?? new SessionTimeout()),
      Math.min(timeoutMs, Math.max(0, endsAt - performance.now())),
    );
  let clock = startClock();
  const extend = () => {
    clearTimeout(clock);
    clock = startClock();
  };
  const onExceeded = (failure: Error) => end.abort(failure);
  let onStream: (status: number) => void = () => {};
  const bounded = boundedFetch(fetch, limits, {
    host: hostname,
    signal,
    onExceeded,
    mayListen,
    onStream: (status) => onStream(status),
  });
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
    const stream = Promise.withResolvers<number>();
    onStream = stream.resolve;
    await client.connect(transport, { timeout: timeoutMs, ...(isKnownOlder && { prior: { kind: 'legacy' } }) });
    useIdsFrom(transport, randomInt(1, maxFirstId));
    // The client opens the stream of a new session itself.
    if (mayListen && !resumed && client.getProtocolEra() === 'legacy') await withinTime(stream.promise, streamMs);
    return { client, transport };
  }

  /** Opens the stream on which a server of the older protocol asks without naming the call. */
  async function listenIn(kept: NonNullable<KeptSession>, transport: StreamableHTTPClientTransport): Promise<void> {
    for (let attempt = 1; attempt <= maxStreamAttempts; attempt++) {
      const stream = Promise.withResolvers<number>();
      onStream = stream.resolve;
      // Without the id of an event this opens the stream for unsolicited messages.
      void transport.resumeStream('').catch(() => stream.resolve(0));
      const status = await withinTime(stream.promise, streamMs);
      if (status === 404 || status === 405 || status === 501) kept.mayStream = false;
      if (status !== 409) return;
      await withinTime(new Promise<never>(() => {}), streamRetryMs);
    }
  }

  async function callInSession(kept: NonNullable<KeptSession>): Promise<Result> {
    const { client, transport } = await connect(kept);
    const listens = mayListen && kept.mayStream && kept.listeners === 0;
    if (!listens) return work(client, { extend });
    kept.listeners += 1;
    try {
      await listenIn(kept, transport);
      return await work(client, { extend });
    } finally {
      kept.listeners -= 1;
    }
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
      opening.resolve(isOlder ? { target, id, protocolVersion, mayStream: true, listeners: 0 } : null);
      if (id !== '') onOpened?.();
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
      if (!entry) return work(await openKept(all, key), { extend });
      const kept = await entry;
      signal.throwIfAborted();
      // The call that opened the session failed, so this call tries again.
      if (kept === undefined) continue;
      if (kept === null) return work((await open()).client, { extend });
      try {
        return await callInSession(kept);
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
  const exchange = async () => (isKept ? callInKeptSession(sessions) : work((await open()).client, { extend }));
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

/** The server speaks only the transport of 2024, which opens with a stream of events. */
export class OlderTransport extends Error {}

/** Resolves after the time at the latest, with the value if there is one. */
async function withinTime<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  const over = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => over.resolve(undefined), ms);
  try {
    return await Promise.race([promise, over.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Ends the sessions of a conversation or task, also those still being opened. Errors of the server are ignored. */
export async function endSessions({ fetch }: Pick<SessionDependencies, 'fetch'>, sessions: RunSessions): Promise<void> {
  await Promise.all([...sessions.open.values()].map(async (entry) => endKept(fetch, await entry)));
}

async function endKept(fetch: typeof globalThis.fetch, kept: KeptSession | undefined): Promise<void> {
  if (!kept) return;
  const end = new AbortController();
  const { hostname: host } = new URL(kept.target.url);
  const bounds = { maxRequests: 1, maxBytes: 65_536, maxParts: 1000 };
  const about = { host, signal: end.signal, onExceeded: () => end.abort(), mayListen: false, onStream: () => {} };
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

/** Shifts the request ids and progress tokens: every client counts from zero. */
function useIdsFrom(transport: StreamableHTTPClientTransport, first: number): void {
  const send = transport.send.bind(transport);
  const receive = transport.onmessage;
  const moved = (id: unknown, by: number) => (typeof id === 'number' ? id + by : id);
  transport.send = (message, options) => send(outgoing(message as JSONRPCMessage) as JSONRPCMessage, options);
  transport.onmessage = (message: JSONRPCMessage) => receive?.(incoming(message) as JSONRPCMessage);

  function outgoing(message: JSONRPCMessage): object {
    if (!('method' in message)) return message;
    if ('id' in message) return { ...message, id: moved(message.id, first), ...withToken(message.params) };
    if (message.method !== 'notifications/cancelled') return message;
    return { ...message, params: { ...message.params, requestId: moved(message.params?.requestId, first) } };
  }

  function withToken(params: Record<string, unknown> | undefined) {
    const meta = params?._meta as { progressToken?: unknown } | undefined;
    if (meta?.progressToken === undefined) return {};
    return { params: { ...params, _meta: { ...meta, progressToken: moved(meta.progressToken, first) } } };
  }

  function incoming(message: JSONRPCMessage): object {
    if (!('method' in message)) return 'id' in message ? { ...message, id: moved(message.id, -first) } : message;
    if (message.method !== 'notifications/progress') return message;
    const { progressToken, ...params } = message.params ?? {};
    return { ...message, params: { ...params, progressToken: moved(progressToken, -first) } };
  }
}

/** A server that lost the session answers 404. Some answer 400 and mention the session in the text. */
const isSessionGone = (error: unknown): boolean =>
  error instanceof SdkHttpError &&
  (error.status === 404 || (error.status === 400 && /session|not initialized/i.test(String(error.data?.text))));

/** The server may have replaced the older protocol by the newer one. */
const mayUseNewerProtocol = (error: unknown): boolean =>
  error instanceof ProtocolError || (error instanceof SdkHttpError && [400, 404, 405, 406].includes(error.status ?? 0));
