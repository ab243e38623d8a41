import type { ErrorCode, ErrorType } from '@vestra/contract/errors';

/** Codes of the client itself: no response, none in time, or one from another program. */
type LocalCode = 'connection_failed' | 'timed_out' | 'unexpected_answer';

/** A newer service may have unknown codes: any text is allowed, and editors complete the known ones. */
export type VestraErrorCode = ErrorCode | LocalCode | (string & Record<never, never>);

/** The error of a call, whether the service rejected it or no response came. */
export class VestraError extends Error {
  /** The HTTP status; 0 without a response. */
  readonly status: number;
  /** `connection`: no valid response of the service arrived. */
  readonly type: ErrorType | 'connection';
  /** Branch on this. Beyond the service's codes: `connection_failed`, `timed_out`, `unexpected_answer`. */
  readonly code: VestraErrorCode;
  /** The invalid field, such as `tools.0.auth`. */
  readonly param: string | null;
  /** Quote this to the operator of the service. */
  readonly requestId: string | null;
  /** Every fault of a rejected deployment file. */
  readonly errors: readonly { code: VestraErrorCode; param: string; message: string }[];
  /** For `secret_missing`: the secrets to store first. */
  readonly names: readonly string[];
  /** For `mcp_server_shared`: the deployments that use the server. */
  readonly deployments: readonly string[];
  /** The completed part of the work, if the route reports it. */
  readonly partial: unknown;
  /** How long the service asks to wait, in milliseconds. */
  readonly retryAfterMs: number | null;
  /** The raw response body. */
  readonly body: unknown;

  constructor(message: string, details: Partial<Details> & Pick<Details, 'code'>, options?: ErrorOptions) {
    super(message, options);
    this.name = 'VestraError';
    this.status = details.status ?? 0;
    this.type = details.type ?? 'connection';
    this.code = details.code;
    this.param = details.param ?? null;
    this.requestId = details.requestId ?? null;
    this.errors = details.errors ?? [];
    this.names = details.names ?? [];
    this.deployments = details.deployments ?? [];
    this.partial = details.partial;
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.body = details.body;
  }
}

type Details = Omit<VestraError, keyof Error>;

/** Creates the error for an unsuccessful response. */
export async function errorOf(response: Response): Promise<VestraError> {
  const text = await response.text();
  const body = readJson(text);
  const told = fieldsOf(fieldsOf(body).error);
  const common = { status: response.status, body: body ?? text, retryAfterMs: retryAfter(response, told) };
  const { code, message } = told;
  if (typeof code !== 'string' || typeof message !== 'string') return unexpected(response, common);
  return new VestraError(message, {
    ...common,
    type: told.type as ErrorType,
    code,
    param: textOrNull(told.param),
    requestId: textOrNull(told.request_id) ?? response.headers.get('request-id'),
    errors: listOf(told.errors) as Details['errors'],
    names: listOf(told.names) as string[],
    deployments: listOf(told.deployments) as string[],
    partial: told.partial,
  });
}

/** Whether the same call is likely to succeed a little later. */
export function isPassing(error: unknown): error is VestraError {
  if (!(error instanceof VestraError)) return false;
  if (error.code === 'connection_failed' || error.code === 'timed_out') return true;
  // The first attempt, whose response was lost, is still running under the same key.
  if (error.code === 'idempotency_in_progress') return true;
  return [429, 502, 503, 504].includes(error.status);
}

/** A proxy answered, or the address belongs to another program. */
function unexpected(response: Response, common: { status: number; body: unknown; retryAfterMs: number | null }) {
  const target = response.headers.get('location');
  const said = response.status === 0 ? 'a redirect' : `status ${response.status}`;
  const message = target
    ? `The address redirects to ${target}: use that as \`baseUrl\`.`
    : `The address answered ${said} with a body that is not from Vestra: check \`baseUrl\`.`;
  return new VestraError(message, { ...common, code: 'unexpected_answer' });
}

function retryAfter(response: Response, told: Record<string, unknown>): number | null {
  if (typeof told.retry_after_ms === 'number') return told.retry_after_ms;
  const header = response.headers.get('retry-after');
  if (header === null) return null;
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const fieldsOf = (value: unknown) =>
  (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null);
