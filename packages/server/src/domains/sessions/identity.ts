import { createHash } from 'node:crypto';
import { fail } from '@vestra/contract/errors';
import { eq } from 'drizzle-orm';
import type { Caller } from '../../caller.ts';
import type { Database } from '../../db/pool.ts';
import { orgs } from '../orgs/api.ts';
import { sessions } from './tables.ts';

/** Session tokens are looked up every time: a revoked one stops working at once. */
export function createSessionIdentity(db: Database, now: () => number = Date.now) {
  return {
    async ofSession(token: string): Promise<Caller> {
      const hash = createHash('sha256').update(token, 'utf8').digest();
      const [found] = await db
        .select({ session: sessions, org: { name: orgs.name, status: orgs.status } })
        .from(sessions)
        .innerJoin(orgs, eq(orgs.id, sessions.org_id))
        .where(eq(sessions.token_hash, hash));
      if (!found) throw fail('key_invalid', { message: 'No such session token.' });
      const { session, org } = found;
      if (session.revoked_at) throw fail('session_revoked');
      if (session.expires_at.getTime() <= now()) throw fail('session_expired');
      return {
        orgId: session.org_id,
        orgName: org.name,
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
          memory: session.memory,
          expiresAt: session.expires_at,
        },
      };
    },
  };
}
