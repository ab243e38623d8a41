import { type ErrorCode, type ErrorType, Failure, fail } from '@vestra/contract/errors';

/** What the API says when it refuses, whichever transport carries it. */
export type Refusal = {
  type: ErrorType;
  code: ErrorCode;
  message: string;
  param?: string;
  request_id: string;
  [detail: string]: unknown;
};

/** A route that an edge called has refused. */
export class RouteFailure extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.name = 'RouteFailure';
    this.refusal = refusal;
  }
}

export async function readRefusal(response: Response): Promise<Refusal> {
  const { error } = (await response.json()) as { error: Refusal };
  return error;
}

/** What was thrown on the way, in the API's words. What is no failure of ours shows nothing of itself. */
export function refusalOf(thrown: unknown, requestId: string): Refusal {
  if (thrown instanceof RouteFailure) return thrown.refusal;
  const { type, code, message, details } = thrown instanceof Failure ? thrown : fail('internal_error');
  return { type, code, message, ...(details.param !== undefined && { param: details.param }), request_id: requestId };
}

/** Whether the fault lies with us and belongs in the log. */
export const isUnforeseen = (thrown: unknown) => !(thrown instanceof RouteFailure || thrown instanceof Failure);
