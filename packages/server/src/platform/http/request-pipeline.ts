import { fail } from '@vestra/contract/errors';
import { check } from '@vestra/contract/fault';
import type { Route } from '@vestra/contract/route';
import type { z } from 'zod';
import type { Caller, Origin, Tenant } from '../caller.ts';
import { type GroupCommit, isStaleRowError } from '../db/group-commit.ts';
import type { Statement } from '../db/pipeline.ts';
import type { Database, Transaction } from '../db/pool.ts';
import { transaction } from '../db/transaction.ts';
import { type Identities, identify } from './authenticate.ts';
import { openBody, receiveBody } from './body.ts';
import type { BodyBytes } from './body-bytes.ts';
import type { Cursors } from './cursor.ts';
import type { EmbedOrigins } from './embed-cors.ts';
import { type CommittedResponse, EventStream, type Incoming, type PageRequest, Reply } from './handler.ts';
import { hashRequest, type Idempotency, type StoredAnswer, storeAnswerStatement } from './idempotency.ts';
import type { Upload } from './multipart.ts';
import type { RateLimiter, RateState } from './rate-limit.ts';
import { type FieldView, requireAllowedFields, viewOf } from './session-permissions.ts';
import { eventBody, eventHeaders } from './sse.ts';
import type { UnfinishedRequests } from './unfinished-requests.ts';

export type PipelineContext = {
  db: Database;
  writes: GroupCommit;
  identities: Identities;
  idempotency: Idempotency;
  rateLimiter: RateLimiter;
  cursors: Cursors;
  embedOrigins: EmbedOrigins;
  requestsPerMinute: number;
  /** Bounds the bodies that strangers have not sent whole. */
  unfinished?: UnfinishedRequests;
  /** Bounds the bodies of each caller and org that are in memory. */
  bodyBytes?: BodyBytes;
  /** Called once for each request with an API key or a grant. */
  keyUsed: (caller: Caller) => void;
  /** Called with the name of the route when a body has arrived and is about to be parsed. */
  onReceived?: (route: string) => void;
  /** Called after a route deleted an object, to remove what other requests have stored about it. */
  deleted?: (tenant: Tenant, object: DeletedObject) => Promise<void>;
};

/** `object` is the name of its kind, such as `routine`. */
export type DeletedObject = { object: string; id: string };

/** Facts about the request, for the response headers and the log. */
export type RequestProgress = {
  requestId: string;
  ip: string;
  /** Whether an edge sends this for its caller. A request over a socket cannot claim that. */
  isFromEdge: boolean;
  caller: Caller | null;
  rate: RateState | null;
  /** The body did not arrive in time, so the connection must be closed. */
  isCut?: boolean;
};

/** A response before it becomes a `Response`, because more headers are added. */
export type WrittenResponse = {
  status: number;
  body: string | ReadableStream<Uint8Array>;
  headers: Record<string, string | string[]>;
};

export type PipelineResponse = WrittenResponse | Response;

export type Endpoint = {
  name: string;
  route: Route;
  pattern: string;
  /** Undefined if the route is not implemented. It answers 501. */
  handler: ((incoming: Incoming<Route>) => Promise<unknown>) | undefined;
};

type IncomingRequest = { request: Request; rawParams: Record<string, string>; progress: RequestProgress };

/** Runs the checks of every request in the order of the contract, and then the handler. */
export async function serve(
  path: PipelineContext,
  endpoint: Endpoint,
  incoming: IncomingRequest,
): Promise<PipelineResponse> {
  const { route } = endpoint;
  const { request, progress } = incoming;
  const caller = await identify(route, request, path.identities, progress);
  progress.caller = caller;
  if (caller?.key || caller?.grant) path.keyUsed(caller);
  if (caller) await takeRateToken(path, caller, progress);
  else await takeAddressToken(path, route, progress.ip);
  // An edge holds the body of the request that it serves.
  const release = caller && !progress.isFromEdge ? path.bodyBytes?.hold(caller, route, request) : undefined;
  const answer = serveCaller(path, endpoint, incoming, caller);
  return release ? answer.finally(release) : answer;
}

