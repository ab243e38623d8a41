import { Failure, fail } from '@vestra/contract/errors';
import { plainSentence } from '@vestra/contract/plain-sentence';
import { isDatabaseAway, isReadOnlyDatabase } from '../db/unreachable.ts';

/** The one place where a failure becomes the body that every error answers. */
export function errorBody(failure: Failure, requestId: string) {
  const { param, names, deployments, errors, partial, retry_after_ms } = failure.details;
  return {
    error: {
      type: failure.type,
      code: failure.code,
      message: failure.message,
      ...(param !== undefined && param !== '' && { param }),
      ...(names && { names }),
      ...(deployments && { deployments }),
      ...(errors && { errors }),
      ...(partial !== undefined && { partial }),
      ...(retry_after_ms !== undefined && { retry_after_ms }),
      request_id: requestId,
    },
  };
}

const openaiTypes: Partial<Record<Failure['type'], string>> = {
  authentication: 'authentication_error',
  permission: 'permission_error',
  rate_limited: 'rate_limit_error',
  cap_reached: 'insufficient_quota',
  internal: 'server_error',
  upstream: 'server_error',
};

/** The same, as clients of OpenAI's API read it. */
function openaiErrorBody({ type, code, message, details }: Failure, requestId: string) {
  const known = openaiTypes[type] ?? 'invalid_request_error';
  return { error: { message, type: known, param: details.param || null, code, request_id: requestId } };
}

const oauthErrors: ReadonlySet<string> = new Set([
  ...['invalid_client', 'invalid_client_metadata', 'invalid_grant', 'invalid_redirect_uri', 'invalid_target'],
  'unsupported_grant_type',
]);

/** The same, as RFC 6749 and RFC 7591 word it. */
function oauthErrorBody({ code, status, message }: Failure, requestId: string) {
  const passing = status === 429 || status === 503 ? 'temporarily_unavailable' : 'server_error';
  const other = status === 429 || status >= 500 ? passing : 'invalid_request';
  const error = oauthErrors.has(code) ? code : other;
  return { error, error_description: message, code, request_id: requestId };
}

export const errorBodies = { own: errorBody, openai: openaiErrorBody, oauth: oauthErrorBody };

/** Anything that is not a failure of ours is either the database being away or a fault on our side. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (isReadOnlyDatabase(error)) return notReady('The database takes no writes just now. Try again shortly.');
  if (isDatabaseAway(error)) return notReady('The database is away. Try again shortly.');
  return fail('internal_error');
}

/** After a failover another database takes over within seconds; a server that restarts is back as soon. */
const backWithinMs = 2_000;

export const notReady = (message: string): Failure => fail('not_ready', { message, retry_after_ms: backWithinMs });

/** What lies at the service and not at the request is worded for those who run it: a person hears that, not why. */
export function toldPlainly(failure: Failure): Failure {
  const { code, status, details } = failure;
  if (status !== 402 && status !== 409 && status < 500) return failure;
  const { retry_after_ms, told = plainSentence(code) } = details;
  return fail(code, { message: told, status, ...(retry_after_ms !== undefined && { retry_after_ms }) });
}
