import type { Actor, Origin } from '../../platform/caller.ts';
import type { Executor } from '../../platform/db/pool.ts';
import { findMembers } from '../members/store.ts';
import type { MemberRow } from '../members/tables.ts';
import type { GrantRow } from './tables.ts';

/** The audit log names both: the member who is responsible, and the client that did it. */
export const actorOf = (grant: GrantRow, member: Pick<MemberRow, 'name' | 'email'>): Actor => ({
  type: 'mcp_grant',
  id: grant.id,
  name: `${member.name ?? member.email} with ${grant.client_name}`,
});

/** Of what a client does without an access token: it gives access back, or uses something twice. */
export async function originOf(
  db: Executor,
  grant: GrantRow,
  source: Pick<Origin, 'requestId' | 'ip'>,
): Promise<Origin> {
  const [member = { name: null, email: grant.member_id }] = await findMembers(db, [grant.member_id]);
  return { orgId: grant.org_id, mode: grant.mode, actor: actorOf(grant, member), ...source };
}