async function serveCaller(
  path: PipelineContext,
  { name, route, handler }: Endpoint,
  { request, rawParams, progress }: IncomingRequest,
  caller: Caller | null,
): Promise<PipelineResponse> {
  const receive = () => receiveBody(route, request, { session: Boolean(caller?.session) });
  const bounded = caller || progress.isFromEdge ? undefined : path.unfinished;
  const onLate = () => {
    progress.isCut = true;
  };
  const raw = await (bounded ? bounded.receive(progress.ip, receive, onLate) : receive());
  path.onReceived?.(name);
  const idempotencyKey = readIdempotencyKey(route, request);
  const { fields, upload, hashed } = await openBody(route, raw);
  const search = request.url.includes('?') ? new URL(request.url).searchParams : noSearch;
  requireAllowedFields(route, caller, search, fields);
  const params = route.params ? validate(route.params, rawParams, 'invalid_request') : {};
  const query = validateQuery(route, search);
  const schema = ((progress.isFromEdge && route.edgeBody) || route.body) as z.ZodType;
  const body = isValidatedHere(route, upload) ? validate(schema, fields, 'invalid_request') : fields;
  if (!handler) throw fail('not_implemented');

  const view = viewOf(route, caller);
  const page = pageOf(path.cursors, name, caller, query);
  const origin: Origin | null = caller && { ...caller, requestId: progress.requestId, ip: progress.ip };
  let replayed = false;
  const guarded = () => {
    if (!caller || !idempotencyKey) return null;
    const url = new URL(request.url);
    return {
      tenant: caller,
      route: name,
      key: keyOf(caller, idempotencyKey),
      requestHash: hashRequest([request.method, url.pathname, url.search, ...hashed]),
      showsSecret: route.showsSecret ?? false,
    };
  };
  const commit = async (work: (tx: Transaction) => Promise<unknown>) => {
    const run = async (tx: Transaction) => stored(route, await work(tx), view);
    const call = guarded();
    if (!call) return (await transaction(path.db, run)) as unknown as CommittedResponse<never>;
    const answer = await path.idempotency.once(call, run);
    replayed = answer.replayed;
    return answer as unknown as CommittedResponse<never>;
  };
  const write = async (key: string, statements: readonly Statement[], body: unknown) => {
    const answer = stored(route, body, view);
    const call = guarded();
    const kept = call ? [storeAnswerStatement(call, answer)] : [];
    try {
      const results = await path.writes(key, [...statements, ...kept]);
      return { answer: answer as unknown as CommittedResponse<never>, results };
    } catch (error) {
      if (isStaleRowError(error)) return null;
      throw error;
    }
  };

  const answer = await handler({
    params,
    query,
    body,
    upload,
    headers: request.headers,
    get bodyDigest() {
      return hashRequest(hashed).toString('base64url');
    },
    requestId: progress.requestId,
    ip: progress.ip,
    // Few handlers use the signal, and creating it costs time.
    get signal() {
      return request.signal;
    },
    page,
    commit,
    write,
    caller,
    origin,
  } as unknown as Incoming<Route>);

  if (caller && isDeletion(route, answer)) await path.deleted?.(caller, answer);

  const replay: Record<string, string> = replayed ? { 'idempotent-replayed': 'true' } : {};
  if (answer instanceof EventStream) {
    const body = eventBody(answer.source, answer.open, { show: view.event });
    return { status: 200, body, headers: { ...eventHeaders, ...replay } };
  }
  if (answer instanceof Response) return rawResponse(answer, caller);
  if (answer instanceof Reply) return respond(stored(route, answer, view), { ...answer.headers, ...replay });
  return respond(route.idempotent ? (answer as StoredAnswer) : stored(route, answer, view), replay);
}

const noSearch = new URLSearchParams();

const isDeletion = ({ method }: Route, answer: unknown): answer is DeletedObject =>
  method === 'DELETE' &&
  typeof answer === 'object' &&
  answer !== null &&
  'object' in answer &&
  'id' in answer &&
  'deleted' in answer &&
  answer.deleted === true;

/** A raw response cannot be filtered, so a session must not get one. */
function rawResponse(answer: Response, caller: Caller | null): Response {
  if (caller?.session) throw fail('session_scope');
  return answer;
}

/**
 * Sessions of one conversation share their keys, so that a renewed session can repeat a request. No header contains a
 * line break, so these keys never equal those of API keys.
 */
const keyOf = ({ session }: Caller, key: string) => (session ? `${session.conversationId ?? session.id}\n${key}` : key);

