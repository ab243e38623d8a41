import type { Api } from '@vestra/contract/api';
import type { BodyOf, ParamsOf, QueryOf, ResponseOf, Route } from '@vestra/contract/route';
import type { Caller, Origin } from '../caller.ts';
import type { Statement } from '../db/pipeline.ts';
import type { Transaction } from '../db/pool.ts';
import type { Upload } from './multipart.ts';
import type { FrameSource } from './sse.ts';
import type { OpenStream } from './streams.ts';

/** An answer with another status or further headers than its row's. */
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

/** An answer that goes on: each of its events is shown as far as the row lets the caller see it. */
export class EventStream {
  readonly open: OpenStream;
  readonly source: FrameSource;

  /** What is opened comes first: a caller who may open no more leaves no source behind. */
  constructor(open: OpenStream, source: FrameSource) {
    this.open = open;
    this.source = source;
  }
}

declare const committed: unique symbol;
/** An answer that came out of `commit`: the only kind an idempotent route may give. */
export type Committed<Body> = { readonly [committed]: Body };

/** What was committed, also where an earlier call with the same key did it: for routes that answer with a stream. */
export function readCommitted<Body>(answer: Committed<Body>): Body {
  const { body } = answer as unknown as { body: string };
  return JSON.parse(body) as Body;
}

export type PageRequest = {
  limit: number;
  /** The sort key of the last row of the page before. */
  after: readonly string[] | null;
  /** Turns `limit + 1` rows or fewer into the answer of a list. */
  of: <Row, Item>(
    rows: readonly Row[],
    present: (row: Row) => Item,
    sortKey: (row: Row) => readonly string[],
  ) => { data: Item[]; next_cursor: string | null };
};

/**
 * Writes what was decided already, together with what others write at the same moment, and answers with `body`. Null:
 * what the statements relied on is no longer so, nothing has happened, and the work is to be done by `commit`. With an
 * Idempotency-Key the answer is kept in that same group of statements. `key` is what they lock first.
 */
export type Write = <Body>(
  key: string,
  statements: readonly Statement[],
  body: Body,
) => Promise<{ answer: Committed<Body>; results: readonly unknown[] } | null>;

export type Incoming<R extends Route> = {
  params: ParamsOf<R>;
  query: QueryOf<R>;
  body: BodyOf<R>;
  /** The part named `file` of a multipart upload, or the bytes of a zip. */
  upload: Upload | null;
  headers: Headers;
  /** Digest of the body's bytes. */
  bodyDigest: string;
  requestId: string;
  ip: string;
  /** Ends when the client goes away or the server stops. */
  signal: AbortSignal;
  page: PageRequest;
  /**
   * Runs the work in one transaction. With an Idempotency-Key the answer is kept in that same
   * transaction, so that a retry after any crash finds either both or neither.
   */
  commit: <Body>(work: (tx: Transaction) => Promise<Body | Reply<Body>>) => Promise<Committed<Body>>;
  write: Write;
} & (R extends { auth: 'open' } ? { caller: null; origin: null } : { caller: Caller; origin: Origin });

type Handler<R extends Route> = (
  incoming: Incoming<R>,
) => Promise<
  R extends { idempotent: true }
    ? Committed<ResponseOf<R>> | (R extends { streams: true } ? EventStream | Reply<ResponseOf<R>> : never)
    : ResponseOf<R> | Reply<ResponseOf<R>> | EventStream | Response
>;

export type Handlers<Family extends keyof Api> = {
  [Operation in keyof Api[Family]]?: Api[Family][Operation] extends Route ? Handler<Api[Family][Operation]> : never;
};

export type AllHandlers = { [Family in keyof Api]?: Handlers<Family> };
