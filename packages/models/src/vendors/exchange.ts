import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { ConnectionLost, IdleTimeout, Unreachable } from './fault.ts';
import { beginReading, whenToRead } from './reading-pace.ts';

/** One POST whose response is read as it arrives. */
export type Exchange = {
  begun: () => Promise<{ status: number; headers: IncomingHttpHeaders }>;
  /** Returns the bytes since the last read; null at the end. */
  read: () => Promise<Buffer | null>;
  /** From now on, it is read together with the other answers of this process. */
  readWithOthers: () => void;
  /** Must be called at the end. A connection whose response completes soon is reused for the next call. */
  leave: (isComplete: boolean) => void;
};

type Call = { url: string; headers: Record<string, string>; body: string; signal: AbortSignal; idleTimeoutMs: number };

/** Loaded with the first call: undici needs five megabytes of memory, which an idle server saves. */
let loading: Promise<Dispatcher> | undefined;
let agent: Dispatcher | undefined;

async function loadAgent(): Promise<Dispatcher> {
  const { Agent, EnvHttpProxyAgent } = await import('undici');
  // Each call has its own timeouts. Like Node's fetch, it uses a proxy if Node is configured to.
  const options = { allowH2: false, headersTimeout: 0, bodyTimeout: 0 };
  agent = process.env.NODE_USE_ENV_PROXY === '1' ? new EnvHttpProxyAgent(options) : new Agent(options);
  return agent;
}

function dispatch(...given: Parameters<Dispatcher['dispatch']>): void {
  if (agent) agent.dispatch(...given);
  else {
    loading ??= loadAgent();
    void loading.then((loaded) => loaded.dispatch(...given));
  }
}

const userAgent = 'Vestra/1.0';

/** Errors of an address where no server of this kind can be reached. */
const unreachable = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Beyond this limit, data waits in the vendor's socket until it is read. */
const mostUnread = 1_048_576;
const patienceMs = 1000;

type Place = { origin: string; path: string };

const places = new Map<string, Place>();
const mostPlaces = 100;

/** A model is called at the same URL each time, and parsing it costs as much as preparing a request. */
function placeOf(url: string): Place {
  const known = places.get(url);
  if (known) return known;
  const { origin, pathname, search } = new URL(url);
  const place = { origin, path: pathname + search };
  if (places.size === mostPlaces) places.clear();
  places.set(url, place);
  return place;
}

/** Ends on the caller's signal or the vendor's silence. Follows no redirect, which would send the key elsewhere. */
export function post({ url, headers, body, signal, idleTimeoutMs }: Call): Exchange {
  const { origin, path } = placeOf(url);
  let response: { status: number; headers: IncomingHttpHeaders } | null = null;
  let unread: Buffer[] = [];
  let unreadBytes = 0;
  let isEnded = false;
  let isLeft = false;
  let stopped: { reason: unknown } | null = null;
  let lost: Error | null = null;
  let controller: Dispatcher.DispatchController | null = null;
  let wake: (() => void) | null = null;
  let patience: NodeJS.Timeout | undefined;
  let endReading: (() => void) | null = null;

  const onNews = () => {
    wake?.();
    wake = null;
  };
  const close = () => controller?.abort(new ConnectionLost());
  const stop = (reason: unknown) => {
    stopped ??= { reason };
    close();
    onNews();
  };
  const onAbort = () => stop(signal.reason);
  // Time that the caller spends on received data does not count as the vendor's silence.
  const idle = setTimeout(() => (wake ? stop(new IdleTimeout()) : idle.refresh()), idleTimeoutMs);
  const news = () => {
    idle.refresh();
    return new Promise<void>((resolve) => {
      wake = resolve;
    });
  };

  signal.addEventListener('abort', onAbort, { once: true });
  const request = {
    origin,
    path,
    method: 'POST' as const,
    // Without this header, any compression is allowed, which some proxies use for streams.
    headers: { 'content-type': 'application/json', 'accept-encoding': 'identity', 'user-agent': userAgent, ...headers },
    body,
  };
  dispatch(request, {
    onRequestStart(started) {
      controller = started;
      if (stopped || isLeft) close();
    },
    onResponseStart(_controller, status, responseHeaders) {
      if (status < 200) return;
      response = { status, headers: responseHeaders };
      onNews();
    },
    onResponseData(receiving, chunk) {
      if (isLeft) return;
      unread.push(chunk);
      unreadBytes += chunk.length;
      if (unreadBytes > mostUnread) receiving.pause();
      if (endReading) whenToRead(onNews);
      else onNews();
    },
    onResponseEnd() {
      isEnded = true;
      clearTimeout(patience);
      onNews();
    },
    onResponseError(_controller, error) {
      // A header that cannot be sent will fail on a retry too.
      const code = 'code' in error ? String(error.code) : '';
      if (code === 'UND_ERR_INVALID_ARG') lost = error;
      else lost = unreachable.has(code) ? new Unreachable(code) : new ConnectionLost();
      clearTimeout(patience);
      onNews();
    },
  });

  return {
    async begun() {
      while (!response) {
        if (stopped) throw stopped.reason;
        if (lost) throw lost;
        await news();
      }
      return response;
    },

    async read() {
      for (;;) {
        if (stopped) throw stopped.reason;
        if (unread.length > 0) break;
        if (isEnded) return null;
        if (lost) throw lost;
        await news();
      }
      const bytes = unread.length === 1 ? (unread[0] as Buffer) : Buffer.concat(unread);
      unread = [];
      unreadBytes = 0;
      if (controller?.paused) controller.resume();
      return bytes;
    },

    readWithOthers() {
      if (!isLeft) endReading ??= beginReading();
    },

    leave(isComplete) {
      isLeft = true;
      endReading?.();
      endReading = null;
      unread = [];
      clearTimeout(idle);
      signal.removeEventListener('abort', onAbort);
      if (isEnded || lost) return;
      if (!isComplete) return close();
      if (controller?.paused) controller.resume();
      patience = setTimeout(close, patienceMs);
    },
  };
}
