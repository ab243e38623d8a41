import { reservedServerSlugs } from '@vestra/contract/reserved-names';
import { withFullReferences, withShortReferences } from '@vestra/contract/secrets-in-text';
import type { RegisteredServer } from '../../agents/tool-servers/index.ts';
import type { ServerEntry } from './parts.ts';

type Headers = Readonly<Record<string, string>>;

const longestName = 80;
const longestSlug = 40;

/** One address in one spelling: servers are found again by it. */
export const addressOf = (url: string): string => new URL(url).href;

/** What a server is called where the file gives it no name. */
export const nameFromUrl = (url: string): string => new URL(url).host.slice(0, longestName);

export const nameOfServer = ({ mcp, name }: { mcp: string; name?: string | undefined }): string =>
  name ?? nameFromUrl(mcp);

/**
 * The headers that an entry asks for, as a server shows them; undefined where it gives neither `auth` nor `headers` and
 * so takes the server as it is registered.
 */
export function wantedHeaders({ auth, headers }: Pick<ServerEntry, 'auth' | 'headers'>): Headers | undefined {
  if (auth === undefined && headers === undefined) return undefined;
  const given = Object.entries(headers ?? {}).map(([name, value]) => [name, withFullReferences(value)]);
  return {
    ...Object.fromEntries(given),
    ...(auth !== undefined && { Authorization: `Bearer ${withFullReferences(auth)}` }),
  };
}

/** The way back: a bearer token that is one reference is written as `auth`. */
export function writtenHeaders(headers: Headers): Pick<ServerEntry, 'auth' | 'headers'> {
  const written = Object.entries(headers).map(([name, value]): [string, string] => [name, withShortReferences(value)]);
  const bearer = written.find(([name]) => name.toLowerCase() === 'authorization');
  const auth = /^Bearer (\$\{[^{}]+\})$/.exec(bearer?.[1] ?? '')?.[1];
  const rest = written.filter((header) => auth === undefined || header !== bearer);
  return {
    ...(auth !== undefined && { auth }),
    ...(rest.length > 0 && { headers: Object.fromEntries(rest) }),
  };
}

/** Header names are the same in upper and lower case. */
function sameHeaders(one: Headers, other: Headers): boolean {
  const lines = (headers: Headers) =>
    Object.entries(headers)
      .map(([name, value]) => `${name.toLowerCase()}: ${value}`)
      .sort();
  return lines(one).join('\n') === lines(other).join('\n');
}

/** The changes that an entry asks of the server that it found. */
export function wantedChanges(
  entry: ServerEntry,
  server: RegisteredServer,
): Partial<Pick<RegisteredServer, 'name' | 'headers'>> {
  const headers = wantedHeaders(entry);
  return {
    ...(entry.name !== undefined && entry.name !== server.name && { name: entry.name }),
    ...(headers && !sameHeaders(headers, server.headers) && { headers }),
  };
}

/** The n-th slug for a server of this name: `crm`, `crm-2`, and never one of the agent's own servers. */
export function serverSlug(name: string, number: number): string {
  const words = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+/, '');
  const suffix = number === 1 ? '' : `-${number}`;
  const slug = trimDashes(words.slice(0, longestSlug - suffix.length)) || 'server';
  return number === 1 && reservedServerSlugs.has(slug) ? `${slug}-server` : slug + suffix;
}

const trimDashes = (text: string) => text.replace(/^-+|-+$/g, '');
