import { fail } from '@vestra/contract/errors';
import type { Caller } from '../../caller.ts';
import type { Transaction } from '../../db/pool.ts';
import { deploymentsUsing } from '../deployments/api.ts';
import { mayChangeLive } from './mcp-server.ts';

/**
 * Throws 409 `mcp_server_live` where a live version uses the server and the caller may not change what is live. An
 * archived deployment keeps its live version and counts.
 */
export async function assertMayChange(
  tx: Transaction,
  caller: Caller,
  serverId: string,
  param?: string,
): Promise<void> {
  if (mayChangeLive(caller)) return;
  const live = (await deploymentsUsing(tx, caller.orgId, serverId)).filter(({ isLive }) => isLive);
  if (live.length === 0) return;
  throw fail('mcp_server_live', { ...(param !== undefined && { param }), deployments: live.map(({ slug }) => slug) });
}
