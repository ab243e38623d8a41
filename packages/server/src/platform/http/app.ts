import { routes } from '@vestra/contract/api';
import { Failure, fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { distanceOf } from '@vestra/contract/nearest';
import { sessionAccessOf } from '@vestra/contract/route';
import { type Context, Hono } from 'hono';
import type { Logger } from 'pino';
import { embedCorsHeaders, preflight } from './embed-cors.ts';
import { asFailure, challengeOf, errorFormatOf, notReady, withPlainMessage } from './error-response.ts';
import type { AllHandlers } from './handler.ts';
import {
  type Endpoint,
  type PipelineContext,
  type PipelineResponse,
  type RequestProgress,
  serve,
  type WrittenResponse,
} from './request-pipeline.ts';

export type AppOptions = {
  path: PipelineContext;
  handlers: AllHandlers;
  log: Logger;
  /** Pages and files beside the API, such as the reference. */
  pages: (app: Hono) => void;
  addressOf: (context: Context) => string;
  /** Whether an edge sent the request on behalf of its caller. */
  isFromEdge?: (context: Context) => boolean;
  /** The address at which MCP clients read how to sign in. */
  resourceMetadata?: string;
  /** When it returns true, the server refuses new requests and finishes the others. */
  isLeaving?: () => boolean;
  /** Called for each response, with the error code if there is one. */
  answered?: (of: {
    method: string;
    route: string | null;
    status: number;
    code: string | null;
    seconds: number;
  }) => void;
};

/** The routes of the contract as one web-standard app. It handles a `Request` with or without a socket. */
export function createApp(options: AppOptions): Hono {
  const { path, handlers, log, pages, addressOf, isLeaving = () => false, answered } = options;
  const { isFromEdge = () => false, resourceMetadata } = options;
  const app = new Hono({ strict: true });
  const endpoints = endpointsOf(handlers);
  for (const endpoint of endpoints) {
    app.on(endpoint.route.method, endpoint.pattern, (context) => answer(context, endpoint));
  }
  pages(app);
  // A separate app: if a request matches two handlers, Hono takes a slower path.
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
    const progress: RequestProgress = {
      requestId: newId('req'),
      ip: addressOf(context),
      isFromEdge: isFromEdge(context),
      caller: null,
      rate: null,
    };
    let given: PipelineResponse;
    let code: string | null = null;
    let readableBy: Record<string, string> = {};
    try {
      // The health route reports every state itself. A request from an edge belongs to one that is already in progress.
      if (isLeaving() && !progress.isFromEdge && found?.name !== 'health.get') {
        throw notReady('The server is going down. Send the request again shortly.');
      }
      if (found) {
        readableBy = await embedCorsHeaders(path.embedOrigins, found.route, request);
        given = await serve(path, found, { request, rawParams: context.req.param(), progress });
      } else {
        given = await handleOther(request, others);
      }
    } catch (error) {
      if (hasClientGone(request, error)) {
        given = { status: clientClosedRequest, body: '', headers: {} };
      } else {
        const failure = progress.caller?.session ? withPlainMessage(asFailure(error)) : asFailure(error);
        code = failure.code;
        const bodyOf = errorFormatOf(failure, found?.route, isOpenaiPath(context.req.path) ? 'openai' : 'own');
        given = failed(error, failure, progress, bodyOf);
        const challenge = challengeOf(failure, found?.route, resourceMetadata);
        if (challenge !== null) given.headers['www-authenticate'] = challenge;
        if (others) given.headers.allow = others.all.join(', ');
      }
    }
    const finished = asResponse(given, {
      ...readableBy,
      // The client is still sending the unread body, so the connection cannot carry another request.
      ...((hasUnreadBody(request) || progress.isCut) && { connection: 'close' }),
      // The response depends on the origin, even if that origin has no access, so caches must know.
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

  /** Handles a path that exists only with other methods, or not at all. */
  async function handleOther(request: Request, others: Methods | undefined): Promise<Response> {
    if (!others) {
      throw fail('route_not_found', { message: routeHint(request.method, new URL(request.url).pathname) });
    }
    const asked = request.method === 'OPTIONS' && (await preflight(path.embedOrigins, others.ofPages, request));
    if (!asked) {
      const message = `This route does not accept ${request.method}. Send ${others.all.join(' or ')}.`;
      throw fail('method_not_allowed', { message });
    }
    return asked;
  }

  function failed(
    error: unknown,
    failure: Failure,
    progress: RequestProgress,
    bodyOf: (failure: Failure, requestId: string) => object,
  ): WrittenResponse {
    if (failure.status === 500) log.error({ request_id: progress.requestId, err: error }, 'request failed');
    if (failure.status === 503) log.warn({ request_id: progress.requestId, reason: reasonOf(error) }, 'not ready');
    const headers: WrittenResponse['headers'] = { 'content-type': 'application/json' };
    // The server stops reading at twice the limit. The rest must not be parsed as the next request.
    if (tooLarge.has(failure.code)) headers.connection = 'close';
    const { retry_after_ms } = failure.details;
    if (retry_after_ms !== undefined && (failure.status === 429 || failure.status === 503)) {
      headers['retry-after'] = String(Math.ceil(retry_after_ms / 1000));
    }
    return { status: failure.status, body: JSON.stringify(bodyOf(failure, progress.requestId)), headers };
  }
}

/** Whether the handler gave up because of its signal. A refusal does not ask for the signal, which costs time to create. */
const hasClientGone = (request: Request, error: unknown): boolean =>
  !(error instanceof Failure) && request.signal.aborted && error === request.signal.reason;

/** Nobody reads this response: the status is for the log and the metrics. */
const clientClosedRequest = 499;

const tooLarge: ReadonlySet<string> = new Set(['body_too_large', 'file_too_large']);

const hasUnreadBody = ({ headers, bodyUsed }: Request) =>
  !bodyUsed && (headers.has('transfer-encoding') || Number(headers.get('content-length') ?? 0) > 0);

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

const headersOf = ({ requestId, rate }: RequestProgress): Record<string, string> => ({
  'request-id': requestId,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  ...(rate && {
    'ratelimit-policy': `"default";q=${rate.limit};w=60`,
    ratelimit: `"default";r=${rate.left};t=${rate.secondsToReset}`,
  }),
});

/** Responses are not cached unless they say so themselves. */
const noStore = { 'cache-control': 'no-store' };

/** Creates the Response once, from a plain object: a Headers object costs as much as all the lookups for a response. */
function asResponse(given: PipelineResponse, added: Record<string, string>): Response {
  if (!(given instanceof Response)) {
    return new Response(given.body, {
      status: given.status,
      headers: sendable({ ...noStore, ...added, ...given.headers }),
    });
  }
  const { vary, ...others } = added;
  const { headers } = given;
  for (const [name, value] of Object.entries(others)) headers.set(name, value);
  if (vary) headers.append('vary', vary);
  if (!headers.has('cache-control')) headers.set('cache-control', noStore['cache-control']);
  return given;
}

/** A plain object cannot repeat a header, such as two cookies. */
function sendable(given: WrittenResponse['headers']): Headers | Record<string, string> {
  if (!Object.values(given).some(Array.isArray)) return given as Record<string, string>;
  const headers = new Headers();
  for (const [name, values] of Object.entries(given)) for (const value of [values].flat()) headers.append(name, value);
  return headers;
}

/**
 * Turns `/v1/keys/{key_id}` into `/v1/keys/:key_id`. Literal segments come before parameters, so that `accept` is not
 * read as a member id.
 */
function endpointsOf(handlers: AllHandlers): Endpoint[] {
  const endpoints = routes.map(({ name, family, operation, route }) => {
    const ofFamily = handlers[family] as Record<string, Endpoint['handler']> | undefined;
    return { name, route, handler: ofFamily?.[operation], pattern: route.path.replace(/\{(\w+)\}/g, ':$1') };
  });
  const literalFirst = ({ pattern }: Endpoint) => pattern.replaceAll(':', '~');
  return endpoints.sort((a, b) => (literalFirst(a) < literalFirst(b) ? -1 : 1));
}

/** `ofPages` lists the methods that accept a session token, which a customer's page may have. */
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

/** OpenAI clients read errors in the format of OpenAI's API. */
const isOpenaiPath = (path: string): boolean => path.startsWith(openaiPrefix);

const openaiPrefix = '/v1/openai/';
/** Paths that OpenAI clients use below an address that ends in `/v1`. */
const openaiPaths = /^\/v1\/(chat\/completions|completions|responses|embeddings|assistants|threads)(\/|$)/;

const whereAllRoutesAre = 'The API reference at /docs lists all routes.';

/** The message for a path that no route has: the route that was probably meant, or where to find all. */
function routeHint(method: string, path: string): string {
  if (path.startsWith(openaiPrefix)) {
    const asked = `${method} ${path.slice(openaiPrefix.length, openaiPrefix.length + 100)}`;
    return `\`${asked}\` of OpenAI’s API is not offered here: only chat/completions, responses, conversations, files and models are.`;
  }
  if (openaiPaths.test(path)) {
    return 'No such route: OpenAI’s API is offered under /v1/openai. Give the client a base URL that ends so.';
  }
  const meant = meantPath(path);
  return meant === null ? `No such route. ${whereAllRoutesAre}` : `No such route. Did you mean ${method} ${meant}?`;
}

const longestPath = 200;

/** The path of a route that differs from the given one by typing errors, a slash, or a wrong or repeated `/v1`. */
function meantPath(path: string): string | null {
  if (path.length > longestPath) return null;
  const given = path.split('/').filter((part) => part !== '');
  const below = given.slice(given.findLastIndex((part, at) => part === 'v1' && at < 3) + 1);
  if (below.length === 0) return null;
  let best: { path: string; distance: number } | null = null;
  for (const { route } of routes) {
    const distance = distanceBetween(['v1', ...below], route.path.slice(1).split('/'));
    if (distance !== null && distance < (best?.distance ?? Infinity)) best = { path: route.path, distance };
  }
  return best?.path ?? null;
}

const furthestTypo = 3;

/** Null if the paths are too different. A parameter in braces fits every part. */
function distanceBetween(given: readonly string[], wanted: readonly string[]): number | null {
  if (given.length !== wanted.length) return null;
  let sum = 0;
  for (const [at, part] of wanted.entries()) {
    const typed = given[at] as string;
    // A literal match is better than one by a parameter.
    const distance = part.startsWith('{') ? 0.1 : distanceOf(typed, part, furthestTypo);
    if (distance > furthestTypo || distance > Math.ceil(part.length * 0.4)) return null;
    sum += distance;
  }
  return sum <= furthestTypo + 1 ? sum : null;
}
