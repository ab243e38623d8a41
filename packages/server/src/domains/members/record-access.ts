import type { Origin } from '../../caller.ts';
import type { Executor } from '../../db/pool.ts';
import { recordAudit } from '../audit/api.ts';
import type { LoggedSource } from './source.ts';
import type { Membership } from './store.ts';

export type Access =
  | 'member.logged_in'
  | 'member.login_failed'
  | 'member.logged_out'
  | 'member.password_changed'
  | 'member.password_reset_made'
  | 'member.password_reset';

/**
 * A login opens every org of the person, in both modes, so each of these orgs is told of it, in its live log.
 */
export async function recordAccess(
  tx: Executor,
  memberships: readonly Membership[],
  action: Access,
  { requestId, ip }: LoggedSource,
): Promise<void> {
  for (const { member } of memberships) {
    const actor = { type: 'member' as const, id: member.id, name: member.name ?? member.email };
    const origin: Origin = { orgId: member.org_id, mode: 'live', actor, requestId, ip };
    await recordAudit(tx, origin, { action, target: { type: 'member', id: member.id } });
  }
}
