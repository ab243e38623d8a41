import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { McpTarget } from '../../agents/index.ts';
import type { Caller, Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { App } from './app.ts';
import { keyOfUser } from './connection.ts';
import type { ConnectDependencies } from './dependencies.ts';
import { recordChange } from './end-connection.ts';
import { sealSecrets } from './secrets-of-connection.ts';
import { forgetReplaced, insertConnection, lockSignIns } from './store.ts';
import type { ConnectionRow } from './tables.ts';

/** How the app is called with a key; null where it takes none. */
export function targetWithKey({ url, api_key: place }: App, key: string): McpTarget | null {
  if (!place) return null;
  if ('header' in place) return { url, headers: { [place.header]: `${place.prefix}${key}` } };
  const address = new URL(url);
  address.searchParams.set(place.query, key);
  return { url: address.href, headers: {} };
}

/** Whether the app takes the key is found out before anybody relies on it. */
export async function assertKeyWorks(
  { mcpClient }: Pick<ConnectDependencies, 'mcpClient'>,
  app: App,
  key: string,
): Promise<void> {
  const target = targetWithKey(app, key);
  if (!target) {
    throw fail('invalid_request', { param: 'api_key', message: `${app.name} takes no key: the user signs in there.` });
  }
  const answer = await mcpClient.listTools(target, { signal: new AbortController().signal });
  if (answer.ok) return;
  if (answer.isUnauthorized) throw fail('api_key_refused', { param: 'api_key' });
  // What the client says names the host at most; the address itself may hold the key.
  throw fail('mcp_server_error', { message: `The key could not be tried: ${answer.message} Try again later.` });
}

/** A connection by a key is made in one go: there is nobody to wait for. */
export async function connectByKey(
  tx: Transaction,
  { vault, jobs }: Pick<ConnectDependencies, 'vault' | 'jobs'>,
  { caller, origin }: { caller: Caller; origin: Origin },
  { app, userId, key }: { app: App; userId: string | null; key: string },
): Promise<ConnectionRow> {
  const id = newId('con');
  const who = { org_id: caller.orgId, mode: caller.mode, user_key: keyOfUser(userId), app: app.id };
  await lockSignIns(tx, who);
  await forgetReplaced(tx, who);
  const row = await insertConnection(tx, {
    ...who,
    id,
    server_url: app.url,
    status: 'connected',
    auth: 'api_key',
    sealed: await sealSecrets(tx, vault, caller, id, { api_key: key }),
    // Of one that ends later it is known that it was connected once.
    token_epoch: 1,
  });
  await recordChange(tx, origin, row, 'connection.connected');
  await jobs.send(tx, 'connection.settle', { org_id: row.org_id, mode: row.mode, connection_id: id });
  return row;
}
