import { fail } from '@vestra/contract/errors';
import type { Caller } from '../../platform/caller.ts';
import { sharedNow } from '../../platform/db/clock.ts';
import type { Database } from '../../platform/db/pool.ts';
import { hashToken, statusOf, switchedOn } from './session.ts';
import { findById, findByToken, type SessionStanding } from './store.ts';

/** Session tokens are looked up every time: a revoked one, or a disabled user's, stops working at once. */
export function createSessionIdentity(db: Database, now: () => number = sharedNow) {
  return {
    ofSession: async (token: string) => callerOf(await findByToken(db, hashToken(token)), now()),
    /** For whoever holds another proof that they come from this session. */
    ofSessionId: async (id: string) => callerOf(await findById(db, id), now()),
  };
}

function callerOf(session: SessionStanding | undefined, now: number): Caller {
  if (!session) throw fail('key_invalid', { message: 'No such session token.' });
  const status = statusOf(session, now);
  if (status === 'revoked') throw fail('session_revoked');
  if (status === 'expired') throw fail('session_expired');
  if (session.user_status === 'disabled' || session.user_erasing_since) throw fail('user_disabled');
  return {
    orgId: session.org_id,
    orgStatus: session.org_status,
    mode: session.mode,
    actor: { type: 'session', id: session.id, name: session.user_id ?? 'session' },
    scopes: [],
    key: null,
    member: null,
    grant: null,
    session: {
      id: session.id,
      userId: session.user_id,
      conversationId: session.conversation_id,
      switchedOn: switchedOn(session),
      expiresAt: session.expires_at,
    },
  };
}
