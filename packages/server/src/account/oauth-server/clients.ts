import { fail } from '@vestra/contract/errors';
import { z } from 'zod';
import type { Database, Executor, Transaction } from '../../platform/db/pool.ts';
import { insert, maybeOne, prune, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf, type RowOf } from '../../platform/db/table.ts';
import type { Outbound } from '../../platform/outbound/fetcher.ts';
import { OutboundFailure } from '../../platform/outbound/outbound-failure.ts';
import { mcpGrants, registeredMcpClients } from '../tables.ts';

/** An MCP client before a member has granted it access. */
export type McpClient = {
  id: string;
  name: string;
  redirectUris: readonly string[];
  /** The host that published its metadata. Null: the client registered itself, and may claim any name. */
  publishedBy: string | null;
};

const loopback = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Schemes of MCP clients that are in use. All others must be names of a domain in reverse (RFC 8252), because a browser
 * may hand links of other schemes to programs that run what they contain.
 */
const schemesOfClients = new Set([
  ...['claude', 'codeium', 'cursor', 'goose', 'jetbrains', 'kiro', 'lmstudio', 'msty', 'raycast', 'trae', 'vscode'],
  ...['vscode-insiders', 'vscodium', 'warp', 'windsurf', 'windsurf-next', 'zed'],
]);

const isReverseDomain = (scheme: string) => /^[a-z][a-z0-9-]*(\.[a-z0-9-]+)+$/.test(scheme);

/** Returns the reason why a redirect address is refused, or null. */
export function refuseRedirect(address: string): string | null {
  if (address.length > 2048) return 'A redirect address may have at most 2048 characters.';
  // The parser drops or rewrites these characters, so the parsed address would differ from the registered text.
  if (/[\s\p{Cc}\\]/u.test(address))
    return 'A redirect address must not hold spaces, control characters or backslashes.';
  const url = URL.parse(address);
  if (!url) return 'The redirect address is not a valid URL.';
  if (address.includes('#')) return 'A redirect address has no fragment.';
  if (url.username !== '' || url.password !== '') return 'A redirect address holds no user name or password.';
  if (url.protocol === 'https:') return null;
  if (url.protocol === 'http:') {
    return loopback.has(url.hostname) ? null : 'Plain http is for programs on the same computer (localhost) alone.';
  }
  const scheme = url.protocol.slice(0, -1);
  if (schemesOfClients.has(scheme) || isReverseDomain(scheme)) return null;
  return 'The scheme of an app is the name of a domain in reverse, such as com.example.app.';
}

/**
 * Compares exactly, except for the port of a loopback address, which a native app cannot know in advance (RFC 8252).
 */
export function isRedirectOf({ redirectUris }: Pick<McpClient, 'redirectUris'>, address: string): boolean {
  if (refuseRedirect(address) !== null) return false;
  return redirectUris.includes(address) || redirectUris.some((each) => differsInPortAlone(each, address));
}

function differsInPortAlone(registered: string, address: string): boolean {
  const [a, b] = [URL.parse(registered), URL.parse(address)];
  if (!a || !b || a.protocol !== 'http:' || !loopback.has(a.hostname)) return false;
  a.port = '';
  b.port = '';
  return a.href === b.href;
}

type Destination = { kind: 'site' | 'computer' | 'app'; address: string };

/** The site, computer or app that a redirect address leads to. */
export function destinationOf(redirectUri: string): Destination {
  const { protocol, hostname, host } = new URL(redirectUri);
  if (protocol === 'https:') return { kind: 'site', address: host };
  if (protocol === 'http:') return { kind: 'computer', address: hostname };
  return { kind: 'app', address: `${protocol.slice(0, -1)}:` };
}

/**
 * The host that vouches for the client. It is verified only for sites: any local program can claim a published client
 * id.
 */
export function addressOf(client: McpClient, redirectUri: string): { address: string; isVerified: boolean } {
  const { kind, address } = destinationOf(redirectUri);
  if (client.publishedBy === null) return { address, isVerified: false };
  return { address: client.publishedBy, isVerified: kind === 'site' };
}

const maxNameLength = 80;

/** Makes a name safe to show in a sentence: no line breaks, and no characters that change the text direction. */
export function shownName(name: string | undefined, otherwise: string): string {
  const shown = (name ?? '')
    .toWellFormed()
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return [...(shown || otherwise)].slice(0, maxNameLength).join('');
}

