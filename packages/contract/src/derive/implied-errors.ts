import type { z } from 'zod';
import type { ErrorCode } from '../errors.ts';
import { codesWithin } from '../fault.ts';
import { type Route, sessionAccessOf } from '../route.ts';

/** The codes that follow from a row's access, query, body and path, so that no row has to repeat them. */
export function impliedErrors(route: Route): ErrorCode[] {
  const codes: ErrorCode[] = ['internal_error', 'not_ready', 'invalid_query'];
  // The credential is identified before the route checks whether it accepts it.
  if (route.auth === 'key' || route.auth === 'session') {
    codes.push('key_missing', 'key_invalid', 'key_revoked', 'key_expired');
    codes.push('session_scope', 'session_expired', 'session_revoked', 'user_disabled', 'token_audience');
  }
  // For a page that the org does not list.
  if (sessionAccessOf(route)) codes.push('origin_not_allowed');
  if (route.auth === 'key') codes.push('scope_missing', 'role_missing', 'csrf_required', 'console_login_required');
  if (route.auth === 'console') codes.push('console_login_required', 'csrf_required');
  if (route.auth !== 'open')
    codes.push(
      'org_disabled',
      'org_moved',
      'org_moving',
      'org_mismatch',
      'invalid_mode',
      'invalid_org_header',
      'rate_limited',
    );
  if (route.body) codes.push(...bodyErrors(route));
  else if (route.method !== 'GET') codes.push('invalid_json', 'invalid_request', 'body_too_large');
  if (route.idempotent || route.passesIdempotencyKey) {
    codes.push('invalid_idempotency_key', 'idempotency_key_reused', 'idempotency_in_progress');
  }
  const schemas: (z.ZodType | undefined)[] = [route.params, route.query, route.body];
  return [...new Set([...codes, ...schemas.flatMap((schema) => (schema ? codesWithin(schema) : []))])];
}

function bodyErrors(route: Route): ErrorCode[] {
  const accepts = route.accepts ?? ['application/json'];
  const codes: ErrorCode[] = [];
  if (accepts.some((type) => type === 'application/json' || type === 'application/x-www-form-urlencoded'))
    codes.push('invalid_json', 'invalid_request');
  if (accepts.some((type) => type !== 'multipart/form-data')) codes.push('body_too_large');
  if (accepts.includes('multipart/form-data')) codes.push('multipart_required', 'file_required', 'file_too_large');
  if (accepts.length > 1 || accepts[0] !== 'multipart/form-data') codes.push('unsupported_media_type');
  return codes;
}
