import type { IncomingHttpHeaders } from 'node:http';
import { ModelFailure, type ModelFailureReason, type Usage } from '@vestra/agent/model';
import { type JsonRecord, recordOf, textOf } from './wires/json.ts';

/** The fault of one attempt, and whether a retry may succeed. */
export type Fault = {
  reason: ModelFailureReason;
  message: string;
  isPassing: boolean;
  retryAfterMs: number | null;
  status: number | null;
  usage?: Usage;
  vendorRequestId?: string;
  /** The vendor did not accept the key, or the account has no credit left. */
  isOfAccount?: boolean;
  /** The vendor's words about a refused request. They may quote the request, so they are never shown or logged. */
  refusal?: Refusal;
  /** The vendor rejected the returned reasoning, or its absence. */
  isOfReasoning?: boolean;
  /** The vendor rejected the requested level of reasoning. */
  isOfLevel?: boolean;
  /** The model does not reason at all, so a request for its reasoning is always rejected. */
  hasNoReasoning?: boolean;
};

/** `param`: the path of the rejected field, if the vendor names one. */
type Refusal = { words: string; param: string };

/** The vendor was silent for too long. */
export class IdleTimeout extends Error {}

/** A request without a response, or a response that broke off or ended before the vendor marked it complete. */
export class ConnectionLost extends Error {}

/** No server could be reached at the address. */
export class Unreachable extends ConnectionLost {
  readonly code: string;

  constructor(code: string) {
    super();
    this.code = code;
  }
}

/** The answer is invalid: not JSON, or an impossible call. */
export class Unreadable extends Error {}

/** A fault found by the attempt itself, such as an answer that the vendor's filter stopped. */
export class AttemptFailed extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.message);
    this.fault = fault;
  }
}

/** An error from the vendor, with the status of its response or the status that an error inside a stream stands for. */
export class VendorError extends Error {
  readonly status: number;
  readonly words: string;
  readonly labels: readonly string[];
  readonly retryAfterMs: number | null;
  readonly param: string;
  /** The vendor's id of the request, if the response had one. */
  readonly requestId: string;

  constructor(
    status: number,
    words: string,
    labels: readonly string[],
    retryAfterMs: number | null,
    param: string = '',
    requestId: string = '',
  ) {
    super();
    this.status = status;
    this.words = words;
    this.labels = labels;
    this.retryAfterMs = retryAfterMs;
    this.param = param;
    this.requestId = requestId;
  }
}

/** The name of a vendor and its settings in messages to people. */
type NamedVendor = {
  addressSetting: string;
  keySetting: string;
  modelId: string;
  title: string;
  ending?: { retires_on: string | null; replacement: string | null };
};

/**
 * Builds messages only from the status and the vendor's error code, because the vendor's text may repeat parts of keys
 * and requests.
 */
export function faultOf(error: unknown, vendor: NamedVendor, timeoutMs: number): Fault {
  if (error instanceof AttemptFailed) return error.fault;
  if (error instanceof IdleTimeout) {
    return passing('timeout', `${vendor.title} sent nothing for ${Math.round(timeoutMs / 1000)} seconds.`);
  }
  if (error instanceof VendorError) return faultOfStatus(error, vendor);
  if (error instanceof Unreachable) {
    const where = `Nothing answers at the address of ${nameIn(vendor)} (${error.code})`;
    return passing('unavailable', `${where}: check ${vendor.addressSetting} and the network.`);
  }
  if (error instanceof ConnectionLost) return passing('unavailable', `The connection to ${nameIn(vendor)} was lost.`);
  if (error instanceof Unreadable) {
    return lasting('invalid_answer', `${vendor.title} sent an answer that cannot be read.`);
  }
  return lasting('unavailable', `The call to ${nameIn(vendor)} failed.`);
}

/** The cause of a failure: the endpoint rejected the level of reasoning, or any. */
export const rejectedLevel = new Error('The level of reasoning was rejected.');

export function failureOf(fault: Fault): ModelFailure {
  return new ModelFailure(fault.reason, fault.message, {
    ...(fault.usage && { usage: fault.usage }),
    ...(fault.isOfLevel && { cause: rejectedLevel }),
    details: {
      ...(fault.status !== null && { status: fault.status }),
      ...(fault.vendorRequestId && { vendorRequestId: fault.vendorRequestId }),
      ...(fault.isOfAccount && { isOfAccount: true }),
    },
  });
}