/** The handler reads the fields beside an upload. */
const isValidatedHere = (route: Route, upload: Upload | null) =>
  route.body !== undefined && route.checkedBy !== 'handler' && upload === null;

function stored(route: Route, answer: unknown, view: FieldView): StoredAnswer {
  const { status = route.status, body } = answer instanceof Reply ? answer : { body: answer };
  return { status, body: JSON.stringify(view.answer(body)) };
}

const respond = (answer: StoredAnswer, extra: WrittenResponse['headers']): WrittenResponse => ({
  status: answer.status,
  body: answer.body,
  headers: { 'content-type': 'application/json; charset=utf-8', ...extra },
});

async function takeRateToken(path: PipelineContext, caller: Caller, progress: RequestProgress): Promise<void> {
  const { rateLimiter, requestsPerMinute } = path;
  const rate = await rateLimiter.take(bucketOf(caller), requestsPerMinute);
  progress.rate = rate;
  requireAllowed(rate);
  // An edge is counted for the request that it serves.
  if (progress.isFromEdge) return;
  const ofOrg = await rateLimiter.take(`org:${caller.orgId}`, requestsPerMinute * orgShare);
  requireAllowed(ofOrg, ' of this org');
}

/** An org may make as many requests as this many keys. Otherwise each new key or session would add to its share. */
const orgShare = 10;

/** A user may have any number of sessions, so those are counted together. */
function bucketOf({ orgId, mode, actor, session }: Caller): string {
  return session?.userId ? `user:${orgId}:${mode}:${session.userId}` : `caller:${actor.id}`;
}

/** Count before reading the body: without a credential nothing else limits the bodies of one address. */
async function takeAddressToken({ rateLimiter }: PipelineContext, route: Route, ip: string): Promise<void> {
  if (route.auth !== 'open' || !('perAddress' in route)) return;
  const { bucket, perMinute } = route.perAddress;
  requireAllowed(await rateLimiter.take(`${bucket}:${ip}`, perMinute));
}

function requireAllowed({ allowed, limit, secondsToReset }: RateState, whose = ''): void {
  if (allowed) return;
  throw fail('rate_limited', {
    message: `More than ${limit} requests${whose} in a minute. Try again in ${secondsToReset} s.`,
    retry_after_ms: secondsToReset * 1000,
  });
}

function readIdempotencyKey(route: Route, request: Request): string | null {
  if (!route.idempotent) return null;
  const key = request.headers.get('idempotency-key');
  if (key === null) return null;
  if (key.length < 1 || key.length > 255) throw fail('invalid_idempotency_key');
  return key;
}

function validateQuery(route: Route, search: URLSearchParams): Record<string, unknown> {
  const given: Record<string, string> = {};
  for (const [name, value] of search) {
    if (name in given) throw fail('invalid_query', { param: name, message: `\`${name}\` is given twice.` });
    if (value.includes('\0') || !value.isWellFormed()) throw fail('invalid_query', { param: name });
    given[name] = value;
  }
  if (route.query) return validate(route.query, given, 'invalid_query') as Record<string, unknown>;
  const [unknown] = Object.keys(given);
  if (unknown) throw fail('invalid_query', { param: unknown, message: `Unknown query parameter \`${unknown}\`.` });
  return {};
}

function validate(schema: z.ZodType, value: unknown, fallback: 'invalid_request' | 'invalid_query'): unknown {
  const result = check(schema, value, fallback);
  if (result.ok) return result.value;
  const [first] = result.faults;
  // Report all errors of a manifest at once, so that they can be fixed in one go.
  const isOfManifest = first.code !== fallback && result.faults.length > 1;
  throw fail(first.code, {
    message: first.message,
    param: first.param,
    ...(isOfManifest && { errors: result.faults }),
  });
}

function pageOf(cursors: Cursors, route: string, caller: Caller | null, query: Record<string, unknown>): PageRequest {
  const { limit = 20, cursor } = query as { limit?: number; cursor?: string };
  const after = cursor && caller ? cursors.read(caller, route, cursor) : null;
  return {
    limit,
    after,
    of(rows, present, sortKey) {
      const shown = rows.slice(0, limit);
      const last = shown.at(-1);
      const hasMore = rows.length > limit && last !== undefined && caller !== null;
      return { data: shown.map(present), next_cursor: hasMore ? cursors.write(caller, route, sortKey(last)) : null };
    },
  };
}
