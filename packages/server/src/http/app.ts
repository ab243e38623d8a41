import { routes } from '@vestra/contract/api';
import { type Failure, fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { Route } from '@vestra/contract/route';
import { type Context, Hono } from 'hono';
import type { Logger } from 'pino';
import { asFailure, errorBody, notReady, openaiErrorBody, toldPlainly } from './error-response.ts';
import type { AllHandlers, Incoming } from './handler.ts';
import { type Progress, type RequestPath, serve } from './mount.ts';

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

  async function answer(context: Context, found: Endpoint | null, otherMethods?: string[]): Promise<Response> {
    const startedAt = performance.now();
    const request = context.req.raw;
    const progress: Progress = { requestId: newId('req'), ip: addressOf(context), caller: null, rate: null };
    let response: Response;
    let code: string | null = null;
    try {
      // Health has an answer of its own for every state.
      if (isLeaving() && found?.name !== 'health.get') {
        throw notReady('The server is going down. Send the request again shortly.');
      }
      if (!found) throw otherMethods ? fail('method_not_allowed') : fail('route_not_found');
      response = await serve(path, found.name, found.route, found.handler, request, context.req.param(), progress);
    } catch (error) {
      const failure = progress.caller?.session ? toldPlainly(asFailure(error)) : asFailure(error);
      code = failure.code;
      response = failed(error, failure, progress, found?.route.errorShape === 'openai' ? openaiErrorBody : errorBody);
      if (otherMethods) response.headers.set('allow', otherMethods.join(', '));
    }
    // What was not read is still on its way: the connection cannot carry another request.
    if (hasUnreadBody(request)) response.headers.set('connection', 'close');
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

function methodsByPattern(endpoints: readonly Endpoint[]): Map<string, string[]> {
  const methods = new Map<string, string[]>();
  for (const { pattern, route } of endpoints)
    methods.set(pattern, [...(methods.get(pattern) ?? []), route.method].sort());
  return methods;
}
