import { type Api, routes } from '@vestra/contract/api';
import type { BodyOf, DryRunOf, ParamsOf, QueryOf, ResponseOf, Route } from '@vestra/contract/route';
import type { Caller, Origin } from '../caller.ts';
import type { Statement } from '../db/pipeline.ts';
import type { Transaction } from '../db/pool.ts';
import type { Upload } from './multipart.ts';
import type { FrameSource } from './sse.ts';
import type { OpenStream } from './streams.ts';

/** A response with another status or more headers than its row. */
export class Reply<Body> {
  readonly body: Body;
  readonly status: number | undefined;
  readonly headers: Record<string, string | string[]>;

  constructor(body: Body, options: { status?: number; headers?: Record<string, string | string[]> } = {}) {
    this.body = body;
    this.status = options.status;
    this.headers = options.headers ?? {};
  }
}

/** A streamed response. Each event shows only the fields that the row allows the caller to see. */
export class EventStream {
  readonly open: OpenStream;
  readonly source: FrameSource;

  /** `open` comes first: if the caller may not open another stream, no source is created. */
  constructor(open: OpenStream, source: FrameSource) {
    this.open = open;
    this.source = source;
  }
}

declare const committed: unique symbol;
/** A response from `commit`, the only kind that an idempotent route may return. */
export type CommittedResponse<Body> = { readonly [committed]: Body };

/**
 * The committed body, also if an earlier request with the same key committed it. For routes that answer with a stream.
 */
export function readCommitted<Body>(answer: CommittedResponse<Body>): Body {
  const { body } = answer as unknown as { body: string };
  return JSON.parse(body) as Body;
}

export type PageRequest = {
  limit: number;
  /** The sort key of the last row on the previous page. */
  after: readonly string[] | null;
  /** Turns at most `limit + 1` rows into the response of a list. */
  of: <Row, Item>(
    rows: readonly Row[],
    present: (row: Row) => Item,
    sortKey: (row: Row) => readonly string[],
  ) => { data: Item[]; next_cursor: string | null };
};

/**
 * Writes prepared statements, together with those of concurrent requests, and responds with `body`. Returns null if the
 * rows that the statements rely on have changed: nothing was written, and the caller must use `commit`. With an
 * Idempotency-Key the response is stored in the same group of statements. `key` names what they lock first.
 */
export type WriteStatements = <Body>(
  key: string,
  statements: readonly Statement[],
  body: Body,
) => Promise<{ answer: CommittedResponse<Body>; results: readonly unknown[] } | null>;

export type Incoming<R extends Route> = {
  params: ParamsOf<R>;
  query: QueryOf<R>;
  body: BodyOf<R>;
  /** The part named `file` of a multipart upload, or the bytes of a zip. */
  upload: Upload | null;
  headers: Headers;
  bodyDigest: string;
  requestId: string;
  ip: string;
  /** Aborts when the client disconnects or the server stops. */
  signal: AbortSignal;
  page: PageRequest;
  /**
   * Runs the work in one transaction. With an Idempotency-Key the response is stored in the same transaction, so that a
   * retry after a crash finds both or neither.
   */
  commit: <Body>(work: (tx: Transaction) => Promise<Body | Reply<Body>>) => Promise<CommittedResponse<Body>>;
  write: WriteStatements;
} & (R extends { auth: 'open' } ? { caller: null; origin: null } : { caller: Caller; origin: Origin });

type Handler<R extends Route> = (
  incoming: Incoming<R>,
) => Promise<
  R extends { idempotent: true }
    ? CommittedResponse<ResponseOf<R>> | (R extends { streams: true } ? EventStream | Reply<ResponseOf<R>> : never)
    : ResponseOf<R> | DryRunOf<R> | Reply<ResponseOf<R>> | EventStream | Response
>;

export type Handlers<Family extends keyof Api> = {
  [Operation in keyof Api[Family]]?: Api[Family][Operation] extends Route ? Handler<Api[Family][Operation]> : never;
};

export type AllHandlers = { [Family in keyof Api]?: Handlers<Family> };

/** Loads a value once, when it is first needed. After a failure the next call tries again. */
export function onFirstCall<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let loading: Promise<Value> | null = null;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = null;
      throw error;
    });
    return loading;
  };
}

/** A handler that is loaded by its first request, so that a start reads less. */
export function lazyHandler<Incoming>(
  load: () => Promise<(incoming: Incoming) => Promise<Response>>,
): (incoming: Incoming) => Promise<Response> {
  const loaded = onFirstCall(load);
  return async (incoming) => (await loaded())(incoming);
}

/** All handlers of a family of routes, loaded by the first request to one of them. */
export function lazyRoutes<Family extends keyof Api>(
  family: Family,
  load: () => Promise<Handlers<Family>>,
): Handlers<Family> {
  const loaded = onFirstCall(load as () => Promise<Record<string, (incoming: unknown) => unknown>>);
  const names = routes.flatMap(({ name }) => (name.startsWith(`${family}.`) ? [name.slice(family.length + 1)] : []));
  const handlerOf = (name: string) => async (incoming: unknown) => {
    const handler = (await loaded())[name];
    if (!handler) throw new Error(`The route ${family}.${name} has no handler.`);
    return handler(incoming);
  };
  return Object.fromEntries(names.map((name) => [name, handlerOf(name)])) as Handlers<Family>;
}
