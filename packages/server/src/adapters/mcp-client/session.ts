import {
  Client,
  type ClientCapabilities,
  SdkHttpError,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { untilAborted } from '../../async/until-aborted.ts';
import { type Bounds, boundedFetch } from './bounded-fetch.ts';

export type McpTarget = { url: string; headers: Readonly<Record<string, string>> };

export type SessionLimits = Bounds & { timeoutMs: number };

type Dependencies = { fetch: typeof fetch; version: string; limits: SessionLimits };

type SessionOptions = {
  /** What the server may ask of this client. Absent: nothing. */
  capabilities?: ClientCapabilities;
  /** Before the handshake: what is asked is answered here. */
  prepare?: (client: Client) => void;
  /** The server may speak without being asked, on a stream of its own. */
  mayListen?: boolean;
};

const partingMs = 1000;

/**
 * Speaks with one server from the handshake to the parting, in the newest protocol that both know. Everything together
 * ends after `timeoutMs`, with the caller's signal, or when the server goes beyond a limit; the promise then rejects
 * with the reason.
 */
export async function withSession<Result>(
  { fetch, version, limits }: Dependencies,
  { url, headers }: McpTarget,
  callerSignal: AbortSignal,
  work: (client: Client) => Promise<Result>,
  { capabilities = {}, prepare = () => {}, mayListen = false }: SessionOptions = {},
): Promise<Result> {
  const { timeoutMs } = limits;
  const target = new URL(url);
  const end = new AbortController();
  const signal = AbortSignal.any([callerSignal, end.signal]);
  // A stream that breaks off or holds nonsense may still be followed by the answer; if not, this is why none came.
  let heard: Error | undefined;
  const clock = setTimeout(() => end.abort(heard ?? new SessionTimeout()), timeoutMs);
  const onExceeded = (failure: Error) => end.abort(failure);
  const transport = new StreamableHTTPClientTransport(target, {
    fetch: boundedFetch(fetch, limits, { host: target.hostname, signal, onExceeded, mayListen }),
    // The default follows redirects within an origin.
    requestInit: { headers, redirect: 'manual' },
    onInsufficientScope: 'throw',
  });
  transport.onerror = (error) => {
    // A refusal is heard by whoever sent the request, and a server of the older protocol refuses the first one.
    if (!(error instanceof SdkHttpError)) heard ??= error;
  };
  const client = new Client({ name: 'Vestra', version }, { versionNegotiation: { mode: 'auto' }, capabilities });
  prepare(client);

  const speak = async () => {
    await client.connect(transport, { timeout: timeoutMs });
    return work(client);
  };
  try {
    // The client does not hear of the signal in every phase; the calls under it do.
    return await untilAborted(speak(), signal);
  } finally {
    if (!signal.aborted) await part(transport, end);
    clearTimeout(clock);
    await transport.close();
  }
}

export class SessionTimeout extends Error {}

/** A server of the older protocol keeps a session until it is told, or for ever. */
async function part(transport: StreamableHTTPClientTransport, end: AbortController): Promise<void> {
  const clock = setTimeout(() => end.abort(), partingMs);
  await transport.terminateSession().catch(() => {});
  clearTimeout(clock);
}