export type ClientSources = { db: Database; outbound: Pick<Outbound, 'fetch'> };

/** Finds a client by the address of its metadata document, or by its registered id. */
export async function findClient({ db, outbound }: ClientSources, clientId: string): Promise<McpClient> {
  if (/^https?:/i.test(clientId)) return readDocument(outbound, clientId);
  const row = await findRegistered(db, clientId);
  if (!row) throw fail('invalid_client', { param: 'client_id' });
  return { id: row.id, name: row.name, redirectUris: row.redirect_uris, publishedBy: null };
}

const maxDocumentBytes = 64 * 1024;
const maxWaitMs = 5000;

/**
 * Reads an OAuth Client ID Metadata Document. The owner of the address decides the client's name and redirect
 * addresses.
 */
async function readDocument(outbound: Pick<Outbound, 'fetch'>, clientId: string): Promise<McpClient> {
  const { host, pathname, hash } = URL.parse(clientId) ?? refuse('The client id is not a valid address.');
  if (hash !== '' || clientId.includes('#')) refuse('The client id has no fragment.');
  if (pathname === '/' || /\/\.{1,2}(\/|$)/.test(clientId)) refuse('The client id is the address of a document.');
  const answer = await outbound
    .fetch(clientId, {
      headers: { accept: 'application/json' },
      timeoutMs: maxWaitMs,
      maxBytes: maxDocumentBytes,
    })
    .catch((error: unknown) => {
      if (error instanceof OutboundFailure) refuse(`${host} was asked what this client is. ${error.message}`);
      throw error;
    });
  if (answer.status !== 200) refuse(`${host} was asked what this client is, and answered ${answer.status}.`);
  const read = document.safeParse(parsed(answer.body));
  if (!read.success) refuse('It lacks `client_id` or `redirect_uris`, or is no JSON.');
  const { client_id, client_name, redirect_uris } = read.data;
  if (client_id !== clientId) refuse('Its `client_id` is another address than its own.');
  // Ignore unusable redirect addresses: the others stay valid.
  const redirectUris = redirect_uris.filter((each) => refuseRedirect(each) === null);
  return { id: clientId, name: shownName(client_name, host), redirectUris, publishedBy: host };
}

/** Ignores the client's authentication method: this server accepts public clients with PKCE only. */
const document = z.object({
  client_id: z.string(),
  client_name: z.string().optional(),
  redirect_uris: z.array(z.string()).min(1).max(100),
});

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}

function refuse(why: string): never {
  throw fail('invalid_client_metadata', {
    param: 'client_id',
    message: `The metadata document of the client cannot be used. ${why}`,
  });
}

const findRegistered = (db: Executor, id: string): Promise<RowOf<typeof registeredMcpClients> | undefined> =>
  maybeOne(
    db,
    registeredMcpClients,
    sql`SELECT ${columnsOf(registeredMcpClients)} FROM ${registeredMcpClients} WHERE id = ${id}`,
  );

/**
 * Anyone may register, so about `most` clients without a grant are stored. Addresses with many clients lose their oldest
 * first. A client of the last ten minutes stays, because somebody may be signing in with it.
 */
export async function insertRegistered(
  tx: Transaction,
  row: Pick<RowOf<typeof registeredMcpClients>, 'id' | 'name' | 'redirect_uris' | 'registered_from'>,
  { most }: { most: number },
): Promise<RowOf<typeof registeredMcpClients>> {
  const made = await insert(tx, registeredMcpClients, row);
  await run(
    tx,
    sql`DELETE FROM ${registeredMcpClients} WHERE last_used_at < now() - interval '10 minutes' AND id IN (
          SELECT id FROM (
            SELECT id, last_used_at, row_number() OVER (
              PARTITION BY COALESCE(registered_from, id) ORDER BY last_used_at DESC, id DESC) AS place
            FROM ${registeredMcpClients} WHERE ${isUnused}) ranked
          ORDER BY place, last_used_at DESC, id DESC OFFSET ${most})`,
  );
  return made;
}

const isUnused = sql`NOT EXISTS (SELECT FROM ${mcpGrants} g WHERE g.client_id = ${registeredMcpClients}.id)`;

/** Deletes registered clients without a grant. */
export const pruneRegistered = (db: Database, before: Date, limit: number): Promise<boolean> =>
  prune(db, registeredMcpClients, sql`last_used_at < ${before} AND ${isUnused}`, limit);
