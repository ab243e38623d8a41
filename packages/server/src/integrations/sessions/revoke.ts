import { fail } from '@vestra/contract/errors';
import { recordAudit } from '../../account/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { markRevoked } from './store.ts';
import type { SessionRow } from './tables.ts';

/** Ending a session that has ended changes nothing more. */
export async function revokeSession(tx: Transaction, origin: Origin, sessionId: string): Promise<SessionRow> {
  const row = await markRevoked(tx, origin, sessionId);
  if (!row) throw fail('session_not_found');
  await recordAudit(tx, origin, { action: 'session.revoked', target: { type: 'session', id: sessionId } });
  return row;
}
