import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import { headerExposesCredential, urlExposesCredential } from '@vestra/contract/exposed-credential';
import { reservedServerSlugs } from '@vestra/contract/reserved-names';
import type { ResponseOf } from '@vestra/contract/route';
import { secretsIn, withFullReferences, withSecretValues } from '@vestra/contract/secrets-in-text';
import type { Caller } from '../../platform/caller.ts';
import type { ServerRow } from './tables.ts';

type Auth = ResponseOf<Api['mcpServers']['get']>['auth'];
export type Headers = ServerRow['headers'];

/** What can be changed of a server, as its row has it. */
export type ServerChanges = Partial<
  Pick<ServerRow, 'name' | 'url' | 'headers' | 'deny' | 'require_approval' | 'sampling'>
>;

/** Refuses an address that the server must not call; says so on `param`. */
export type AssertCallable = (address: string, param: string) => void;

/** What the form of a body does not show: reserved names, and credentials where they do not belong. */
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
    // Asked first: an address with a password in it is not callable either, and this answer says what to do.
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

function assertHeaders(headers: Headers): void {
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

export const headersOf = (auth: Auth): Headers =>
  auth.type === 'none'
    ? {}
    : Object.fromEntries(Object.entries(auth.headers).map(([name, value]) => [name, withFullReferences(value)]));

export const authOf = (headers: Headers): Auth =>
  Object.keys(headers).length === 0 ? { type: 'none' } : { type: 'headers', headers: { ...headers } };

/** The names of the secrets that the headers refer to, each once. */
export const secretsOf = (headers: Headers): { company: string[]; user: string[] } =>
  secretsIn(Object.values(headers).join('\n'));

/** Two spellings of one address (the case of the host, a default port, an empty path) have one hash. */
export const addressSha256 = (url: string): string => createHash('sha256').update(new URL(url).href).digest('hex');

/** Those of the wanted values that the row does not have already. */
export function differences(row: ServerRow, wanted: ServerChanges): ServerChanges {
  const entries = Object.entries(wanted) as [keyof ServerChanges, unknown][];
  return Object.fromEntries(entries.filter(([field, value]) => !isDeepStrictEqual(row[field], value)));
}

/**
 * A change to a server that a live version uses is a change to live. A developer makes none in either mode, neither in the
 * console nor through an MCP client, which is also held to the mode of its grant.
 */
export function mayChangeLive({ member, grant, mode }: Pick<Caller, 'member' | 'grant' | 'mode'>): boolean {
  const role = (member ?? grant)?.role;
  const mayByRole = role === undefined || role === 'owner' || role === 'admin';
  return mayByRole && (member !== null || mode === 'live');
}

/** Two spellings of one address are the same server. */
export const sameAddress = (one: string, other: string): boolean => new URL(one).href === new URL(other).href;

type SecretValues = Parameters<typeof withSecretValues>[1];

/**
 * The headers as they are sent, and the names of those that HTTP cannot carry. They are told apart here because the
 * error of a client that meets such a value repeats the value.
 */
export function fillHeaders(
  headers: Headers,
  values: SecretValues,
): { headers: Record<string, string>; unsendable: string[] } {
  // White space at the ends is no part of a header; a secret stored from a file often ends with a line break.
  const filled = Object.entries(headers).map(
    ([name, value]) => [name, withSecretValues(value, values).trim()] as const,
  );
  return {
    headers: Object.fromEntries(filled),
    unsendable: filled.filter(([, value]) => !sendable.test(value)).map(([name]) => name),
  };
}

const sendable = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Shorter values are no credentials, and stand in texts by chance. */
const shortest = 4;

/** The text without the values of these secrets. The longest goes first: it may have another one within it. */
export function hideSecrets(text: string, values: Iterable<string>): string {
  const sent = [...values].map((value) => value.trim()).filter((value) => value.length >= shortest);
  return sent
    .sort((one, other) => other.length - one.length)
    .reduce((left, value) => left.replaceAll(value, '[secret]'), text);
}
