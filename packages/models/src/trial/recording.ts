import { isUtf8 } from 'node:buffer';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { redactHeaders, redactUrl, removed } from './redact.ts';

/** One request and its response, without secrets. */
type RecordedExchange = {
  check: string;
  request: { method: string; url: string; headers: Record<string, string>; body: string };
  response: { status: number; headers: Record<string, string>; body: string; encoding: 'utf8' | 'base64' } | null;
  error: string | null;
};

export type Recorder = {
  /** The name of the check to which the following requests belong. */
  begin: (check: string) => void;
  /** The number of requests since `begin`. */
  count: () => number;
  /** The last response since `begin`; null if there was none. */
  last: () => { status: number; contentType: string; body: string } | null;
  exchanges: () => RecordedExchange[];
  close: () => void;
};

/** The part of undici's request that its diagnostics channels publish. */
type SentRequest = {
  origin: string | URL;
  path: string;
  method: string;
  headers: readonly string[] | string;
  body: unknown;
};

type OpenExchange = {
  check: string;
  sent: SentRequest;
  /** The body, if it is written piece by piece, as `fetch` does. */
  written: Buffer[];
  status: number | null;
  headers: Record<string, string>;
  chunks: Buffer[];
  error: string | null;
};

/** A longer response is recorded up to here. */
const mostBytes = 4_194_304;

/**
 * Records every request of this process through undici's diagnostics channels. The vendor clients stay as they are in
 * a server, and signed requests stay valid, which a recording proxy would break.
 */
export function startRecorder(redact: (text: string) => string): Recorder {
  const known = new Map<object, OpenExchange>();
  let check = '';
  const current = () => [...known.values()].filter((exchange) => exchange.check === check);
  const listeners: Record<string, (message: unknown) => void> = {
    'undici:request:create': (message) => {
      const { request } = message as { request: SentRequest };
      if (request.method === 'CONNECT') return;
      known.set(request, { check, sent: request, written: [], status: null, headers: {}, chunks: [], error: null });
    },
    'undici:request:bodyChunkSent': (message) => {
      const { request, chunk } = message as { request: object; chunk: Uint8Array | string };
      known.get(request)?.written.push(Buffer.from(chunk as Uint8Array));
    },
    'undici:request:headers': (message) => {
      const { request, response } = message as {
        request: object;
        response: { statusCode: number; headers: readonly (Buffer | string)[] };
      };
      const exchange = known.get(request);
      if (!exchange || response.statusCode < 200) return;
      exchange.status = response.statusCode;
      exchange.headers = pairsOf(response.headers);
    },
    'undici:request:bodyChunkReceived': (message) => {
      const { request, chunk } = message as { request: object; chunk: Buffer };
      const exchange = known.get(request);
      if (exchange && sizeOf(exchange.chunks) < mostBytes) exchange.chunks.push(Buffer.from(chunk));
    },
    'undici:request:error': (message) => {
      const { request, error } = message as { request: object; error: Error };
      const exchange = known.get(request);
      if (exchange) exchange.error = redact(error.message || error.name);
    },
  };
  for (const [name, listener] of Object.entries(listeners)) subscribe(name, listener);
  return {
    begin: (name) => {
      check = name;
    },
    count: () => current().length,
    last: () => {
      const exchange = current().findLast(({ status }) => status !== null);
      if (!exchange) return null;
      const contentType = exchange.headers['content-type'] ?? '';
      return {
        status: exchange.status ?? 0,
        contentType,
        body: redact(Buffer.concat(exchange.chunks).toString('utf8')),
      };
    },
    exchanges: () => [...known.values()].map((exchange) => recorded(exchange, redact)),
    close: () => {
      for (const [name, listener] of Object.entries(listeners)) unsubscribe(name, listener);
    },
  };
}

const sizeOf = (chunks: readonly Buffer[]) => chunks.reduce((sum, { length }) => sum + length, 0);

function recorded(
  { check, sent, written, status, headers, chunks, error }: OpenExchange,
  redact: (text: string) => string,
) {
  const asked = pairsOf(typeof sent.headers === 'string' ? sent.headers.split(/: |\r\n/) : sent.headers);
  // Access tokens are requested with a form, whose content is a secret as a whole.
  const isForm = (asked['content-type'] ?? '').includes('urlencoded');
  const bytes = Buffer.concat(chunks);
  const isText = isUtf8(bytes);
  // Binary frames may hold text too, so secrets are removed byte by byte.
  const body = isText
    ? redact(bytes.toString('utf8'))
    : Buffer.from(redact(bytes.toString('latin1')), 'latin1').toString('base64');
  const exchange: RecordedExchange = {
    check,
    request: {
      method: sent.method,
      url: redact(redactUrl(new URL(sent.path, sent.origin).href)),
      headers: redactedHeaders(asked, redact),
      body: isForm ? removed : redact(textOf(sent.body) || Buffer.concat(written).toString('utf8')),
    },
    response:
      status === null
        ? null
        : { status, headers: redactedHeaders(headers, redact), body, encoding: isText ? 'utf8' : 'base64' },
    error,
  };
  return exchange;
}

const redactedHeaders = (headers: Record<string, string>, redact: (text: string) => string) =>
  Object.fromEntries(Object.entries(redactHeaders(headers)).map(([name, value]) => [name, redact(value)]));

function textOf(body: unknown): string {
  if (typeof body === 'string') return body;
  return body instanceof Uint8Array ? Buffer.from(body).toString('utf8') : '';
}

/** Headers are a flat list of names and values. */
function pairsOf(list: readonly (Buffer | string)[]): Record<string, string> {
  const pairs: Record<string, string> = {};
  for (let at = 0; at + 1 < list.length; at += 2) pairs[String(list[at]).toLowerCase()] = String(list[at + 1]);
  return pairs;
}
