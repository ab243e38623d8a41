import { createHash } from 'node:crypto';
import {
  Client,
  type ClientCapabilities,
  type JSONRPCMessage,
  ProtocolError,
  SdkHttpError,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { untilAborted } from '../../platform/async/until-aborted.ts';
import { type Bounds, boundedFetch } from './bounded-fetch.ts';

export type McpTarget = { url: string; headers: Readonly<Record<string, string>> };

export type SessionLimits = Bounds & { timeoutMs: number };

/** Dependencies of every exchange with a server. */
export type SessionParts = {
  fetch: typeof fetch;
  version: string;
  olderServers: OlderServers;
};

type Dependencies = SessionParts & { limits: SessionLimits };

type SessionOptions = {
  /** What the server may ask of this client. Absent: nothing. */
  capabilities?: ClientCapabilities;
  /** Before the handshake: what is asked is answered here. */
  prepare?: (client: Client) => void;
  /** The server may speak without being asked, on a stream of its own. */
  mayListen?: boolean;
  /** The sessions of the run that makes this call. Absent: the session ends with the call. */
  sessions?: RunSessions | undefined;
};

/** The servers that are known to speak only the older protocol, by URL: they are not asked for the newer one again. */
export type OlderServers = { has: (url: string) => boolean; add: (url: string) => void; delete: (url: string) => void };

/**
 * A session of the older protocol that outlives a call. A later call resumes it with a client of its own, so that limits,
 * time and questions stay those of the call. Null: the server speaks the newer protocol, which has no sessions.
 */
type KeptSession = { target: McpTarget; id: string; protocolVersion: string | undefined; calls: number } | null;

/** The sessions of one run, one for each server and set of headers. Nothing else may use them. */
export type RunSessions = { open: Map<string, Promise<KeptSession | undefined>>; isClosed: boolean };

const partingMs = 1000;
/** A call sends at most a hundred requests; ids must differ between all calls of a session. */
const idsPerCall = 1000;

/**
 * Speaks with one server in the newest protocol that both know. Everything together ends after `timeoutMs`, with the
 * caller's signal, or when the server goes beyond a limit; the promise then rejects with the reason. With `sessions` the
 * session stays open for the next call of the run; without, it ends here.
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
  // A stream that breaks off or holds nonsense may still be followed by the answer; if not, this is why none came.
  let heard: Error | undefined;
  const clock = setTimeout(() => end.abort(heard ?? new SessionTimeout()), timeoutMs);
  const onExceeded = (failure: Error) => end.abort(failure);
  const bounded = boundedFetch(fetch, limits, { host: hostname, signal, onExceeded, mayListen });
  const transports: StreamableHTTPClientTransport[] = [];

  async function connect(resumed: KeptSession, isKnownOlder = false) {
    const transport = transportTo(target, bounded, resumed);
    transports.push(transport);
    transport.onerror = (error) => {
      // The sender of a request gets its refusal, and a server of the older protocol refuses the first one.
      if (!(error instanceof SdkHttpError)) heard ??= error;
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
      if (signal.aborted || !mayHaveMovedOn(error)) throw error;
      return open();
    }
  }

  /** Opens the session of the run, for this call and those that come meanwhile. */
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

  async function inKept(all: RunSessions): Promise<Result> {
    const key = keyOf(target, capabilities);
    let isRetried = false;
    for (;;) {
      const entry = all.open.get(key);
      if (!entry) return work(await openKept(all, key));
      const kept = await entry;
      signal.throwIfAborted();
      // The call that opened the session failed: this one tries again.
      if (kept === undefined) continue;
      if (kept === null) return work((await open()).client);
      try {
        return await work((await connect(kept)).client);
      } catch (error) {
        if (!isSessionGone(error)) throw error;
        if (all.open.get(key) === entry) all.open.delete(key);
        // The server refused the call for its session, so it has done nothing.
        if (isRetried) throw error;
        isRetried = true;
      }
    }
  }

  const isKept = sessions !== undefined && !sessions.isClosed;
  const speak = async () => (isKept ? inKept(sessions) : work((await open()).client));
  try {
    // The client does not hear of the signal in every phase; the calls under it do.
    return await untilAborted(speak(), signal);
  } finally {
    const last = transports.at(-1);
    if (!isKept && last && !signal.aborted) await part(last, end);
    clearTimeout(clock);
    await Promise.all(transports.map((transport) => transport.close()));
  }
}

