import { fail } from '@vestra/contract/errors';
import { recordAudit } from '../../account/index.ts';
import type { Caller, Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { lockVersions } from '../deployments/store.ts';
import type { ChangeLive } from '../versions/change-live.ts';
import { assertMayChange } from './live-lock.ts';
import { differences, type ServerChanges } from './mcp-server.ts';
import { lockServer, updateRow } from './store.ts';
import type { ServerRow } from './tables.ts';

/** What is already so is no change: it needs no right to change what is live, and is not written down. */
export async function changeServer(
  tx: Transaction,
  { caller, origin, changeLive }: { caller: Caller; origin: Origin; changeLive: ChangeLive },
  serverId: string,
  wanted: ServerChanges,
): Promise<ServerRow> {
  await lockVersions(tx, caller.orgId);
  const before = await lockServer(tx, caller.orgId, serverId, 'no key update');
  if (!before) throw fail('mcp_server_not_found');
  const changes = differences(before, wanted);
  if (Object.keys(changes).length === 0) return before;
  await assertMayChange(tx, caller, serverId);
  const server = await updateServer(tx, origin, serverId, changes);
  if (changes.url !== undefined) await moveLive(tx, origin, server, changeLive);
  return server;
}

/** A version calls only the address that it fixed, so each live version is followed by one with the new address. */
const moveLive = (tx: Transaction, origin: Origin, { id, slug, url }: ServerRow, changeLive: ChangeLive) =>
  changeLive(tx, { ...origin, mode: 'live' }, id, ({ manifest, content }) => ({
    manifest: {
      ...manifest,
      mcp_servers: manifest.mcp_servers.map((server) => (server.id === id ? { ...server, url } : server)),
    },
    content,
    changed: 'mcp_servers',
    note: `The URL of the tool server \`${slug}\` was changed.`,
  }));

/** Whether the caller may is asked before. */
export async function updateServer(
  tx: Transaction,
  origin: Origin,
  serverId: string,
  changes: ServerChanges,
): Promise<ServerRow> {
  const row = await updateRow(tx, origin.orgId, serverId, changes);
  if (!row) throw fail('mcp_server_not_found');
  await recordAudit(tx, origin, {
    action: 'mcp_server.updated',
    target: { type: 'mcp_server', id: serverId },
    details: { changed: Object.keys(changes) },
  });
  return row;
}
