import type { Caller } from '../caller.ts';
import { RouteFailure, readRefusal } from './refusal.ts';
import { readEvents, type StreamedEvent } from './streamed-events.ts';

/** A request to an edge, as far as an edge looks at it. */
export type EdgeRequest = {
  headers: Headers;
  body: unknown;
  requestId: string;
  ip: string;
  signal: AbortSignal;
  caller: Caller;
};

/** Has the app answer a request that came over no socket; `ip` is the address of whoever is behind it. */
export type AnswerRequest = (request: Request, ip: string) => Response | Promise<Response>;

export type RouteCall = {
  method: string;
  path: string;
  query?: Readonly<Record<string, string | number | undefined>>;
  body?: unknown;
  form?: FormData;
  headers?: Readonly<Record<string, string>>;
  /** Whoever stops waiting; what the route has begun goes on. */
  signal?: AbortSignal;
};

/** The routes of the API, called as whoever called the edge. */
export type OwnRoutes = {
  /** The `Idempotency-Key` of the call to the edge, as a header for the one call that begins something. */
  once: Readonly<Record<string, string>>;
  respond: (call: RouteCall) => Promise<Response>;
  /** The answer of a route; a refusal is thrown. */
  call: <Body>(call: RouteCall) => Promise<Body>;
  /** The events of a route that streams; a refusal is thrown. Whoever leaves the loop closes the stream. */
  follow: <Event extends StreamedEvent>(call: RouteCall) => AsyncGenerator<Event, void, undefined>;
};

/** A credential goes along as it came, so that scope, rate limit, audit and validation are the route's own. */
const passedOn = ['authorization', 'cookie', 'x-csrf-token', 'service-mode', 'service-org'];

export function ownRoutes(answer: AnswerRequest, { headers, ip, signal }: EdgeRequest): OwnRoutes {
  const credential = passedOn.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });

  const respond = async ({ method, path, query = {}, body, form, headers: more = {}, signal: own }: RouteCall) => {
    const url = new URL(path, 'http://vestra.internal');
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const given = body === undefined ? form : JSON.stringify(body);
    const request = new Request(url, {
      method,
      headers: {
        ...Object.fromEntries(credential),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...more,
      },
      ...(given !== undefined && { body: given }),
      signal: own ? AbortSignal.any([own, signal]) : signal,
    });
    return answer(request, ip);
  };

  const accepted = async (call: RouteCall) => {
    const response = await respond(call);
    if (response.ok) return response;
    throw new RouteFailure(await readRefusal(response));
  };

  const key = headers.get('idempotency-key');
  return {
    once: key === null ? {} : { 'idempotency-key': key },
    respond,
    call: async <Body>(call: RouteCall) => (await (await accepted(call)).json()) as Body,
    async *follow<Event extends StreamedEvent>(call: RouteCall) {
      const { body } = await accepted(call);
      if (body) yield* readEvents<Event>(body);
    },
  };
}
