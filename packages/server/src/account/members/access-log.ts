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

/** A login opens all orgs of a person in both modes. So each org gets an entry in its live audit log. */
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

/** Records how a sign-in changed a membership in one org. */
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

/** The request behind a sign-in. */
export type Source = { requestId: string; ip: string; userAgent: string | null };

const maxUserAgentLength = 512;

export const sourceOf = ({ requestId, ip, headers }: { requestId: string; ip: string; headers: Headers }): Source => ({
  requestId,
  ip,
  userAgent: headers.get('user-agent')?.slice(0, maxUserAgentLength) ?? null,
});

/** The fields that the audit log stores. */
export type LoggedSource = Pick<Origin, 'requestId' | 'ip'>;
