import type { Failure } from '@vestra/contract/errors';
import { grantScopes } from '@vestra/contract/mcp-grants';
import type { Route } from '@vestra/contract/route';

/**
 * What `WWW-Authenticate` says of a refusal (RFC 6750), or null. Where MCP clients may be let in, they find the way by it
 * (RFC 9728), and are told which scopes to ask for.
 */
export function challengeOf(
  { status, code }: Pick<Failure, 'status' | 'code'>,
  route: Route | undefined,
  resourceMetadata: string | undefined,
): string | null {
  const takesGrants = route?.auth === 'key' && route.takesGrants === true && resourceMetadata !== undefined;
  const isTooLittle = takesGrants && code === 'scope_missing';
  if (status !== 401 && !isTooLittle) return null;
  const says = (name: string, value: string) => `${name}="${value}"`;
  const fields = [says('realm', 'vestra')];
  if (isTooLittle) fields.push(says('error', 'insufficient_scope'));
  else if (wasSent.has(code)) fields.push(says('error', 'invalid_token'));
  if (takesGrants) fields.push(says('scope', asked), says('resource_metadata', resourceMetadata));
  return `Bearer ${fields.join(', ')}`;
}

/** A credential came, and counts for nothing. */
const wasSent: ReadonlySet<string> = new Set([
  ...['key_expired', 'key_invalid', 'key_revoked', 'session_expired', 'session_revoked'],
]);

/** What most clients are for; who wants `admin` asks for it by name. */
const asked = grantScopes.filter((scope) => scope !== 'admin').join(' ');
