import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import { headerExposesCredential, urlExposesCredential } from '@vestra/contract/exposed-credential';
import { reservedServerSlugs } from '@vestra/contract/reserved-names';
import type { ResponseOf } from '@vestra/contract/route';
import { secretsIn, withFullReferences, withSecretValues } from '@vestra/contract/secrets-in-text';
import type { Caller } from '../../platform/caller.ts';
import { createRedactor } from '../../platform/secrets/redact.ts';
import type { ServerRow } from './tables.ts';

type Auth = ResponseOf<Api['mcpServers']['get']>['auth'];
export type ServerHeaders = ServerRow['headers'];

/** The changeable columns of a server. */
export type ServerChanges = Partial<
  Pick<ServerRow, 'name' | 'url' | 'headers' | 'deny' | 'require_approval' | 'sampling'>
>;

/** Throws on `param` if the server must not call the address. */
export type AssertCallable = (address: string, param: string) => void;

/** Checks beyond the schema: reserved names, and credentials in the wrong place. */
export function assertAcceptable(
  { slug, url, auth }: { slug?: string | undefined; url?: string | undefined; auth?: Auth | undefined },
  assertCallable: AssertCallable,
): void {
  if (slug !== undefined && reservedServerSlugs.has(slug)) {
    throw fail('tool_name_reserved', {
      param: 'slug',
      message: `\`${slug}\` is one of the agent’s own tool servers. Choose another slug.`,
    });
  }
  if (url !== undefined) {
    // Checked first: a URL with a password is also not callable, but this error says what to do.
    if (urlExposesCredential(url)) {
      throw fail('secret_in_url', {
        param: 'url',
        message: 'The URL carries a credential: store it as a secret and send it as a header in `auth`.',
      });
    }
    assertCallable(url, 'url');
  }
  if (auth?.type === 'headers') assertHeaders(auth.headers);
}

function assertHeaders(headers: ServerHeaders): void {
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    const param = `auth.headers.${name}`;
    if (seen.has(name.toLowerCase())) {
      const message = 'This header is there twice: upper and lower case are the same.';
      throw fail('invalid_request', { param, message });
    }
    seen.add(name.toLowerCase());
    if (headerExposesCredential(name, value)) throw fail('raw_secret_in_header', { param });
  }
}

export const headersOf = (auth: Auth): ServerHeaders =>
  auth.type === 'none'
    ? {}
    : Object.fromEntries(Object.entries(auth.headers).map(([name, value]) => [name, withFullReferences(value)]));

export const authOf = (headers: ServerHeaders): Auth =>
  Object.keys(headers).length === 0 ? { type: 'none' } : { type: 'headers', headers: { ...headers } };

/** Returns the names of the secrets in the headers, each once. */
export const secretsOf = (headers: ServerHeaders): { company: string[]; user: string[] } =>
  secretsIn(Object.values(headers).join('\n'));

/** Spellings of one address (case of the host, default port, empty path) have the same hash. */
export const addressSha256 = (url: string): string => createHash('sha256').update(addressOf(url)).digest('hex');

/** Normalised, since servers are found by their address. No request carries the fragment of a URL. */
export function addressOf(url: string): string {
  const address = new URL(url);
  address.hash = '';
  return address.href;
}

/** Returns the wanted values that differ from the row. */
export function differences(row: ServerRow, wanted: ServerChanges): ServerChanges {
  const entries = Object.entries(wanted) as [keyof ServerChanges, unknown][];
  return Object.fromEntries(entries.filter(([field, value]) => !isDeepStrictEqual(row[field], value)));
}

/**
 * Changing a server that a live version uses changes live traffic. A developer may not do that in either mode, neither
 * in the console nor through an MCP client. An MCP client is also bound to the mode of its grant.
 */
export function mayChangeLiveTraffic({ member, grant, mode }: Pick<Caller, 'member' | 'grant' | 'mode'>): boolean {
  const role = (member ?? grant)?.role;
  const mayByRole = role === undefined || role === 'owner' || role === 'admin';
  return mayByRole && (member !== null || mode === 'live');
}

/** Header names are case-insensitive. */
export function sameHeaders(one: ServerHeaders, other: ServerHeaders): boolean {
  const lines = (headers: ServerHeaders) =>
    Object.entries(headers)
      .map(([name, value]) => `${name.toLowerCase()}: ${value}`)
      .sort();
  return lines(one).join('\n') === lines(other).join('\n');
}

/** Compares normalized addresses. */
export const sameAddress = (one: string, other: string): boolean => addressOf(one) === addressOf(other);

type SecretValues = Parameters<typeof withSecretValues>[1];

/**
 * Fills secrets into headers, and returns the names of headers that HTTP cannot carry. Checked here, because the HTTP
 * client's error would contain the value.
 */
export function fillHeaders(
  headers: ServerHeaders,
  values: SecretValues,
): { headers: Record<string, string>; unsendable: string[] } {
  // HTTP trims headers, and a secret from a file often ends with a line break.
  const filled = Object.entries(headers).map(
    ([name, value]) => [name, withSecretValues(value, values).trim()] as const,
  );
  return {
    headers: Object.fromEntries(filled),
    unsendable: filled.filter(([, value]) => !sendable.test(value)).map(([name]) => name),
  };
}

const sendable = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Replaces secret values, also encoded ones. */
export const createHider = (values: Iterable<string>): ((text: string) => string) =>
  createRedactor([...values].map((value) => ({ value: value.trim(), mark: '[secret]' })));
