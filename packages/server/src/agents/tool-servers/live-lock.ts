import type { Caller } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { assertNotReliedOn } from '../versions/change-live.ts';
import { mayChangeLive } from './mcp-server.ts';

/**
 * Throws 409 `mcp_server_live` if a live version uses the server, or one that can be rolled back to, and the caller may
 * not change live. Archived deployments count. Only after `lockVersions`: a promotion must not slip in between.
 */
export async function assertMayChange(
  tx: Transaction,
  caller: Caller,
  serverId: string,
  param?: string,
): Promise<void> {
  if (mayChangeLive(caller)) return;
  await assertNotReliedOn(tx, caller.orgId, serverId, {
    code: 'mcp_server_live',
    ...(param !== undefined && { param }),
  });
}
