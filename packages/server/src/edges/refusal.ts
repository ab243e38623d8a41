import { type ErrorCode, type ErrorType, Failure, fail } from '@vestra/contract/errors';
import { VestraError } from '@vestra/sdk/errors';

/** What the API says when it refuses, whichever transport carries it. */
export type Refusal = {
  type: ErrorType;
  code: ErrorCode;
  message: string;
  param?: string;
  request_id: string;
  [detail: string]: unknown;
};

/** What was thrown on the way, in the API's words. What is no failure of ours shows nothing of itself. */
export function refusalOf(thrown: unknown, requestId: string): Refusal {
  if (isRefused(thrown)) {
    const { type, code, message, param, body } = thrown;
    const made = { type, code, message, ...(param !== null && { param }), request_id: requestId } as Refusal;
    return (body as { error?: Refusal } | undefined)?.error ?? made;
  }
  const { type, code, message, details } = thrown instanceof Failure ? thrown : fail('internal_error');
  return { type, code, message, ...(details.param !== undefined && { param: details.param }), request_id: requestId };
}

/** The same as a failure of the route that the client called. A fault stays what it is. */
export function asFailure(thrown: unknown, requestId: string): unknown {
  if (thrown instanceof Failure || !isRefused(thrown)) return thrown;
  const { code, message, param, retry_after_ms } = refusalOf(thrown, requestId);
  return fail(code, {
    message,
    ...(param !== undefined && { param }),
    ...(typeof retry_after_ms === 'number' && { retry_after_ms }),
  });
}

/** By a route, or by a command before it called one. A connection that fails is a fault: there is none here. */
const isRefused = (thrown: unknown): thrown is VestraError =>
  thrown instanceof VestraError && thrown.type !== 'connection';

/** A call for a caller who has left, whose credential has ended or whose server restarts is cut short: not a fault. */
export function toldIfCutShort(thrown: unknown, { aborted, reason }: AbortSignal): unknown {
  if (!aborted || !isUnforeseen(thrown)) return thrown;
  if (reason instanceof Failure) return reason;
  return fail('not_ready', { message: 'The call was cut short: the client left, or the credential has ended.' });
}

export const restarting = () =>
  fail('not_ready', { message: 'The server is restarting. Send the request again shortly.', retry_after_ms: 2_000 });

/** Whether the fault lies with us and belongs in the log. */
export const isUnforeseen = (thrown: unknown) => !(isRefused(thrown) || thrown instanceof Failure);
