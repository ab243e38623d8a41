import type { GrantEnding } from '@vestra/contract/mcp-grants';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { recordAudit } from '../audit/record.ts';
import { emit } from '../events/emit.ts';
import { findMembers } from '../members/store.ts';
import { originOf } from './actor.ts';
import { presentGrant } from './present.ts';
import { deleteGrant, lockGrantsOf } from './store.ts';
import type { GrantRow } from './tables.ts';

export async function endGrant(tx: Transaction, origin: Origin, grant: GrantRow, reason: GrantEnding): Promise<void> {
  await deleteGrant(tx, grant.id);
  await recordAudit(tx, origin, {
    action: 'mcp_grant.revoked',
    target: { type: 'mcp_grant', id: grant.id },
    details: { client: grant.client_name, member: grant.member_id, reason },
  });
  const data = { ...presentGrant(grant, await findMembers(tx, [grant.member_id])), reason };
  await emit(tx, { orgId: grant.org_id, mode: grant.mode, type: 'mcp_grant.revoked', data });
}

/** All that these members have let in, whether they go or their login was in wrong hands. */
export async function endGrantsOf(
  tx: Transaction,
  memberIds: readonly string[],
  source: Pick<Origin, 'requestId' | 'ip'>,
): Promise<string[]> {
  const grants = await lockGrantsOf(tx, memberIds);
  for (const grant of grants) await endGrant(tx, await originOf(tx, grant, source), grant, 'member');
  return grants.map(({ id }) => id);
}
