import { fail } from '@vestra/contract/errors';
import { check } from '@vestra/contract/fault';
import { protocols } from '@vestra/contract/protocols';
import { type Client, createClient } from '@vestra/sdk/client';
import type { Caller } from '../platform/caller.ts';
import { restarting } from './refusal.ts';

/** A request to an edge, as far as an edge looks at it. */
export type EdgeRequest = {
  headers: Headers;
  body: unknown;
  bodyDigest: string;
  requestId: string;
  ip: string;
  signal: AbortSignal;
  caller: Caller;
};

/** Has the app answer a request that came over no socket; `ip` is the address of whoever is behind it. */
export type AnswerRequest = (request: Request, ip: string) => Response | Promise<Response>;

/** A credential goes along as it came, so that scope, rate limit, audit and validation are the route's own. */
const passedOn = ['authorization', 'cookie', 'x-csrf-token', 'service-mode', 'service-org'];

/** As long as no route works; whoever called the edge says how long they wait. */
const longestAnswerMs = 3_600_000;

/** The routes of the API, called as whoever called the edge and for as long as they stay. */
export function ownClient(answer: AnswerRequest, { headers, ip, signal }: EdgeRequest): Client {
  const credential = passedOn.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return createClient({
    baseUrl: 'http://vestra.internal',
    headers: Object.fromEntries(credential),
    signal,
    // A refusal is the caller's to hear, and the caller's to try again.
    retries: 0,
    timeoutMs: longestAnswerMs,
    // There is no connection to lose here: a stream that ends early does because the server goes down.
    sleep: (_ms, over) => (over?.aborted ? Promise.resolve() : Promise.reject(restarting())),
    fetch: async (input, init) => answer(new Request(input, init), ip),
  });
}

/** The key of the one call that begins something. */
export const idempotencyKeyOf = ({ headers }: EdgeRequest): string | undefined =>
  headers.get('idempotency-key') ?? undefined;

/** Whom a client speaks for by its header; undefined where it names nobody. */
export function readServiceUser(headers: Headers): string | undefined {
  const given = headers.get('service-user');
  if (given === null) return undefined;
  const read = check(protocols.a2a.headers, { 'Service-User': given }, 'invalid_request');
  if (read.ok) return given;
  throw fail('invalid_request', { param: 'Service-User', message: read.faults[0].message });
}