function faultOfStatus(error: VendorError, vendor: NamedVendor): Fault {
  const { status, words, labels, retryAfterMs, param, requestId } = error;
  const said = `${status}${labels.length > 0 ? ` ${labels.join(' ')}` : ''}`;
  const fault = (reason: ModelFailureReason, isPassing: boolean, message: string): Fault => ({
    reason,
    isPassing,
    retryAfterMs: isPassing ? retryAfterMs : null,
    status,
    message,
    ...(requestId && { vendorRequestId: requestId }),
  });
  if (status < 400) {
    return fault(
      'unavailable',
      false,
      `${vendor.title} answers from another address (${said}): check ${vendor.addressSetting}.`,
    );
  }
  if (status === 401 || status === 403) {
    const message = `${vendor.title} did not accept the key (${said}): check ${vendor.keySetting}.`;
    return { ...fault('unavailable', false, message), isOfAccount: true };
  }
  if (labels.includes('insufficient_quota') || status === 402 || /credit balance is too low/i.test(words)) {
    const message = `The account at ${nameIn(vendor)} has no credit left (${said}).`;
    return { ...fault('unavailable', false, message), isOfAccount: true };
  }
  if (status === 429) return fault('rate_limited', true, `${vendor.title} limits the rate of calls (${said}).`);
  if (status === 404 || (status < 500 && isUnknownModel(words, labels))) {
    const message = `${vendor.title} has no model ${vendor.modelId} at its address (${said}).${endOf(vendor)}`;
    return fault('unavailable', false, message);
  }
  // Local servers report it as 500, too.
  const isOfTool = /\btools[.[]/.test(`${param ?? ''} ${words}`);
  if (status === 413 || (status <= 500 && !isOfTool && isTooLong(`${words} ${labels.join(' ')}`))) {
    return fault('too_long', false, `The conversation is too long for ${vendor.modelId} (${said}).`);
  }
  if (status === 408 || status === 504) return fault('timeout', true, `${vendor.title} took too long (${said}).`);
  // The model wrote a tool call that its vendor cannot read. Another answer of it may be better.
  if (labels.includes('tool_use_failed')) {
    return fault(
      'unavailable',
      true,
      `${vendor.modelId} wrote a tool call that ${nameIn(vendor)} cannot read (${said}).`,
    );
  }
  if (status === 409 || status === 424 || status >= 500)
    return fault('unavailable', true, `${vendor.title} failed (${said}).`);
  const isOfLevel = isOfReasoningLevel(words);
  const refused = {
    ...fault('refused', false, `${vendor.title} refused the request (${said}).`),
    refusal: { words: `${words} ${labels.join(' ')}`, param },
    isOfLevel,
  };
  if (!isOfReasoning(`${words} ${labels.join(' ')}`)) return refused;
  return { ...refused, isOfReasoning: true, hasNoReasoning: /not supported/i.test(words) };
}

/** A model that its vendor no longer has may have reached its announced end. */
function endOf({ ending: { retires_on, replacement } = { retires_on: null, replacement: null } }: NamedVendor): string {
  const end = retires_on === null ? '' : ` Its end was announced for ${retires_on}.`;
  return replacement === null ? end : `${end} Use ${replacement}.`;
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

const nameIn = (vendor: NamedVendor) => vendor.title.replace(/^The /, 'the ');

export function vendorErrorOfResponse(status: number, headers: IncomingHttpHeaders, body: string): VendorError {
  const said = recordOf([parsed(body)].flat()[0]);
  const error = typeof said.error === 'object' ? recordOf(said.error) : said;
  const words = [error.message, said.error, said.detail].map(textOf).find(Boolean) ?? '';
  const more = [listed(error.message), listed(said.detail), textOf(recordOf(error.metadata).raw)];
  const whole = [words, ...more].filter(Boolean).join(' ').slice(0, longestWords);
  const [param, requestId] = [textOf(error.param), requestIdIn(headers)];
  return new VendorError(status, whole, labelsOf(error), retryAfterOf(headers, body), param, requestId);
}

const requestIdHeaders = ['x-request-id', 'request-id', 'x-amzn-requestid', 'apim-request-id'];

/** Only an id: the headers of a wrong address may contain anything. */
function requestIdIn(headers: IncomingHttpHeaders): string {
  const id = requestIdHeaders.map((name) => textOf(headers[name])).find(Boolean) ?? '';
  return /^[\w.:-]{1,100}$/.test(id) ? id : '';
}

const longestWords = 8_192;

/** Some servers list the faults of a request instead of a sentence. A gateway adds the words of the vendor behind it. */
const listed = (value: unknown): string => (typeof value === 'object' && value !== null ? JSON.stringify(value) : '');

/** An error inside a stream has no status, only a name. */
export function vendorErrorOf(error: unknown): VendorError {
  const { message, type, code, status, param } = recordOf(error);
  const named = [code, type, status].filter((each) => typeof each === 'string').join(' ');
  const words = textOf(message) || textOf(error);
  const retryAfterMs = retryAfterOf({}, JSON.stringify(error) ?? '');
  const labels = labelsOf(recordOf(error));
  return new VendorError(statusIn(code) ?? statusNamed(named), words, labels, retryAfterMs, textOf(param));
}

function statusIn(code: unknown): number | null {
  const status = Number(code);
  return Number.isInteger(status) && status >= 400 && status < 600 ? status : null;
}

const statusNames: readonly (readonly [RegExp, number])[] = [
  [/rate_limit|insufficient_quota|resource_exhausted/i, 429],
  [/authentication|unauthenticated/i, 401],
  [/permission/i, 403],
  [/not_found/i, 404],
  [/too_large/i, 413],
  [/invalid|bad_request|context_length|failed_precondition|out_of_range/i, 400],
  [/timeout|deadline_exceeded/i, 504],
  [/overloaded|unavailable/i, 503],
];

const statusNamed = (name: string): number => statusNames.find(([pattern]) => pattern.test(name))?.[1] ?? 500;

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return { message: body };
  }
}

