import type { Origin } from '../../platform/caller.ts';
import type { Executor } from '../../platform/db/pool.ts';
import { recordAudit } from '../audit/record.ts';
import type { LoggedSource } from './source.ts';
import type { Membership } from './store.ts';
import type { MemberRow } from './tables.ts';

export type Access =
  | 'member.logged_in'
  | 'member.login_failed'
  | 'member.logged_out'
  | 'member.passkey_added'
  | 'member.passkey_removed'
  | 'member.password_changed'
  | 'member.password_reset_made'
  | 'member.password_reset';

/**
 * A login opens every org of the person, in both modes, so each of these orgs is told of it, in its live log.
 */
export async function recordAccess(
  tx: Executor,
  memberships: readonly Pick<Membership, 'member'>[],
  action: Access,
  { requestId, ip }: LoggedSource,
  details?: Record<string, unknown>,
): Promise<void> {
  for (const { member } of memberships) {
    const actor = { type: 'member' as const, id: member.id, name: member.name ?? member.email };
    const origin: Origin = { orgId: member.org_id, mode: 'live', actor, requestId, ip };
    await recordAudit(tx, origin, { action, target: { type: 'member', id: member.id }, ...(details && { details }) });
  }
}

/** What a person has become in one org by signing in to it. */
export async function recordMemberChange(
  tx: Executor,
  member: MemberRow,
  action: 'member.created' | 'member.accepted' | 'member.linked' | 'member.unlinked',
  details: Record<string, unknown>,
  { requestId, ip }: LoggedSource,
): Promise<void> {
  const actor = { type: 'member' as const, id: member.id, name: member.name ?? member.email };
  const origin: Origin = { orgId: member.org_id, mode: 'live', actor, requestId, ip };
  await recordAudit(tx, origin, { action, target: { type: 'member', id: member.id }, details });
}
