import { fail } from '@vestra/contract/errors';
import { and, eq, type SQL } from 'drizzle-orm';
import type { Caller } from '../../caller.ts';
import type { Database } from '../../db/pool.ts';
import { orgs } from '../orgs/api.ts';
import { users } from '../users/api.ts';
import { hashToken, statusOf, switchedOn } from './session.ts';
import { sessions } from './tables.ts';

/** Session tokens are looked up every time: a revoked one, or a disabled user's, stops working at once. */
export function createSessionIdentity(db: Database, now: () => number = Date.now) {
  async function callerOf(condition: SQL): Promise<Caller> {
    const [found] = await db
      .select({
        session: sessions,
        org: { status: orgs.status },
        user: { status: users.status, erasing_since: users.erasing_since },
      })
      .from(sessions)
      .innerJoin(orgs, eq(orgs.id, sessions.org_id))
      .leftJoin(
        users,
        and(eq(users.org_id, sessions.org_id), eq(users.mode, sessions.mode), eq(users.id, sessions.user_id)),
      )
      .where(condition);
    if (!found) throw fail('key_invalid', { message: 'No such session token.' });
    const { session, org, user } = found;
    const status = statusOf(session, now());
    if (status === 'revoked') throw fail('session_revoked');
    if (status === 'expired') throw fail('session_expired');
    if (user && (user.status === 'disabled' || user.erasing_since)) throw fail('user_disabled');
    return {
      orgId: session.org_id,
      orgStatus: org.status,
      mode: session.mode,
      actor: { type: 'session', id: session.id, name: session.user_id ?? 'session' },
      scopes: [],
      key: null,
      member: null,
      session: {
        id: session.id,
        userId: session.user_id,
        conversationId: session.conversation_id,
        switchedOn: switchedOn(session),
        expiresAt: session.expires_at,
      },
    };
  }

  return {
    ofSession: (token: string) => callerOf(eq(sessions.token_hash, hashToken(token))),
    /** For whoever holds another proof that they come from this session. */
    ofSessionId: (id: string) => callerOf(eq(sessions.id, id)),
  };
}
