import { fail } from '@vestra/contract/errors';
import type { Origin } from '../../platform/caller.ts';
import type { Database, Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { RateLimiter } from '../../platform/http/rate-limit.ts';
import { recordAudit } from '../audit/record.ts';
import { countAttempt } from './attempt.ts';
import { enterLogin } from './enter-login.ts';
import { presentMember } from './present.ts';
import { activateMember, findInvite, lockInvite } from './store.ts';
import { hashToken } from './token.ts';

export type Acceptance = { token: string; name: string; password: string };
type Source = { requestId: string; ip: string };

export async function acceptInvite(
  { db, rateLimiter }: { db: Database; rateLimiter: RateLimiter },
  { token, name, password }: Acceptance,
  source: Source,
) {
  const hash = hashToken(token);
  const invited = await findInvite(db, hash);
  if (!invited) throw fail('invite_not_found', { param: 'token' });
  await countAttempt(rateLimiter, 'email', invited.email);
  return transaction(db, (tx) => accept(tx, { hash, name, password }, source));
}

async function accept(
  tx: Transaction,
  { hash, name, password }: { hash: Buffer; name: string; password: string },
  source: Source,
) {
  const invited = await lockInvite(tx, hash);
  if (!invited) throw fail('invite_not_found', { param: 'token' });
  await enterLogin(tx, { memberId: invited.id, email: invited.email, password });
  const row = await activateMember(tx, invited.id, name);
  // An invitation is no one's mode; like a login it opens both and is written in the live log.
  const origin: Origin = { orgId: row.org_id, mode: 'live', actor: { type: 'member', id: row.id, name }, ...source };
  await recordAudit(tx, origin, {
    action: 'member.accepted',
    target: { type: 'member', id: row.id },
    details: { role: row.role },
  });
  return presentMember(row);
}
