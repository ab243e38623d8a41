import { fail } from '@vestra/contract/errors';
import type { Caller, Origin } from '../../caller.ts';
import type { Transaction } from '../../db/pool.ts';
import { recordAudit } from '../audit/api.ts';
import { assertMayChange } from './live-lock.ts';
import { forgetOutages } from './outage-store.ts';
import { deleteServer, lockServer } from './store.ts';

/** Versions that name the server stay as they are and run without it. */
export async function removeServer(
  tx: Transaction,
  { caller, origin }: { caller: Caller; origin: Origin },
  serverId: string,
): Promise<void> {
  const server = await lockServer(tx, caller.orgId, serverId, 'update');
  if (!server) throw fail('mcp_server_not_found');
  await assertMayChange(tx, caller, serverId);
  await deleteServer(tx, caller.orgId, serverId);
  await forgetOutages(tx, caller.orgId, serverId);
  await recordAudit(tx, origin, {
    action: 'mcp_server.deleted',
    target: { type: 'mcp_server', id: serverId },
    details: { slug: server.slug },
  });
}
