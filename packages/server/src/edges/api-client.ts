import { fail } from '@vestra/contract/errors';
import { check } from '@vestra/contract/fault';
import { protocols } from '@vestra/contract/protocols';
import { type Client, createClient } from '@vestra/sdk/client';
import type { Caller } from '../platform/caller.ts';
import { restarting } from './refusal.ts';

/** The fields of a request that an edge uses. */
export type EdgeRequest = {
  headers: Headers;
  body: unknown;
  bodyDigest: string;
  requestId: string;
  ip: string;
  signal: AbortSignal;
  caller: Caller;
};

/** Handles a request without a socket. `ip` is the address of the original client. */
export type HandleRequest = (request: Request, ip: string) => Response | Promise<Response>;

/**
 * Credentials are passed on unchanged, so that the route checks scope, rate limit and input, and writes the audit log.
 */
const passedOn = ['authorization', 'cookie', 'x-csrf-token', 'service-mode', 'service-org'];

/** Longer than any route takes. The client of the edge decides how long it waits. */
const maxResponseMs = 3_600_000;

/** Calls the routes of the API as the client of the edge, until that client disconnects. */
export function apiClientFor(answer: HandleRequest, { headers, ip, signal }: EdgeRequest): Client {
  const credential = passedOn.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return createClient({
    baseUrl: 'http://vestra.internal',
    headers: Object.fromEntries(credential),
    signal,
    // The client sees the refusal and decides about a retry.
    retries: 0,
    timeoutMs: maxResponseMs,
    // There is no connection to lose here, so a stream ends early only if the server shuts down.
    sleep: (_ms, over) => (over?.aborted ? Promise.resolve() : Promise.reject(restarting())),
    fetch: async (input, init) => answer(new Request(input, init), ip),
  });
}

/** The key for the one request that creates something. */
export const idempotencyKeyOf = ({ headers }: EdgeRequest): string | undefined =>
  headers.get('idempotency-key') ?? undefined;

/** The user whom the client acts for; undefined if it names none. */
export function readServiceUser(headers: Headers): string | undefined {
  const given = headers.get('service-user');
  if (given === null) return undefined;
  const read = check(protocols.a2a.headers, { 'Service-User': given }, 'invalid_request');
  if (read.ok) return given;
  throw fail('invalid_request', { param: 'Service-User', message: read.faults[0].message });
}
