import { fail } from '@vestra/contract/errors';
import type { Viewer } from '../../computers/index.ts';
import type { Caller } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import { findSession } from './store.ts';

/** Whose screen the session of this caller shows, and whether it may be touched. */
export async function viewerOf(db: Database, caller: Caller): Promise<Viewer> {
  const row = await findSession(db, caller, caller.actor.id);
  if (!row) throw fail('session_not_found');
  const { orgId, mode, actor } = caller;
  return {
    sessionId: row.id,
    owner: { orgId, mode, userId: row.user_id },
    origin: { orgId, mode, actor, requestId: null, ip: null },
    mayDrive: row.screen === 'control',
    isDriver: row.screen === 'control' && row.driver === 'user',
  };
}
