import { fail } from '@vestra/contract/errors';
import { z } from 'zod';
import type { Database } from '../../platform/db/pool.ts';
import type { Outbound } from '../../platform/outbound/fetcher.ts';
import { OutboundFailure } from '../../platform/outbound/outbound-failure.ts';
import { type McpClient, refuseRedirect, shownName } from './client.ts';
import { findRegistered } from './store.ts';

export type ClientSources = { db: Database; outbound: Pick<Outbound, 'fetch'> };

/** By the address of its metadata document, or by the id that it registered. */
export async function findClient({ db, outbound }: ClientSources, clientId: string): Promise<McpClient> {
  if (/^https?:/i.test(clientId)) return readDocument(outbound, clientId);
  const row = await findRegistered(db, clientId);
  if (!row) throw fail('invalid_client', { param: 'client_id' });
  return { id: row.id, name: row.name, redirectUris: row.redirect_uris, publishedBy: null };
}

/** As much as any client says of itself, and more. */
const largestDocument = 64 * 1024;
const longestWaitMs = 5000;

/** OAuth Client ID Metadata Document: who controls the address says what the client is and where browsers go. */
async function readDocument(outbound: Pick<Outbound, 'fetch'>, clientId: string): Promise<McpClient> {
  const { host, pathname, hash } = URL.parse(clientId) ?? refuse('The client id is not a valid address.');
  if (hash !== '' || clientId.includes('#')) refuse('The client id has no fragment.');
  if (pathname === '/' || /\/\.{1,2}(\/|$)/.test(clientId)) refuse('The client id is the address of a document.');
  const answer = await outbound
    .fetch(clientId, {
      headers: { accept: 'application/json' },
      timeoutMs: longestWaitMs,
      maxBytes: largestDocument,
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
  // One that cannot be used takes nothing from the others.
  const redirectUris = redirect_uris.filter((each) => refuseRedirect(each) === null);
  return { id: clientId, name: shownName(client_name, host), redirectUris, publishedBy: host };
}

/** How it would prove itself is not asked: the server's metadata says that PKCE is all it takes. */
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
