import { type ErrorCode, Failure, fail } from '@vestra/contract/errors';
import { grantScopes } from '@vestra/contract/mcp-grants';
import { plainSentence } from '@vestra/contract/plain-sentence';
import type { Route } from '@vestra/contract/route';
import { isDiskFull } from '../db/full-disk.ts';
import { nameOfMissingRow } from '../db/missing-row.ts';
import { isDatabaseUnreachable, isReadOnlyDatabase } from '../db/unreachable.ts';

/** The only place that turns a failure into the body of an error response. */
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

/** The same body in the format of OpenAI's API. */
function openaiErrorBody({ type, code, message, details }: Failure, requestId: string) {
  const known = openaiTypes[type] ?? 'invalid_request_error';
  return { error: { message, type: known, param: details.param || null, code, request_id: requestId } };
}

const oauthErrors: ReadonlySet<string> = new Set([
  ...['invalid_client', 'invalid_client_metadata', 'invalid_grant', 'invalid_redirect_uri', 'invalid_target'],
  'unsupported_grant_type',
]);

/** The same body in the format of RFC 6749 and RFC 7591. */
function oauthErrorBody({ code, status, message }: Failure, requestId: string) {
  const passing = status === 429 || status === 503 ? 'temporarily_unavailable' : 'server_error';
  const other = status === 429 || status >= 500 ? passing : 'invalid_request';
  const error = oauthErrors.has(code) ? code : other;
  return { error, error_description: message, code, request_id: requestId };
}

/** The error of JSON-RPC 2.0 for a body that is no JSON, so that the id of the request is unknown. */
function parseErrorBody({ type, code, message }: Failure, requestId: string) {
  const data = [{ metadata: { code, type, request_id: requestId } }];
  return { jsonrpc: '2.0', id: null, error: { code: -32700, message, data } };
}

const errorBodies = { own: errorBody, openai: openaiErrorBody, oauth: oauthErrorBody };

/** The format of an error response: that of the route, or else of the API whose paths it belongs to. */
export function errorFormatOf({ code }: Failure, route: Route | undefined, other: keyof typeof errorBodies) {
  if (route?.isJsonRpc && code === 'invalid_json') return parseErrorBody;
  return errorBodies[route ? (route.errorShape ?? 'own') : other];
}

/** Other errors mean that a row was deleted meanwhile, that the database is unreachable or that the server has a bug. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const missing = notFoundCodes[nameOfMissingRow(error) ?? ''];
  if (missing) return fail(missing);
  if (isReadOnlyDatabase(error)) return notReady('The database takes no writes just now. Try again shortly.');
  if (isDiskFull(error)) return notReady('The disk of the database is full. Try again when there is space.');
  if (isDatabaseUnreachable(error)) return notReady('The database is unreachable. Try again shortly.');
  return fail('internal_error');
}

/** The code for a row that was deleted while the request was handled, by its table or a column that refers to it. */
const notFoundCodes: Readonly<Record<string, ErrorCode>> = {
  api_keys: 'key_not_found',
  batches: 'batch_not_found',
  conversation_id: 'conversation_not_found',
  default_deployment: 'deployment_not_found',
  deployment_id: 'deployment_not_found',
  deployments: 'deployment_not_found',
  document_id: 'document_not_found',
  email: 'member_not_found',
  endpoint_id: 'webhook_not_found',
  grant_id: 'mcp_grant_not_found',
  improvement_id: 'improvement_not_found',
  improvements: 'improvement_not_found',
  interaction_id: 'interaction_not_found',
  interactions: 'interaction_not_found',
  key_id: 'key_not_found',
  mcp_grants: 'mcp_grant_not_found',
  member_id: 'member_not_found',
  members: 'member_not_found',
  notebook_id: 'notebook_not_found',
  replay_id: 'replay_not_found',
  replays: 'replay_not_found',
  routines: 'routine_not_found',
  run_id: 'test_run_not_found',
  scenarios: 'scenario_not_found',
  skill_id: 'skill_not_found',
  tasks: 'task_not_found',
  test_runs: 'test_run_not_found',
  turns: 'turn_not_found',
  user_id: 'user_not_found',
  users: 'user_not_found',
  webhook_endpoints: 'webhook_not_found',
};

/** After a failover another database takes over within seconds, and a restart is as quick. */
const backWithinMs = 2_000;

export const notReady = (message: string): Failure => fail('not_ready', { message, retry_after_ms: backWithinMs });

/** Failures of the service are worded for its operator. An end user sees a general sentence without the reason. */
export function withPlainMessage(failure: Failure): Failure {
  const { code, status, details } = failure;
  if (status !== 402 && status !== 409 && status < 500) return failure;
  const { retry_after_ms, told = plainSentence(code) } = details;
  return fail(code, { message: told, status, ...(retry_after_ms !== undefined && { retry_after_ms }) });
}

/**
 * The `WWW-Authenticate` header of a refusal (RFC 6750), or null. On routes for MCP clients it also names the
 * authorization server (RFC 9728) and the scopes to request.
 */
export function challengeOf(
  { status, code }: Pick<Failure, 'status' | 'code'>,
  route: Route | undefined,
  resourceMetadata: string | undefined,
): string | null {
  const takesGrants = route?.auth === 'key' && route.takesGrants === true && resourceMetadata !== undefined;
  const isTooLittle = takesGrants && code === 'scope_missing';
  if (status !== 401 && !isTooLittle) return null;
  const parameter = (name: string, value: string) => `${name}="${value}"`;
  const fields = [parameter('realm', 'vestra')];
  if (isTooLittle) fields.push(parameter('error', 'insufficient_scope'));
  else if (invalidCredentialCodes.has(code)) fields.push(parameter('error', 'invalid_token'));
  if (takesGrants) fields.push(parameter('scope', requestedScopes), parameter('resource_metadata', resourceMetadata));
  return `Bearer ${fields.join(', ')}`;
}

/** Codes for a credential that was sent but is not valid. */
const invalidCredentialCodes: ReadonlySet<string> = new Set([
  ...['key_expired', 'key_invalid', 'key_revoked', 'session_expired', 'session_revoked'],
]);

/** The scopes that most clients need. A client must request `admin` explicitly. */
const requestedScopes = grantScopes.filter((scope) => scope !== 'admin').join(' ');
