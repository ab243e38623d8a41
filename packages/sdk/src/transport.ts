import type { PathRow } from '@vestra/contract/paths';
import { errorOf, isPassing, VestraError } from './errors.ts';

export type TransportOptions = {
  /**
   * The address of the service, such as `https://vestra.example.com`. A trailing `/v1` is ignored. Default: the
   * environment's `VESTRA_URL` with its `VESTRA_KEY`, as the command line does.
   */
  baseUrl?: string | undefined;
  /** An API key or session token, or a function that returns the current one. Not needed for public routes. */
  key?: string | (() => string | Promise<string>) | undefined;
  /** The function that sends requests. Default: the platform's `fetch`. */
  fetch?: typeof globalThis.fetch | undefined;
  /** How often a safe call is retried. Default: 2. With 0, no call gets an automatic Idempotency-Key. */
  retries?: number | undefined;
  /** Aborting ends every call and stream of this client. */
  signal?: AbortSignal | undefined;
  /** The timeout of one attempt, or of its headers if the response is a stream. Default: 120 seconds. */
  timeoutMs?: number | undefined;
  /** Sent with every call. */
  headers?: Record<string, string> | undefined;
  /** Waits between attempts; ends early when the signal is aborted. */
  sleep?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
};

export type CallOptions = {
  /** Aborting ends the call, which then throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Default: a call that accepts one gets a generated key, so that retries are safe. */
  idempotencyKey?: string | undefined;
  /** Sent with this call; overrides those of the client. */
  headers?: Record<string, string> | undefined;
  /** Waits for the final answer to a message; 1 to 120 seconds. */
  wait?: number | undefined;
  /** How often this call is retried if that is safe. Default: the client's setting. */
  retries?: number | undefined;
  /** The timeout of one attempt. Default: the client's setting. */
  timeoutMs?: number | undefined;
};

/** The parts of a request. A body of `FormData` or `Blob` is sent unchanged, anything else as JSON. */
export type Placed = {
  params?: Readonly<Record<string, unknown>> | undefined;
  query?: Readonly<Record<string, unknown>> | undefined;
  body?: unknown;
};

/** Reads a successful response. `untimed` removes the time limit, for a response that stays open. */
type Read<Answer> = (response: Response, untimed: () => void) => Promise<Answer>;

export type Transport = {
  send: <Answer>(row: PathRow, placed: Placed, options: CallOptions, read: Read<Answer>) => Promise<Answer>;
  /** Creates an Idempotency-Key for a call that accepts one and may be retried. */
  keyFor: (row: PathRow) => string | undefined;
  /** Waits before attempt number `attempt` of an operation that is retried by hand. */
  backOff: (attempt: number, signal?: AbortSignal) => Promise<void>;
};

/** If the service asks for a longer pause, the call fails at once. */
const longestDelayMs = 60_000;