/** Codes such as `rate_limit_error`: words joined by underscores, so that nothing like a key passes. */
function labelsOf({ type, code, status }: JsonRecord): string[] {
  const labels = [type, code, status].filter(
    (label): label is string =>
      typeof label === 'string' && /^[A-Za-z]+(_[A-Za-z]+)*$/.test(label) && label.length < 40,
  );
  return [...new Set(labels)];
}

/** Each vendor says it in other words, and some of them without a code. A test quotes them. */
const tooLong = [
  /context[_ ](window|size|length|limit)/i,
  /too_large/i,
  /'(input|messages)\b[^']*': string too long/i,
  /(prompt|input)( \(.{0,40}\))?( is)? too long/i,
  /maximum (context|prompt|model) length/i,
  /(input )?token count.*exceeds/i,
  /input tokens exceed/i,
  /too many tokens/i,
  /exceeded model token limit/i,
  /payload size exceeds/i,
  /range of input length/i,
  /prompt exceeds max length/i,
  /reduce the length of the (messages|input|prompt)/i,
  /`inputs` (must have less than|tokens \+ `max_new_tokens`)/i,
];

const isTooLong = (words: string) => tooLong.some((pattern) => pattern.test(words));
/** Not every vendor answers 404 for a model that it does not have, or no longer has. */
const isUnknownModel = (words: string, labels: readonly string[]) =>
  labels.some((label) => ['model_not_found', 'invalid_model', 'model_not_available'].includes(label)) ||
  /provided model identifier is invalid|model not exist\b|is not a valid model id|reached the end of its life|\bmodel:? ['"`]?[\w./:@-]+['"`]? (does not exist|has been (deprecated|decommissioned|retired))/i.test(
    words,
  );

const isOfReasoning = (words: string) =>
  /signature|redacted_thinking|`?thinking`? block|encrypted[ _]content|reasoning_(content|details)|reasoning' item|of type 'reasoning'/i.test(
    words,
  );

/** Each vendor names the level in its own way, or says that the model has none. A test quotes them. */
const isOfReasoningLevel = (words: string) =>
  /reasoning[._]effort|effort parameter|\.effort\b|thinking\.type|thinking_?(level|budget|config)|thinking (level|budget|mode)|does not support thinking|budget \d+ is invalid/i.test(
    words,
  );

function retryAfterOf(headers: IncomingHttpHeaders, body: string): number | null {
  const milliseconds = Number(headers['retry-after-ms']);
  if (milliseconds > 0) return milliseconds;
  const after = headers['retry-after'];
  if (after !== undefined) {
    const delay = /^\d+(\.\d+)?$/.test(after) ? Number(after) * 1000 : Date.parse(after) - Date.now();
    if (Number.isFinite(delay)) return Math.max(0, delay);
  }
  // Google sends it in the body.
  const inBody = /"retryDelay":\s*"(\d+(?:\.\d+)?)s"/.exec(body);
  return inBody ? Number(inBody[1]) * 1000 : null;
}
