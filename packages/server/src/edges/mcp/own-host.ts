import { localhostAllowedHostnames, validateHostHeader, validateOriginHeader } from '@modelcontextprotocol/server';
import { fail } from '@vestra/contract/errors';

/**
 * A page that a browser shows may have its own name resolve to this machine and then speak to the server as if it were
 * its own. The names under which the server is known are what tells the two apart.
 */
export function ownHostnames({ publicUrl, host }: { publicUrl: string; host: string }): string[] {
  const bound = host.includes(':') ? `[${host}]` : host;
  return [...localhostAllowedHostnames(), bound, new URL(publicUrl).hostname].map((name) => name.toLowerCase());
}

export function assertOwnHost(headers: Headers, hostnames: readonly string[]): void {
  const host = validateHostHeader(headers.get('host')?.toLowerCase(), [...hostnames]);
  const origin = validateOriginHeader(headers.get('origin'), [...hostnames]);
  if (!host.ok) {
    throw fail('origin_not_allowed', {
      message: 'This server is not known by that Host. The operator names its address as VESTRA_PUBLIC_URL.',
      param: 'Host',
    });
  }
  if (!origin.ok) throw fail('origin_not_allowed', { param: 'Origin' });
}
