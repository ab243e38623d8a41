import { routes } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { Route } from '@vestra/contract/route';
import { type Context, Hono } from 'hono';
import type { Logger } from 'pino';
import { asFailure, errorBody } from './error-response.ts';
import type { AllHandlers, Incoming } from './handler.ts';
import { type Progress, type RequestPath, serve } from './mount.ts';

type Method = { name: string; route: Route; handler: ((incoming: Incoming<Route>) => Promise<unknown>) | undefined };

export type AppOptions = {
  path: RequestPath;
  handlers: AllHandlers;
  log: Logger;
  /** Pages and files that stand beside the API, such as the reference. */
  pages: (app: Hono) => void;
  addressOf: (context: Context) => string;
};

/** The whole table as one web-standard app: it answers a `Request`, with or without a socket. */
export function createApp({ path, handlers, log, pages, addressOf }: AppOptions): Hono {
  const app = new Hono({ strict: true });
  for (const [pattern, methods] of byPath(handlers)) {
    app.all(pattern, (context) => answer(context, methods));
  }
  pages(app);
  app.notFound((context) => answer(context, new Map()));
  return app;

  async function answer(context: Context, methods: Map<string, Method>): Promise<Response> {
    const startedAt = performance.now();
    const request = context.req.raw;
    const progress: Progress = { requestId: newId('req'), ip: addressOf(context), caller: null, rate: null };
    const found = methods.get(request.method === 'HEAD' ? 'GET' : request.method);
    let response: Response;
    try {
      if (!found) throw methods.size === 0 ? fail('route_not_found') : fail('method_not_allowed');
      response = await serve(path, found.name, found.route, found.handler, request, context.req.param(), progress);
    } catch (error) {
      response = failed(error, progress);
      if (!found && methods.size > 0) response.headers.set('allow', [...methods.keys()].join(', '));
    }
    // What was not read is still on its way: the connection cannot carry another request.
    if (hasUnreadBody(request)) response.headers.set('connection', 'close');
    const finished = withHeaders(response, progress);
    log.info(
      {
        request_id: progress.requestId,
        method: request.method,
        route: found?.route.path ?? null,
        status: finished.status,
        ms: Math.round((performance.now() - startedAt) * 10) / 10,
        org_id: progress.caller?.orgId,
        actor_id: progress.caller?.actor.id,
      },
      'request',
    );
    return finished;
  }

  function failed(error: unknown, progress: Progress): Response {
    const failure = asFailure(error);
    if (failure.status === 500) log.error({ request_id: progress.requestId, err: error }, 'request failed');
    if (failure.status === 503) log.warn({ request_id: progress.requestId, reason: reasonOf(error) }, 'not ready');
    const response = Response.json(errorBody(failure, progress.requestId), { status: failure.status });
    const { retry_after_ms } = failure.details;
    if (retry_after_ms !== undefined && failure.status === 429) {
      response.headers.set('retry-after', String(Math.ceil(retry_after_ms / 1000)));
    }
    return response;
  }
}

const hasUnreadBody = ({ headers, bodyUsed }: Request) =>
  !bodyUsed && (headers.has('transfer-encoding') || Number(headers.get('content-length') ?? 0) > 0);

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

function withHeaders(response: Response, { requestId, rate }: Progress): Response {
  const { headers } = response;
  headers.set('request-id', requestId);
  headers.set('x-content-type-options', 'nosniff');
  headers.set('referrer-policy', 'no-referrer');
  headers.set('cache-control', 'no-store');
  if (rate) {
    headers.set('ratelimit-policy', `"default";q=${rate.limit};w=60`);
    headers.set('ratelimit', `"default";r=${rate.left};t=${rate.secondsToReset}`);
  }
  return response;
}

/** `/v1/keys/{key_id}` → `/v1/keys/:key_id`, with every method that the table has for it. */
function byPath(handlers: AllHandlers): Map<string, Map<string, Method>> {
  const paths = new Map<string, Map<string, Method>>();
  for (const { name, family, operation, route } of routes) {
    const pattern = route.path.replace(/\{(\w+)\}/g, ':$1');
    const methods = paths.get(pattern) ?? new Map<string, Method>();
    const ofFamily = handlers[family] as Record<string, Method['handler']> | undefined;
    methods.set(route.method, { name, route, handler: ofFamily?.[operation] });
    paths.set(pattern, methods);
  }
  // A literal segment comes before a parameter: /v1/members/accept is not a member called accept.
  return new Map([...paths].sort(([a], [b]) => (a.replaceAll(':', '~') < b.replaceAll(':', '~') ? -1 : 1)));
}
