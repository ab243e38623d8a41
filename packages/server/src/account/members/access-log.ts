import type { Origin } from '../../platform/caller.ts';
import type { Executor } from '../../platform/db/pool.ts';
import { recordAudit } from '../audit/audit-log.ts';
import type { MemberRow } from '../tables.ts';
import type { Membership } from './store.ts';

type Access =
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

/** From where somebody signs in. `userAgent` is what the browser says of itself. */
export type Source = { requestId: string; ip: string; userAgent: string | null };

const longestUserAgent = 512;

export const sourceOf = ({ requestId, ip, headers }: { requestId: string; ip: string; headers: Headers }): Source => ({
  requestId,
  ip,
  userAgent: headers.get('user-agent')?.slice(0, longestUserAgent) ?? null,
});

/** What of it the audit log keeps. */
export type LoggedSource = Pick<Origin, 'requestId' | 'ip'>;
