/**
 * The failure of a request to another system. The tenant may see the message, so it names the host at most, never a
 * resolved address, a header value or a query string. For the same reason it has no `cause`.
 */
export class OutboundFailure extends Error {
  readonly reason: OutboundReason;
  /** The status of the response, if one arrived before the failure. */
  readonly status: number | null;

  constructor(reason: OutboundReason, message: string, status: number | null = null) {
    super(message);
    this.name = 'OutboundFailure';
    this.reason = reason;
    this.status = status;
  }
}

/** `network` also covers requests and responses that violate HTTP. */
type OutboundReason = 'refused_address' | 'timeout' | 'too_large' | 'network' | 'tls';

/** Internal and unknown names get the same message, which would otherwise reveal which internal names exist. */
const noPublicAddress = (host: string) => `${host} could not be reached: it has no public address.`;

export const refusedConnection = (host: string) => new OutboundFailure('refused_address', noPublicAddress(host));

/** Translates an error of the socket, TLS, the HTTP parser or the decompressor. */
export function failureOf(error: unknown, { host, status }: { host: string; status: number | null }): OutboundFailure {
  if (error instanceof OutboundFailure) return error;
  const code = codeOf(error);
  if (unknownNameCodes.has(code)) return new OutboundFailure('network', noPublicAddress(host));
  if (timeoutCodes.has(code)) return new OutboundFailure('timeout', `${host} did not answer in time.`, status);
  if (tlsCodes.test(code)) {
    return new OutboundFailure('tls', `The TLS connection to ${host} failed: ${code}.`, status);
  }
  if (status !== null) {
    return new OutboundFailure('network', `The answer of ${host} could not be read: ${code}.`, status);
  }
  return new OutboundFailure('network', `${host} could not be reached: ${code}.`);
}

const unknownNameCodes = new Set(['ENOTFOUND', 'ENODATA', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'EAI_NONAME']);

const timeoutCodes = new Set([
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

/** TLS errors of Node and OpenSSL, and the names of failed certificate checks. */
const tlsCodes =
  /^(ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|CRL_|ERROR_IN_C|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|INVALID_|PATH_LENGTH_|HOSTNAME_)/;

/** Use only the code: messages contain addresses, and those of invalid headers contain their values. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
