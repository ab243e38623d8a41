import type { z } from 'zod';
import type { ErrorCode } from './errors.ts';
import type { SessionAccess } from './session-access.ts';

export const scopes = ['setup', 'runtime', 'admin', 'all'] as const;
export type Scope = (typeof scopes)[number];

export const modes = ['test', 'live'] as const;
export type Mode = (typeof modes)[number];

export const roles = ['owner', 'admin', 'developer', 'viewer'] as const;
export type Role = (typeof roles)[number];

/** The scopes for a route: one of these (or `all`), or `any` scope. */
type NeededScopes = 'any' | readonly Exclude<Scope, 'all'>[];

/** Requests per address and minute. Rows with the same bucket share the count. */
type AddressLimit = { bucket: 'login:ip' | 'oauth:token' | 'oauth:register'; perMinute: number };

type Access =
  /** No credential is read. A request with a body is counted by its address before the body is read. */
  | { auth: 'open'; method: 'GET' }
  | { auth: 'open'; method: 'POST'; perAddress: AddressLimit }
  /** A key with a matching scope, a console member and, if `session` allows it, a session token. */
  | {
      auth: 'key';
      scopes: NeededScopes;
      session?: SessionAccess;
      /** An MCP client's access token is accepted. Other routes accept one only from the tools that it calls. */
      takesGrants?: true;
    }
  | { auth: 'session'; session: SessionAccess }
  /** Console members only: a key has no password or cookie. */
  | { auth: 'console' };

export type ContentType =
  | 'application/json'
  | 'application/x-www-form-urlencoded'
  | 'multipart/form-data'
  | 'application/zip';

type Wire = {
  /** Strict objects: an unknown field is rejected. */
  params?: z.ZodObject;
  query?: z.ZodObject;
  body?: z.ZodType;
  /** The body with wider limits that an edge may send for its client, such as an OpenAI client with many tools. */
  edgeBody?: z.ZodType;
  /** Default: only JSON. */
  accepts?: readonly ContentType[];
  /** Bytes. Default: see `bodyLimitOf`. */
  bodyLimit?: number;
  /** The maximum number of values in a JSON body. Default: 100,000. Each costs time to parse and validate. */
  bodyValues?: number;
  /** A missing body counts as `{}`. */
  bodyOptional?: true;
  /** The handler validates the body, to report its faults together with others. */
  checkedBy?: 'handler';
  /** The handler rejects a NUL character in the body with a specific code. */
  nulText?: 'handler';
  /** Additional headers, for the reference. */
  headers?: z.ZodObject;
  status: 200 | 201 | 202;
  /** Other success statuses with the same body. */
  alsoStatus?: readonly (200 | 201 | 202 | 503)[];
  response: z.ZodType;
  /** The response to the query `dry_run=true`, which writes nothing. */
  dryRun?: z.ZodType;
  /** Further content types of the response besides JSON. */
  produces?: readonly string[];
  /** The response is never JSON, only the types in `produces`. */
  isJson?: false;
};

export type Route = Access &
  Wire & {
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
    path: `/v1/${string}`;
    /** One line: what the route does. */
    summary: string;
    /** Further information for callers: who may call it, what happens next, which limits apply. */
    description: string;
    /** Error codes beyond those that access, query, body and path imply. */
    errors: readonly ErrorCode[];
    /** The CLI command; null if a command makes no sense. */
    command: string | null;
    /** Accepts an Idempotency-Key. */
    idempotent?: true;
    /** The handler passes an Idempotency-Key on to the route that it calls for its client. */
    passesIdempotencyKey?: true;
    /** The response shows a secret once, so a stored response is encrypted. */
    showsSecret?: true;
    /** A read that wakes a computer: a console member must prove that no link on another site triggered it. */
    wakes?: true;
    /** Names secrets: not for viewers. */
    namesSecrets?: true;
    /** Decides about owners: only for owners, and for a live key with scope `all`. */
    ownerOnly?: true;
    /** The response may be an event stream that stays open. */
    streams?: true;
    /** The schema of each event's data in such a stream. */
    streamed?: z.ZodType;
    /** Errors have the format of another API. */
    errorShape?: 'openai' | 'oauth';
    /** A body that is not JSON is answered as JSON-RPC defines it, by the error -32700. */
    isJsonRpc?: true;
  };

/** One row of the contract. Keeps the literal types, which handlers and the client depend on. */
export const route = <const Row extends Route>(row: Row): Row => row;

/** An address may be shared by all users behind a proxy, so the limit only bounds the cost of password hashing. */
export const signInAttempts = { bucket: 'login:ip', perMinute: 600 } as const;

/** Enough for any encoding of a message of 32,000 characters. */
const sessionBodyLimit = 512 * 1024;
const keyBodyLimit = 1024 * 1024;
/** For requests without a key, and for a body that is only read to reject it. */
const smallBodyLimit = 16 * 1024;

/** The maximum size of a body in bytes. */
export function bodyLimitOf(row: Route, by: { session: boolean }): number {
  if (row.bodyLimit !== undefined) return row.bodyLimit;
  if (!row.body || row.auth === 'open' || row.auth === 'console') return smallBodyLimit;
  return by.session ? sessionBodyLimit : keyBodyLimit;
}

/** The permissions of a session token; null: none. */
export const sessionAccessOf = (row: Route): SessionAccess | null =>
  row.auth === 'key' || row.auth === 'session' ? (row.session ?? null) : null;

export type Family = Record<string, Route>;
export type ParamsOf<R extends Route> = R['params'] extends z.ZodType ? z.output<R['params']> : Record<never, never>;
export type QueryOf<R extends Route> = R['query'] extends z.ZodType ? z.output<R['query']> : Record<never, never>;
export type BodyOf<R extends Route> = R['body'] extends z.ZodType ? z.output<R['body']> : undefined;
export type ResponseOf<R extends Route> = z.input<R['response']>;
export type DryRunOf<R extends Route> = R extends { dryRun: infer Plan extends z.ZodType } ? z.input<Plan> : never;
