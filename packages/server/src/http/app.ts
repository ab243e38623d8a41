import { routes } from '@vestra/contract/api';
import { type Failure, fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { type Route, sessionAccessOf } from '@vestra/contract/route';
import { type Context, Hono } from 'hono';
import type { Logger } from 'pino';
import { asFailure, errorBody, notReady, openaiErrorBody, toldPlainly } from './error-response.ts';
import type { AllHandlers, Incoming } from './handler.ts';
import { type Progress, type RequestPath, serve } from './mount.ts';
import { pageAccess, preflight } from './page-origin.ts';

type Endpoint = {
  name: string;
  route: Route;
  pattern: string;
  /** Absent while a route has none yet: it answers 501. */
  handler: ((incoming: Incoming<Route>) => Promise<unknown>) | undefined;
};

export type AppOptions = {
  path: RequestPath;
  handlers: AllHandlers;
  log: Logger;
  /** Pages and files that stand beside the API, such as the reference. */
  pages: (app: Hono) => void;
  addressOf: (context: Context) => string;
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
  const app = new Hono({ strict: true });
  const endpoints = endpointsOf(handlers);
  for (const endpoint of endpoints) {
    app.on(endpoint.route.method, endpoint.pattern, (context) => answer(context, endpoint));
  }
  pages(app);
  for (const [pattern, methods] of methodsByPattern(endpoints)) {
    app.all(pattern, (context) => answer(context, null, methods));
  }
  app.notFound((context) => answer(context, null));
  return app;

  async function answer(context: Context, found: Endpoint | null, others?: Methods): Promise<Response> {
    const startedAt = performance.now();
    const request = context.req.raw;
    const progress: Progress = { requestId: newId('req'), ip: addressOf(context), caller: null, rate: null };
    let response: Response;
    let code: string | null = null;
    let readableBy: Record<string, string> = {};
    try {
      // Health has an answer of its own for every state.
      if (isLeaving() && found?.name !== 'health.get') {
        throw notReady('The server is going down. Send the request again shortly.');
      }
      if (found) {
        readableBy = await pageAccess(path.embedOrigins, found.route, request);
        response = await serve(path, found.name, found.route, found.handler, request, context.req.param(), progress);
      } else {
        response = await answerOther(request, others);
      }
    } catch (error) {
      const failure = progress.caller?.session ? toldPlainly(asFailure(error)) : asFailure(error);
      code = failure.code;
      response = failed(error, failure, progress, found?.route.errorShape === 'openai' ? openaiErrorBody : errorBody);
      if (others) response.headers.set('allow', others.all.join(', '));
    }
    // What was not read is still on its way: the connection cannot carry another request.
    if (hasUnreadBody(request)) response.headers.set('connection', 'close');
    for (const [name, value] of Object.entries(readableBy)) response.headers.set(name, value);
    // Who asks decides what a browser may do with the answer, also where it may nothing.
    if (others?.ofPages.length || (found && sessionAccessOf(found.route))) response.headers.append('vary', 'Origin');
    const finished = withHeaders(response, progress);
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

  /** Of a path that has other methods, or none. */
  async function answerOther(request: Request, others: Methods | undefined): Promise<Response> {
    if (!others) throw fail('route_not_found');
    const asked = request.method === 'OPTIONS' && (await preflight(path.embedOrigins, others.ofPages, request));
    if (!asked) throw fail('method_not_allowed');
    return asked;
  }

  function failed(
    error: unknown,
    failure: Failure,
    progress: Progress,
    bodyOf: typeof errorBody | typeof openaiErrorBody,
  ): Response {
    if (failure.status === 500) log.error({ request_id: progress.requestId, err: error }, 'request failed');
    if (failure.status === 503) log.warn({ request_id: progress.requestId, reason: reasonOf(error) }, 'not ready');
    const response = Response.json(bodyOf(failure, progress.requestId), { status: failure.status });
    // Beyond twice the limit the rest was left unread, and would be taken for the next request.
    if (tooLarge.has(failure.code)) response.headers.set('connection', 'close');
    if (failure.status === 401) response.headers.set('www-authenticate', 'Bearer realm="vestra"');
    const { retry_after_ms } = failure.details;
    if (retry_after_ms !== undefined && (failure.status === 429 || failure.status === 503)) {
      response.headers.set('retry-after', String(Math.ceil(retry_after_ms / 1000)));
    }
    return response;
  }
}

const tooLarge: ReadonlySet<string> = new Set(['body_too_large', 'file_too_large']);

const hasUnreadBody = ({ headers, bodyUsed }: Request) =>
  !bodyUsed && (headers.has('transfer-encoding') || Number(headers.get('content-length') ?? 0) > 0);

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

function withHeaders(response: Response, { requestId, rate }: Progress): Response {
  const { headers } = response;
  headers.set('request-id', requestId);
  headers.set('x-content-type-options', 'nosniff');
  headers.set('referrer-policy', 'no-referrer');
  // Nothing is kept but what says itself for how long.
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store');
  if (rate) {
    headers.set('ratelimit-policy', `"default";q=${rate.limit};w=60`);
    headers.set('ratelimit', `"default";r=${rate.left};t=${rate.secondsToReset}`);
  }
  return response;
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
