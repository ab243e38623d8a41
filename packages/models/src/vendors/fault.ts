import { AISDKError, APICallError } from '@ai-sdk/provider';
import { ModelFailure, type ModelFailureReason, type Usage } from '@vestra/agent/model';
import type { Vendor } from './vendor.ts';

/** What went wrong with one attempt, and whether another one may go well. */
export type Fault = {
  reason: ModelFailureReason;
  message: string;
  isPassing: boolean;
  retryAfterMs: number | null;
  status: number | null;
  usage?: Usage;
};

/** The vendor was silent for too long. */
export class IdleTimeout extends Error {}

/** The stream ended before the vendor said that the answer is complete. */
export class EndedEarly extends Error {}

/** An attempt's own verdict, such as an answer that the vendor's filter stopped. */
export class AttemptFailed extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.message);
    this.fault = fault;
  }
}

/** The vendor's error of a request or of a stream, in the fields that both have. */
type VendorError = { status: number; words: string; labels: string[]; retryAfterMs: number | null };

/**
 * Messages are made here from the status and the vendor's error code alone. What vendors write themselves repeats
 * parts of keys and of requests, and the packages' errors hold the whole request: neither goes further than this.
 */
export function faultOf(error: unknown, vendor: Vendor, timeoutMs: number): Fault {
  if (error instanceof AttemptFailed) return error.fault;
  if (error instanceof IdleTimeout) {
    return passing('timeout', `${vendor.title} sent nothing for ${Math.round(timeoutMs / 1000)} seconds.`);
  }
  const vendorError = vendorErrorOf(error);
  if (vendorError) return faultOfStatus(vendorError, vendor);
  if (isConnectionLoss(error)) return passing('unavailable', `The connection to ${nameIn(vendor)} was lost.`);
  if (AISDKError.isInstance(error)) {
    const isAnswer = /^AI_(JSONParse|TypeValidation|InvalidResponseData|APICall|EmptyResponseBody)Error$/.test(
      error.name,
    );
    return isAnswer
      ? lasting('invalid_answer', `${vendor.title} sent an answer that cannot be read.`)
      : lasting('refused', `The request does not fit ${nameIn(vendor)}: ${error.name.replace(/^AI_/, '')}.`);
  }
  return lasting('unavailable', `The call to ${nameIn(vendor)} failed.`);
}

export function failureOf(fault: Fault): ModelFailure {
  return new ModelFailure(fault.reason, fault.message, fault.usage && { usage: fault.usage });
}

function faultOfStatus({ status, words, labels, retryAfterMs }: VendorError, vendor: Vendor): Fault {
  const said = `${status}${labels.length > 0 ? ` ${labels.join(' ')}` : ''}`;
  const fault = (reason: ModelFailureReason, isPassing: boolean, message: string): Fault => ({
    reason,
    isPassing,
    retryAfterMs: isPassing ? retryAfterMs : null,
    status,
    message,
  });
  if (status === 401 || status === 403) {
    return fault('unavailable', false, `${vendor.title} did not accept the key (${said}): check ${vendor.keySetting}.`);
  }
  if (labels.includes('insufficient_quota') || status === 402) {
    return fault('unavailable', false, `The account at ${nameIn(vendor)} has no credit left (${said}).`);
  }
  if (status === 429) return fault('rate_limited', true, `${vendor.title} limits the rate of calls (${said}).`);
  if (status === 404) {
    return fault('unavailable', false, `${vendor.title} has no model ${vendor.modelId} at its address (${said}).`);
  }
  if (status === 413 || (status < 500 && isTooLong(`${words} ${labels.join(' ')}`))) {
    return fault('too_long', false, `The conversation is too long for ${vendor.modelId} (${said}).`);
  }
  if (status === 408 || status === 504) return fault('timeout', true, `${vendor.title} took too long (${said}).`);
  if (status === 409 || status >= 500) return fault('unavailable', true, `${vendor.title} failed (${said}).`);
  return fault('refused', false, `${vendor.title} refused the request (${said}).`);
}

const passing = (reason: ModelFailureReason, message: string): Fault => ({
  reason,
  message,
  isPassing: true,
  retryAfterMs: null,
  status: null,
});

const lasting = (reason: ModelFailureReason, message: string): Fault => ({
  ...passing(reason, message),
  isPassing: false,
});

const nameIn = (vendor: Vendor) => vendor.title.replace(/^The /, 'the ');

function vendorErrorOf(error: unknown): VendorError | null {
  if (APICallError.isInstance(error)) {
    const { statusCode, responseHeaders, responseBody, data, message } = error;
    if (statusCode === undefined || statusCode < 400) return null;
    return {
      status: statusCode,
      words: message,
      labels: labelsOf((data as { error?: unknown } | undefined)?.error),
      retryAfterMs: retryAfterOf(responseHeaders ?? {}, responseBody ?? ''),
    };
  }
  if (typeof error !== 'object' || error === null || error instanceof Error) return null;
  const { statusCode, message, type, code } = error as Record<string, unknown>;
  const status = [statusCode, code].map(Number).find((each) => each >= 400 && each < 600) ?? statusOfType(type);
  const words = typeof message === 'string' ? message : '';
  return { status, words, labels: labelsOf(error), retryAfterMs: null };
}

/** An error inside a stream has no status; vendors name it instead. */
function statusOfType(type: unknown): number {
  if (type === 'rate_limit_error') return 429;
  if (type === 'invalid_request_error') return 400;
  if (type === 'authentication_error' || type === 'permission_error') return 401;
  return type === 'request_too_large' ? 413 : 503;
}

/** Codes such as `rate_limit_error`: words joined by underscores, so that nothing that could be a key passes. */
function labelsOf(error: unknown): string[] {
  if (typeof error !== 'object' || error === null) return [];
  const { type, code, status } = error as Record<string, unknown>;
  const labels = [type, code, status].filter(
    (label): label is string =>
      typeof label === 'string' && /^[A-Za-z]+(_[A-Za-z]+)*$/.test(label) && label.length < 40,
  );
  return [...new Set(labels)];
}

const isTooLong = (words: string) =>
  /context_length|too_large|prompt is too long|maximum context length|context (window|size|length)|token count.*exceeds|too many tokens/i.test(
    words,
  );

function retryAfterOf(headers: Record<string, string>, body: string): number | null {
  const milliseconds = Number(headers['retry-after-ms']);
  if (milliseconds > 0) return milliseconds;
  const after = headers['retry-after'];
  if (after !== undefined) {
    const delay = /^\d+(\.\d+)?$/.test(after) ? Number(after) * 1000 : Date.parse(after) - Date.now();
    if (Number.isFinite(delay)) return Math.max(0, delay);
  }
  // Google writes it into the body.
  const inBody = /"retryDelay":\s*"(\d+(?:\.\d+)?)s"/.exec(body);
  return inBody ? Number(inBody[1]) * 1000 : null;
}

/** A request without an answer, a body that broke off, or a stream that ended before its end. */
function isConnectionLoss(error: unknown): boolean {
  if (error instanceof EndedEarly) return true;
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (APICallError.isInstance(cause) && cause.statusCode === undefined) return true;
    if (/ended without a finish reason|^terminated$|fetch failed|network|socket/i.test(cause.message)) return true;
    if ('code' in cause && /^(E[A-Z]{4,}|UND_ERR_)/.test(String(cause.code))) return true;
  }
  return false;
}
