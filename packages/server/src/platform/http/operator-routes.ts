import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { getConnInfo } from '@hono/node-server/conninfo';
import { type Failure, fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { Context, Hono } from 'hono';
import ipaddr from 'ipaddr.js';
import { errorBody } from './error-response.ts';

type Format = 'prometheus' | 'openmetrics';

type Options = {
  /** Whether this process can serve, with the result of each check. */
  health: () => Promise<{ isReady: boolean; checks: Record<string, { status: string; message: string | null }> }>;
  metrics: (format: Format) => Promise<string>;
  metricsToken: (() => string) | null;
};

/** Routes for the operator's monitoring. They are not part of the versioned API. */
export const operatorRoutes =
  ({ health, metrics, metricsToken }: Options) =>
  (app: Hono) => {
    // Any response is enough: a process whose event loop hangs sends none.
    app.get('/health/live', () => json(200, { status: 'live' }));

    app.get('/health/ready', async () => {
      const { isReady, checks } = await health();
      return json(isReady ? 200 : 503, { status: isReady ? 'ready' : 'not_ready', checks });
    });

    app.get('/metrics', async (context) => {
      const { headers } = context.req.raw;
      const refusal = refuseMetrics(socketAddressOf(context), headers, metricsToken?.() ?? null);
      if (refusal) return refused(refusal);
      const format = wantedFormat(headers.get('accept') ?? '');
      return new Response(await metrics(format), { headers: { ...common, 'content-type': contentTypes[format] } });
    });
  };

const common = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' };

const contentTypes: Record<Format, string> = {
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

const wantedFormat = (accept: string): Format =>
  /application\/openmetrics-text(?![^,]*;\s*q=0(\.0*)?\s*(,|;|$))/i.test(accept) ? 'openmetrics' : 'prometheus';

/** The address of the socket, not of a header. Requests without a socket have none. */
const socketAddressOf = (context: Context): string =>
  context.env?.incoming ? (getConnInfo(context).remote.address ?? '') : '';

function refused(failure: Failure): Response {
  const response = json(failure.status, errorBody(failure, newId('req')));
  if (failure.status === 401) response.headers.set('www-authenticate', 'Bearer realm="vestra"');
  return response;
}

const json = (status: number, body: unknown) => Response.json(body, { status, headers: common });

/** Headers that proxies add. A request with one of them came from elsewhere, even if its socket is local. */
const proxyHeaders = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-port',
  'x-forwarded-server',
  'x-original-forwarded-for',
  'x-real-ip',
  'x-client-ip',
  'x-envoy-external-address',
  'true-client-ip',
  'cf-connecting-ip',
  'cdn-loop',
];

/**
 * Allows the operator's token, and direct requests from this machine. Returns null if the request may read the metrics.
 *
 * A page can point its own host name at 127.0.0.1, so the host name must be local too. Without a token, other requests
 * get 404 and do not learn that the route exists.
 */
export function refuseMetrics(socketAddress: string, headers: Headers, token: string | null): Failure | null {
  const authorization = headers.get('authorization');
  if (authorization === null && isOwnMachine(socketAddress, headers)) return null;
  if (token === null) return fail('route_not_found');
  if (authorization === null) return fail('key_missing', { message: 'Send VESTRA_METRICS_TOKEN as bearer token.' });
  const given = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(authorization)?.[1];
  if (given !== undefined && isSame(given, token)) return null;
  return fail('key_invalid', { message: 'This is not the token that VESTRA_METRICS_TOKEN holds.' });
}

function isOwnMachine(socketAddress: string, headers: Headers): boolean {
  return (
    isLoopback(socketAddress) &&
    isLoopbackName(headers.get('host') ?? '') &&
    !proxyHeaders.some((name) => headers.has(name))
  );
}

const isLoopback = (address: string) => isIP(address) !== 0 && ipaddr.process(address).range() === 'loopback';

function isLoopbackName(host: string): boolean {
  const name = host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  return name.toLowerCase() === 'localhost' || isLoopback(name);
}

/** Compares in constant time. */
const isSame = (given: string, token: string) => timingSafeEqual(digest(given), digest(token));

const digest = (text: string) => createHash('sha256').update(text).digest();
