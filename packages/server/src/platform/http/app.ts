import { routes } from '@vestra/contract/api';
import { type Failure, fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { sessionAccessOf } from '@vestra/contract/route';
import { type Context, Hono } from 'hono';
import type { Logger } from 'pino';
import { challengeOf } from './challenge.ts';
import { asFailure, errorBodies, notReady, toldPlainly } from './error-response.ts';
import type { AllHandlers } from './handler.ts';
import { type Answer, type Endpoint, type Progress, type RequestPath, serve, type WrittenAnswer } from './mount.ts';
import { isOfOpenai, nearestRoute } from './no-such-route.ts';
import { pageAccess, preflight } from './page-origin.ts';

export type AppOptions = {
  path: RequestPath;
  handlers: AllHandlers;
  log: Logger;
  /** Pages and files that stand beside the API, such as the reference. */
  pages: (app: Hono) => void;
  addressOf: (context: Context) => string;
  /** Whether one of the edges asks, for whoever has called it. */
  isFromEdge?: (context: Context) => boolean;
  /** Where MCP clients read how they are let in. */
  resourceMetadata?: string;
  /** From then on what comes in is refused; what has begun is answered. */
  isLeaving?: () => boolean;
  /** Told of each answer, and of the code where it is an error. */
  answered?: (of: {
    method: string;
    route: string | null;
    status: number;
    code: string | null;
    seconds: number;
  }) => void;
};

/** The whole table as one web-standard app: it answers a `Request`, with or without a socket. */
export function createApp(options: AppOptions): Hono {
  const { path, handlers, log, pages, addressOf, isLeaving = () => false, answered } = options;
  const { isFromEdge = () => false, resourceMetadata } = options;
  const app = new Hono({ strict: true });
  const endpoints = endpointsOf(handlers);
  for (const endpoint of endpoints) {
    app.on(endpoint.route.method, endpoint.pattern, (context) => answer(context, endpoint));
  }
  pages(app);
  // A table of its own: in the one above each request would match two handlers, which Hono takes a slower way with.
  const otherMethods = new Hono({ strict: true });
  for (const [pattern, methods] of methodsByPattern(endpoints)) {
    otherMethods.all(pattern, (context) => answer(context, null, methods));
  }
  otherMethods.notFound((context) => answer(context, null));
  app.notFound((context) => otherMethods.fetch(context.req.raw, context.env));
  return app;

  async function answer(context: Context, found: Endpoint | null, others?: Methods): Promise<Response> {
    const startedAt = performance.now();
    const request = context.req.raw;
    const progress: Progress = {
      requestId: newId('req'),
      ip: addressOf(context),
      isFromEdge: isFromEdge(context),
      caller: null,
      rate: null,
    };
    let given: Answer;
    let code: string | null = null;
    let readableBy: Record<string, string> = {};
    try {
      // Health has an answer of its own for every state. What an edge asks belongs to a request that came in before.
      if (isLeaving() && !progress.isFromEdge && found?.name !== 'health.get') {
        throw notReady('The server is going down. Send the request again shortly.');
      }
      if (found) {
        readableBy = await pageAccess(path.embedOrigins, found.route, request);
        given = await serve(path, found, { request, rawParams: context.req.param(), progress });
      } else {
        given = await answerOther(request, others);
      }
    } catch (error) {
      const failure = progress.caller?.session ? toldPlainly(asFailure(error)) : asFailure(error);
      code = failure.code;
      given = failed(error, failure, progress, errorBodies[shapeOf(found, context.req.path)]);
      const challenge = challengeOf(failure, found?.route, resourceMetadata);
      if (challenge !== null) given.headers['www-authenticate'] = challenge;
      if (others) given.headers.allow = others.all.join(', ');
    }
    const finished = asResponse(given, {
      ...readableBy,
      // What was not read is still on its way: the connection cannot carry another request.
      ...(hasUnreadBody(request) && { connection: 'close' }),
      // Who asks decides what a browser may do with the answer, also where it may nothing.
      ...((others?.ofPages.length || (found && sessionAccessOf(found.route))) && { vary: 'Origin' }),
      ...headersOf(progress),
    });
    const ms = performance.now() - startedAt;
    const route = found?.route.path ?? null;
    answered?.({ method: request.method, route, status: finished.status, code, seconds: ms / 1000 });
    log.info(
      {
        request_id: progress.requestId,
        method: request.method,
        route,
        status: finished.status,
        ms: Math.round(ms * 10) / 10,
        org_id: progress.caller?.orgId,
        actor_id: progress.caller?.actor.id,
      },
      'request',
    );
    return finished;
  }

  function shapeOf(found: Endpoint | null, pathname: string): keyof typeof errorBodies {
    if (found) return found.route.errorShape ?? 'own';
    return isOfOpenai(pathname) ? 'openai' : 'own';
  }

  /** Of a path that has other methods, or none. */
  async function answerOther(request: Request, others: Methods | undefined): Promise<Response> {
    if (!others) {
      const message = nearestRoute(request.method, new URL(request.url).pathname);
      throw fail('route_not_found', message === undefined ? {} : { message });
    }
    const asked = request.method === 'OPTIONS' && (await preflight(path.embedOrigins, others.ofPages, request));
    if (!asked) throw fail('method_not_allowed');
    return asked;
  }

  function failed(
    error: unknown,
    failure: Failure,
    progress: Progress,
    bodyOf: (typeof errorBodies)[keyof typeof errorBodies],
  ): WrittenAnswer {
    if (failure.status === 500) log.error({ request_id: progress.requestId, err: error }, 'request failed');
    if (failure.status === 503) log.warn({ request_id: progress.requestId, reason: reasonOf(error) }, 'not ready');
    const headers: WrittenAnswer['headers'] = { 'content-type': 'application/json' };
    // Beyond twice the limit the rest was left unread, and would be taken for the next request.
    if (tooLarge.has(failure.code)) headers.connection = 'close';
    const { retry_after_ms } = failure.details;
    if (retry_after_ms !== undefined && (failure.status === 429 || failure.status === 503)) {
      headers['retry-after'] = String(Math.ceil(retry_after_ms / 1000));
    }
    return { status: failure.status, body: JSON.stringify(bodyOf(failure, progress.requestId)), headers };
  }
}

const tooLarge: ReadonlySet<string> = new Set(['body_too_large', 'file_too_large']);

const hasUnreadBody = ({ headers, bodyUsed }: Request) =>
  !bodyUsed && (headers.has('transfer-encoding') || Number(headers.get('content-length') ?? 0) > 0);

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

const headersOf = ({ requestId, rate }: Progress): Record<string, string> => ({
  'request-id': requestId,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  ...(rate && {
    'ratelimit-policy': `"default";q=${rate.limit};w=60`,
    ratelimit: `"default";r=${rate.left};t=${rate.secondsToReset}`,
  }),
});

/** Nothing is kept but what says itself for how long. */
const notKept = { 'cache-control': 'no-store' };

/** A written answer becomes a Response once, with a plain object: a Headers object costs as much as all that is looked up for it. */
function asResponse(given: Answer, added: Record<string, string>): Response {
  if (!(given instanceof Response)) {
    return new Response(given.body, {
      status: given.status,
      headers: sendable({ ...notKept, ...added, ...given.headers }),
    });
  }
  const { vary, ...others } = added;
  const { headers } = given;
  for (const [name, value] of Object.entries(others)) headers.set(name, value);
  if (vary) headers.append('vary', vary);
  if (!headers.has('cache-control')) headers.set('cache-control', notKept['cache-control']);
  return given;
}

/** A header that is sent twice, as two cookies are, is none that a plain object can tell. */
function sendable(given: WrittenAnswer['headers']): Headers | Record<string, string> {
  if (!Object.values(given).some(Array.isArray)) return given as Record<string, string>;
  const headers = new Headers();
  for (const [name, values] of Object.entries(given)) for (const value of [values].flat()) headers.append(name, value);
  return headers;
}

/** `/v1/keys/{key_id}` → `/v1/keys/:key_id`; a literal segment before a parameter, so that `accept` is no member. */
function endpointsOf(handlers: AllHandlers): Endpoint[] {
  const endpoints = routes.map(({ name, family, operation, route }) => {
    const ofFamily = handlers[family] as Record<string, Endpoint['handler']> | undefined;
    return { name, route, handler: ofFamily?.[operation], pattern: route.path.replace(/\{(\w+)\}/g, ':$1') };
  });
  const literalFirst = ({ pattern }: Endpoint) => pattern.replaceAll(':', '~');
  return endpoints.sort((a, b) => (literalFirst(a) < literalFirst(b) ? -1 : 1));
}

/** `ofPages`: those that take a session token, which a company's own page may hold. */
type Methods = { all: string[]; ofPages: string[] };

function methodsByPattern(endpoints: readonly Endpoint[]): Map<string, Methods> {
  const patterns = Map.groupBy(endpoints, ({ pattern }) => pattern);
  const methodsOf = (those: readonly Endpoint[]) => those.map(({ route }) => route.method).sort();
  return new Map(
    [...patterns].map(([pattern, those]) => [
      pattern,
      { all: methodsOf(those), ofPages: methodsOf(those.filter(({ route }) => sessionAccessOf(route))) },
    ]),
  );
}