export function createTransport(given: TransportOptions): Transport {
  const options = given.baseUrl === undefined ? fromEnvironment(given) : given;
  const baseUrl = readBaseUrl(options.baseUrl ?? '');
  const sleep = options.sleep ?? sleepFor;
  // Called through the global object, as browsers require for `fetch`.
  const fetch = options.fetch ?? ((...given: Parameters<typeof globalThis.fetch>) => globalThis.fetch(...given));

  async function send<Answer>(row: PathRow, placed: Placed, call: CallOptions, read: Read<Answer>): Promise<Answer> {
    const url = `${baseUrl}${pathOf(row, placed.params ?? {})}${queryOf(placed.query ?? {})}`;
    const idempotencyKey = call.idempotencyKey ?? keyFor(row);
    const mayRepeat = row.method === 'GET' || row.idempotent === true;
    const most = mayRepeat ? (call.retries ?? options.retries ?? 2) : 0;
    for (let attempt = 1; ; attempt++) {
      try {
        return await sendOnce(row, url, placed.body, { ...call, idempotencyKey }, read);
      } catch (error) {
        call.signal?.throwIfAborted();
        if (attempt > most || !isPassing(error)) throw error;
        const delayMs = Math.max(error.retryAfterMs ?? 0, backOffMs(attempt));
        if (delayMs > longestDelayMs) throw error;
        await sleep(delayMs, call.signal);
        call.signal?.throwIfAborted();
      }
    }
  }

  const keyFor = (row: PathRow) => (row.idempotent && options.retries !== 0 ? newIdempotencyKey() : undefined);

  async function sendOnce<Answer>(row: PathRow, url: string, body: unknown, call: CallOptions, read: Read<Answer>) {
    call.signal?.throwIfAborted();
    const headers = await headersOf(body, call);
    const withinMs = (call.timeoutMs ?? options.timeoutMs ?? 120_000) + (call.wait ?? 0) * 1000;
    const clock = new AbortController();
    const timer = setTimeout(() => clock.abort(), withinMs);
    const signal = call.signal ? AbortSignal.any([call.signal, clock.signal]) : clock.signal;
    try {
      const response = await fetch(url, {
        method: row.method,
        headers,
        signal,
        // A redirected POST would arrive as a GET without its body, so the redirect is reported as an error.
        redirect: 'manual',
        ...(body !== undefined && { body: isUpload(body) ? body : JSON.stringify(body) }),
      });
      if (!response.ok) throw await errorOf(response);
      return await read(response, () => clearTimeout(timer));
    } catch (error) {
      if (error instanceof VestraError || call.signal?.aborted) throw error;
      throw lost(error, clock.signal.aborted ? withinMs : null);
    } finally {
      clearTimeout(timer);
    }
  }

  async function headersOf(body: unknown, call: CallOptions): Promise<Headers> {
    const headers = new Headers({ ...options.headers });
    const key = typeof options.key === 'function' ? await options.key() : options.key;
    if (key !== undefined) headers.set('authorization', `Bearer ${readKey(key)}`);
    if (body !== undefined && !isUpload(body)) headers.set('content-type', 'application/json');
    if (call.idempotencyKey !== undefined) headers.set('idempotency-key', call.idempotencyKey);
    if (call.wait !== undefined) headers.set('prefer', `wait=${call.wait}`);
    for (const [name, value] of Object.entries(call.headers ?? {})) headers.set(name, value);
    return headers;
  }

  function lost(cause: unknown, timedOutAfterMs: number | null): VestraError {
    if (timedOutAfterMs !== null) {
      return new VestraError(`No answer came from ${baseUrl} within ${timedOutAfterMs} ms.`, { code: 'timed_out' });
    }
    return new VestraError(
      `${baseUrl} cannot be reached, or the connection was lost.`,
      { code: 'connection_failed' },
      {
        cause,
      },
    );
  }

  return { send, keyFor, backOff: (attempt, signal) => sleep(backOffMs(attempt), signal) };
}

export function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Doubles from half a second to 8 seconds, minus up to half of it at random, so that clients do not retry together. */
function backOffMs(attempt: number): number {
  const whole = Math.min(8000, 500 * 2 ** (attempt - 1));
  return whole * (1 - Math.random() / 2);
}

function sleepFor(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
  });
}

/** Both come from the environment together, so that its key never reaches an address that the program chose. */
function fromEnvironment(given: TransportOptions): TransportOptions {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  const { VESTRA_URL, VESTRA_KEY } = process?.env ?? {};
  const isServer = process?.env !== undefined;
  return { ...given, baseUrl: VESTRA_URL ?? (isServer ? localUrl : undefined), key: given.key ?? VESTRA_KEY };
}

const localUrl = 'http://127.0.0.1:4600';

function readBaseUrl(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new TypeError('`baseUrl` is the address of the service, such as https://vestra.example.com.');
  }
  // Clients of other vendors expect the version in the address, and each path here already has it.
  return `${url.origin}${url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '')}`;
}

/** `Headers` would reject such a key too, with the key in its message. */
function readKey(key: string): string {
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new TypeError('`key` holds a space, a line break or another character that no key has.');
  }
  return key;
}

/** A param of `.`, `..` or '' would address another route. */
function pathOf(row: PathRow, params: Readonly<Record<string, unknown>>): string {
  return row.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    const text = value === undefined || value === null ? '' : String(value);
    if (text === '') throw new TypeError(`\`${name}\` is needed.`);
    if (text === '.' || text === '..') throw new TypeError(`\`${name}\` cannot be \`${text}\`.`);
    return encodeURIComponent(text);
  });
}

function queryOf(query: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  if (given.length === 0) return '';
  return `?${new URLSearchParams(given.map(([name, value]) => [name, asText(value)]))}`;
}

function asText(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return Array.isArray(value) ? value.map(asText).join(',') : String(value);
}

function isUpload(body: unknown): body is FormData | Blob {
  return body instanceof FormData || body instanceof Blob;
}
