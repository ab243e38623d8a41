import { fail } from '@vestra/contract/errors';
import { grantedTo } from '@vestra/contract/mcp-grants';
import type { Caller } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import { findActiveMembership } from '../members/store.ts';
import { actorOf } from './actor.ts';
import { findByAccessToken, markUsed } from './store.ts';
import { hashSecret } from './token.ts';

/** Grant, member, role and org are read on every call: a member who was removed or lowered is so with the next one. */
export const createGrantIdentity = (db: Database) => ({
  async ofGrant(token: string): Promise<Caller> {
    const found = await findByAccessToken(db, hashSecret(token));
    const membership = found && (await findActiveMembership(db, found.member_id));
    if (!membership) throw fail('key_invalid', { message: 'No such access token.' });
    if (found.is_over) throw fail('key_expired', { message: 'This access token has expired: renew it.' });
    if (found.is_use_due) await markUsed(db, found.id);
    const { member, org } = membership;
    return {
      orgId: org.id,
      orgStatus: org.status,
      mode: found.mode,
      actor: actorOf(found, member),
      scopes: grantedTo(member.role, found.scopes),
      key: null,
      member: null,
      grant: { id: found.id, memberId: member.id, role: member.role },
      session: null,
    };
  },
});
