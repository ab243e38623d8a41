import type { Caller } from '../../caller.ts';
import type { Executor } from '../../db/pool.ts';
import { signedIn } from './account.ts';
import { presentSession } from './present.ts';

export async function showSession(db: Executor, caller: Caller, token: string | null) {
  const { session, membership, memberships } = await signedIn(db, caller, token);
  return presentSession(session, membership, caller.mode, memberships);
}
