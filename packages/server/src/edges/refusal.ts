import { type ErrorCode, type ErrorType, Failure, fail } from '@vestra/contract/errors';
import { VestraError } from '@vestra/sdk/errors';

/** The API's error body, for every protocol. */
export type ApiRefusal = {
  type: ErrorType;
  code: ErrorCode;
  message: string;
  param?: string;
  request_id: string;
  [detail: string]: unknown;
};

/** The thrown error as an API error. Unknown errors reveal nothing. */
export function apiRefusalOf(thrown: unknown, requestId: string): ApiRefusal {
  if (isRefused(thrown)) {
    const { type, code, message, param, body } = thrown;
    const made = { type, code, message, ...(param !== null && { param }), request_id: requestId } as ApiRefusal;
    return (body as { error?: ApiRefusal } | undefined)?.error ?? made;
  }
  const { type, code, message, details } = thrown instanceof Failure ? thrown : fail('internal_error');
  return { type, code, message, ...(details.param !== undefined && { param: details.param }), request_id: requestId };
}

/** The refusal of an inner route as a failure of the outer one. Server faults stay as they are. */
export function asFailure(thrown: unknown, requestId: string): unknown {
  if (thrown instanceof Failure || !isRefused(thrown)) return thrown;
  const { code, message, param, retry_after_ms } = apiRefusalOf(thrown, requestId);
  return fail(code, {
    message,
    ...(param !== undefined && { param }),
    ...(typeof retry_after_ms === 'number' && { retry_after_ms }),
  });
}

/**
 * Refused by a route, or by a command before its request. A connection error is a fault: there is no connection here.
 */
const isRefused = (thrown: unknown): thrown is VestraError =>
  thrown instanceof VestraError && thrown.type !== 'connection';

/** An aborted call is no fault: the client left, its credential ended or the server restarts. */
export function asCutShort(thrown: unknown, { aborted, reason }: AbortSignal): unknown {
  if (!aborted || !isServerFault(thrown)) return thrown;
  if (reason instanceof Failure) return reason;
  return fail('not_ready', { message: 'The call was cut short: the client left, or the credential has ended.' });
}

export const restarting = () =>
  fail('not_ready', { message: 'The server is restarting. Send the request again shortly.', retry_after_ms: 2_000 });

/** True if the error is ours and belongs in the log. */
export const isServerFault = (thrown: unknown) => !(isRefused(thrown) || thrown instanceof Failure);
