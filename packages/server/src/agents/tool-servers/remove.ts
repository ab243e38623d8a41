import { fail } from '@vestra/contract/errors';
import { recordAudit } from '../../account/index.ts';
import type { Caller, Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { lockVersions, markMissing } from '../deployments/store.ts';
import type { ChangeLive } from '../versions/change-live.ts';
import { assertMayChange } from './live-lock.ts';
import { forgetOutages } from './outage-store.ts';
import { deleteServer, lockServer } from './store.ts';

/** Live versions are followed by ones without the server. Every version that names it lists it as missing. */
export async function removeServer(
  tx: Transaction,
  { caller, origin, changeLive }: { caller: Caller; origin: Origin; changeLive: ChangeLive },
  serverId: string,
): Promise<void> {
  await lockVersions(tx, caller.orgId);
  const server = await lockServer(tx, caller.orgId, serverId, 'update');
  if (!server) throw fail('mcp_server_not_found');
  await assertMayChange(tx, caller, serverId);
  await deleteServer(tx, caller.orgId, serverId);
  await changeLive(tx, { ...origin, mode: 'live' }, serverId, ({ manifest, content }) => {
    const { [server.slug]: _gone, ...policies } = manifest.mcp_tool_policy;
    const named = manifest.mcp_servers.filter(({ id }) => id !== serverId);
    return {
      manifest: { ...manifest, mcp_servers: named, mcp_tool_policy: policies },
      content,
      changed: 'mcp_servers',
      note: `The tool server \`${server.slug}\` was deleted.`,
    };
  });
  await markMissing(tx, caller.orgId, serverId);
  await forgetOutages(tx, caller.orgId, serverId);
  await recordAudit(tx, origin, {
    action: 'mcp_server.deleted',
    target: { type: 'mcp_server', id: serverId },
    details: { slug: server.slug },
  });
}
