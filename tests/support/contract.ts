import { type RouteRow, routes } from '@vestra/contract/api';
import { conversations } from '@vestra/contract/conversations';
import { impliedErrors } from '@vestra/contract/derive/implied-errors';
import { sessionEvent, sessionResponse } from '@vestra/contract/derive/session-view';
import { type ErrorCode, errorCatalogue, errorTypes } from '@vestra/contract/errors';
import { streamEvent, streamEventData, webhookEventData } from '@vestra/contract/events';
import { z } from 'zod';
import { query } from './database.ts';
import type { ApiResponse } from './server.ts';

const isSession = (key: string | null) => key?.startsWith('vst_') ?? false;

/** An answer outside the contract fails whatever test met it; a session token's is a part of the others'. */
export function assertContract(method: string, path: string, answer: ApiResponse, key: string | null = null): void {
  // As it goes over the wire: `/v1/users/..` is another path.
  const { pathname } = new URL(path, 'http://localhost');
  const row = patterns.find((each) => each.method === method && each.pattern.test(pathname))?.row;
  const asked = `${method} ${path}`;
  const isHealth = row?.name === 'health.get';
  const isError = answer.status >= 400 && !(isHealth && answer.status === 503);
  if (isError) assertError(asked, row, answer, pathname);
  if (isError || !row) return;
  const statuses: number[] = [row.route.status, ...(row.route.alsoStatus ?? [])];
  if (!statuses.includes(answer.status)) throw new Error(`${asked} answered ${answer.status}, not ${statuses}`);
  const isPlan = row.route.dryRun && new URL(path, 'http://localhost').searchParams.get('dry_run') === 'true';
  const usual = isPlan ? (row.route.dryRun as z.ZodType) : row.route.response;
  const response = isSession(key) ? responseForSession(row.route) : usual;
  assertShape(response, answer.body, `${asked} answered outside the contract`);
}

const errorBody = z.object({
  error: z.object({
    type: z.enum(errorTypes),
    code: z.enum(Object.keys(errorCatalogue) as [ErrorCode]),
    message: z.string().min(1),
    param: z.string().min(1).optional(),
    names: z.array(z.string()).optional(),
    deployments: z.array(z.string()).optional(),
    errors: z.array(z.object({ code: z.string(), param: z.string(), message: z.string() })).optional(),
    partial: z.unknown().optional(),
    retry_after_ms: z.number().optional(),
    request_id: z.string().regex(/^req_[0-9a-z]{24}$/),
  }),
});

const openaiErrorBody = z.object({
  error: z.object({
    message: z.string().min(1),
    type: z.string().min(1),
    param: z.string().min(1).nullable(),
    code: z.enum(Object.keys(errorCatalogue) as [ErrorCode]),
    request_id: errorBody.shape.error.shape.request_id,
  }),
});

const oauthErrorBody = z.object({
  error: z.string().regex(/^[a-z_]+$/),
  error_description: z.string().min(1),
  code: errorBody.shape.error.shape.code,
  request_id: errorBody.shape.error.shape.request_id,
});

const errorShapes = { own: errorBody, openai: openaiErrorBody, oauth: oauthErrorBody };

function assertError(asked: string, row: RouteRow | undefined, { body, status }: ApiResponse, pathname: string): void {
  // Routes that only OpenAI's API has are refused in its error format too.
  const ofNone = pathname.startsWith('/v1/openai/') ? 'openai' : 'own';
  if (row?.route.isJsonRpc && body.jsonrpc === '2.0') {
    assertParseError(asked, status, body);
    return;
  }
  const shape = errorShapes[row ? (row.route.errorShape ?? 'own') : ofNone];
  assertShape(shape, body, `${asked} answered an error outside the contract`);
  const { code } = (row?.route.errorShape === 'oauth' ? body : body.error) as { code: ErrorCode };
  const statuses = [errorCatalogue[code].status, ...(alsoWith[code] ?? [])];
  if (!statuses.includes(status)) throw new Error(`${asked} answered \`${code}\` with ${status}.`);
  if (row && !declaredErrors(row.route).has(code)) {
    throw new Error(`${asked} answered \`${code}\`, which the row ${row.name} does not declare.`);
  }
}

const parseError = z.strictObject({
  jsonrpc: z.literal('2.0'),
  id: z.null(),
  error: z.strictObject({ code: z.literal(-32700), message: z.string(), data: z.array(z.unknown()) }),
});

function assertParseError(asked: string, status: number, body: unknown): void {
  assertShape(parseError, body, `${asked} answered an error outside the contract`);
  if (status !== 400) throw new Error(`${asked} answered a parse error with ${status}.`);
}

/** A part of a bundle that is too large is a fault of the request; an upload that is too large is 413. */
const alsoWith: Partial<Record<ErrorCode, number[]>> = { file_too_large: [400] };

/** The codes a caller of this route is told to expect. */
const declaredErrors = oncePerRoute((route) => new Set([...impliedErrors(route), ...route.errors]));

const responseForSession = oncePerRoute(sessionResponse);

const seenEvent = sessionEvent(conversations.events, streamEvent);

/** One event as it came on the stream of a conversation. */
export function assertStreamEvent(event: { type: string }, key: string | null): void {
  assertShape(
    isSession(key) ? seenEvent : streamEvent,
    event,
    `The stream carried a ${event.type} outside the contract`,
  );
}

type Written = { type: string; data: unknown };

/** Checks every stored event of streams and webhooks in this database, whether a test read it or not. */
export async function assertEvents(connectionString: string): Promise<void> {
  const told = async (table: string, dataOf: Record<string, z.ZodType>) => {
    for (const { type, data } of await query<Written>(connectionString, `SELECT type, data FROM ${table}`)) {
      const schema = dataOf[type];
      if (!schema) throw new Error(`${table} holds a ${type}, which the contract does not know.`);
      assertShape(schema, data, `${table} holds a ${type} outside the contract`);
    }
  };
  await told('conversation_events', streamEventData);
  await told('events', webhookEventData);
}

/** A field that the contract does not name must be nowhere in what is answered, however deep. */
function assertShape(schema: z.ZodType, value: unknown, problem: string): void {
  const parsed = schema.safeParse(value);
  const fault = parsed.success ? unknownField(value, parsed.data) : z.prettifyError(parsed.error);
  if (fault !== null) throw new Error(`${problem}: ${fault}\n${JSON.stringify(value)}`);
}

/** Parsing leaves out what a schema does not name: what is missing afterwards was unknown. */
function unknownField(given: unknown, known: unknown, path = ''): string | null {
  if (typeof given !== 'object' || given === null) return null;
  if (typeof known !== 'object' || known === null) return null;
  for (const [key, value] of Object.entries(given)) {
    const at = path === '' ? key : `${path}.${key}`;
    if (!Object.hasOwn(known, key)) return `Unknown field \`${at}\`.`;
    const found = unknownField(value, (known as Record<string, unknown>)[key], at);
    if (found !== null) return found;
  }
  return null;
}

/** In the order of the contract. They are built once, since every answer in every test asks for its row. */
const patterns = routes.map((row) => ({
  row,
  method: row.route.method,
  pattern: new RegExp(`^${row.route.path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
}));

function oncePerRoute<Result>(find: (route: RouteRow['route']) => Result): (route: RouteRow['route']) => Result {
  const found = new Map<RouteRow['route'], Result>();
  return (route) => {
    const known = found.get(route);
    if (known !== undefined) return known;
    const result = find(route);
    found.set(route, result);
    return result;
  };
}
