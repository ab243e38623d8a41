import type { z } from 'zod';
import type { ErrorCode } from './errors.ts';
import type { SessionAccess } from './session-access.ts';

export const scopes = ['setup', 'runtime', 'admin', 'all'] as const;
export type Scope = (typeof scopes)[number];

export const modes = ['test', 'live'] as const;
export type Mode = (typeof modes)[number];

export const roles = ['owner', 'admin', 'developer'] as const;
export type Role = (typeof roles)[number];

/** What a key needs to call a route: one of these scopes (or `all`), or `any` scope at all. */
type NeededScopes = 'any' | readonly Exclude<Scope, 'all'>[];

/** Requests of one address in a minute. Rows with the same bucket share the count. */
type AddressLimit = { bucket: 'login:ip' | 'oauth:token' | 'oauth:register'; perMinute: number };

type Access =
  /** No credential is looked at. A request that may have a body is counted by its address before the body is read. */
  | { auth: 'open'; method: 'GET' }
  | { auth: 'open'; method: 'POST'; perAddress: AddressLimit }
  /** A key with a fitting scope, a console member, and as far as `session` says a session token. */
  | {
      auth: 'key';
      scopes: NeededScopes;
      session?: SessionAccess;
      /** An MCP client's access token opens it. No other route takes one but from the tools that it calls. */
      takesGrants?: true;
    }
  | { auth: 'session'; session: SessionAccess }
  /** A console member alone: a key has no password and no cookie to give up. */
  | { auth: 'console' };

export type ContentType =
  | 'application/json'
  | 'application/x-www-form-urlencoded'
  | 'multipart/form-data'
  | 'application/zip';

type Wire = {
  /** Strict objects: an unknown field is refused. */
  params?: z.ZodObject;
  query?: z.ZodObject;
  body?: z.ZodType;
  /** Absent: JSON alone. */
  accepts?: readonly ContentType[];
  /** Bytes; absent: see `bodyLimitOf`. */
  bodyLimit?: number;
  /** Values that a JSON body may hold; absent: 100,000. Each costs time to build, to check and to validate. */
  bodyValues?: number;
  /** A body left out counts as `{}`. */
  bodyOptional?: true;
  /** The handler checks the body against its schema, to name every fault of it together with what it finds itself. */
  checkedBy?: 'handler';
  /** A NUL character in the body has a code of its own here, which the handler gives. */
  nulText?: 'handler';
  /** Headers beyond the ones every route takes, for the reference. */
  headers?: z.ZodObject;
  status: 200 | 201 | 202;
  /** Other success statuses the same body may come with. */
  alsoStatus?: readonly (200 | 201 | 202 | 503)[];
  response: z.ZodType;
  /** Content types beyond JSON that the answer may have. */
  produces?: readonly string[];
  /** The answer is never JSON, only what `produces` names. */
  isJson?: false;
};

export type Route = Access &
  Wire & {
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
    path: `/v1/${string}`;
    /** One line: what it does. */
    summary: string;
    /** What a caller needs to know beyond that: who may call it, what happens next, which limit counts. */
    description: string;
    /** Error codes beyond those that access, query, body and path imply. */
    errors: readonly ErrorCode[];
    /** The CLI command; null where a command would make no sense. */
    command: string | null;
    /** Takes an Idempotency-Key. */
    idempotent?: true;
    /** The answer shows a secret once: a kept answer is kept encrypted. */
    showsSecret?: true;
    /** A look that wakes a computer: a console member shows that it is no link on another site which sent them here. */
    wakes?: true;
    /** What decides over owners: for a member who is one, and for a live key with scope `all`. */
    ownerOnly?: true;
    /** The answer may be an event stream that stays open. */
    streams?: true;
    /** What the data of each event of such a stream is. */
    streamed?: z.ZodType;
    /** Errors are worded as clients of another API read them. */
    errorShape?: 'openai' | 'oauth';
  };

/** One row of the contract. The literal types stay, so that handlers and the client are typed by it. */
export const route = <const Row extends Route>(row: Row): Row => row;

/** An address may stand for everybody behind one proxy, and is held only to what hashing passwords may cost. */
export const signInAttempts = { bucket: 'login:ip', perMinute: 600 } as const;

/** Enough for any spelling of a message of 32,000 characters. */
const sessionBodyLimit = 512 * 1024;
const keyBodyLimit = 1024 * 1024;
/** For requests that no key stands behind, and for a body that is only read to refuse it. */
const smallBodyLimit = 16 * 1024;

/** The bytes that a body may have. */
export function bodyLimitOf(row: Route, by: { session: boolean }): number {
  if (row.bodyLimit !== undefined) return row.bodyLimit;
  if (!row.body || row.auth === 'open' || row.auth === 'console') return smallBodyLimit;
  return by.session ? sessionBodyLimit : keyBodyLimit;
}

/** What a session token may do with it; null: nothing. */
export const sessionAccessOf = (row: Route): SessionAccess | null =>
  row.auth === 'key' || row.auth === 'session' ? (row.session ?? null) : null;

export type Family = Record<string, Route>;
export type ParamsOf<R extends Route> = R['params'] extends z.ZodType ? z.output<R['params']> : Record<never, never>;
export type QueryOf<R extends Route> = R['query'] extends z.ZodType ? z.output<R['query']> : Record<never, never>;
export type BodyOf<R extends Route> = R['body'] extends z.ZodType ? z.output<R['body']> : undefined;
export type ResponseOf<R extends Route> = z.input<R['response']>;
