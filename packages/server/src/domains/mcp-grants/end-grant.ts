import type { Origin } from '../../caller.ts';
import type { Transaction } from '../../db/pool.ts';
import { recordAudit } from '../audit/api.ts';
import { originOf } from './actor.ts';
import { deleteGrant, lockGrantsOf } from './store.ts';
import type { GrantRow } from './tables.ts';

/** Why it ended: somebody ended it, the client gave it back, what is used once was used twice, or its member's login changed hands. */
type Reason = 'ended' | 'given_back' | 'code_used_twice' | 'refresh_token_used_twice' | 'member';

export async function endGrant(tx: Transaction, origin: Origin, grant: GrantRow, reason: Reason): Promise<void> {
  await deleteGrant(tx, grant.id);
  await recordAudit(tx, origin, {
    action: 'mcp_grant.revoked',
    target: { type: 'mcp_grant', id: grant.id },
    details: { client: grant.client_name, member: grant.member_id, reason },
  });
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