export class SessionTimeout extends Error {}

/** Ends the sessions of a run, also those that are still being opened. What the server makes of it is not said. */
export async function endSessions({ fetch }: Pick<SessionParts, 'fetch'>, sessions: RunSessions): Promise<void> {
  await Promise.all([...sessions.open.values()].map(async (entry) => endKept(fetch, await entry)));
}

async function endKept(fetch: typeof globalThis.fetch, kept: KeptSession | undefined): Promise<void> {
  if (!kept) return;
  const end = new AbortController();
  const { hostname: host } = new URL(kept.target.url);
  const bounds = { maxRequests: 1, maxBytes: 65_536, maxParts: 1000 };
  const about = { host, signal: end.signal, onExceeded: () => end.abort(), mayListen: false };
  await part(transportTo(kept.target, boundedFetch(fetch, bounds, about), kept), end);
}

const transportTo = ({ url, headers }: McpTarget, fetch: typeof globalThis.fetch, resumed: KeptSession) =>
  new StreamableHTTPClientTransport(new URL(url), {
    fetch,
    // The default follows redirects within an origin.
    requestInit: { headers, redirect: 'manual' },
    onInsufficientScope: 'throw',
    // An empty id is sent as none: a server without sessions is not asked to begin one for each call either.
    ...(resumed && { sessionId: resumed.id }),
    ...(resumed?.protocolVersion !== undefined && { protocolVersion: resumed.protocolVersion }),
  });

/** A server of the older protocol keeps a session until it is told, or for ever. */
async function part(transport: StreamableHTTPClientTransport, end: AbortController): Promise<void> {
  const clock = setTimeout(() => end.abort(), partingMs);
  await transport.terminateSession().catch(() => {});
  clearTimeout(clock);
}

const keyOf = ({ url, headers }: McpTarget, capabilities: ClientCapabilities): string =>
  createHash('sha256')
    .update(JSON.stringify([url, Object.entries(headers).sort(), capabilities]))
    .digest('base64');

/** Every client counts its requests from zero, and a server tells the requests of a session apart by their ids. */
function useIdsFrom(transport: StreamableHTTPClientTransport, first: number): void {
  const send = transport.send.bind(transport);
  const hear = transport.onmessage;
  const moved = (id: unknown, by: number) => (typeof id === 'number' ? id + by : id);
  transport.send = (message, options) => send(outgoing(message as JSONRPCMessage) as JSONRPCMessage, options);
  transport.onmessage = (message: JSONRPCMessage) => {
    const isAnswer = !('method' in message) && 'id' in message;
    hear?.(isAnswer ? ({ ...message, id: moved(message.id, -first) } as JSONRPCMessage) : message);
  };

  function outgoing(message: JSONRPCMessage): object {
    if (!('method' in message)) return message;
    if ('id' in message) return { ...message, id: moved(message.id, first) };
    if (message.method !== 'notifications/cancelled') return message;
    return { ...message, params: { ...message.params, requestId: moved(message.params?.requestId, first) } };
  }
}

/** 404 says that the server does not know the session; some servers say 400 and name the session in words. */
const isSessionGone = (error: unknown): boolean =>
  error instanceof SdkHttpError &&
  (error.status === 404 || (error.status === 400 && /session|not initialized/i.test(String(error.data?.text))));

/** A server may have learned the newer protocol and given up the older one. */
const mayHaveMovedOn = (error: unknown): boolean =>
  error instanceof ProtocolError || (error instanceof SdkHttpError && [400, 404, 405, 406].includes(error.status ?? 0));
