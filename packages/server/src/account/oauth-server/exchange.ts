import { fail } from '@vestra/contract/errors';
import type { Origin } from '../../platform/caller.ts';
import type { Database, Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { originOf } from './actor.ts';
import { endGrant } from './end-grant.ts';
import { issueTokens, type LockedGrant, lockByCode, lockByToken, markCodeUsed, nextGeneration } from './store.ts';
import type { GrantRow } from './tables.ts';
import { accessSeconds, fitsChallenge, hashSecret, meaningOfUse } from './token.ts';

type Exchange = { db: Database; ended: (grantId: string) => void };
type Source = Pick<Origin, 'requestId' | 'ip'>;

/** A code for the first tokens. One that comes back has been seen by somebody else: its grant ends. */
export async function exchangeCode(
  { db, ended }: Exchange,
  given: { clientId: string; code: string; redirectUri: string; verifier: string },
  source: Source,
) {
  const outcome = await transaction(db, async (tx) => {
    const found = await lockByCode(tx, hashSecret(given.code));
    if (!found) throw fail('invalid_grant');
    const { grant, code } = found;
    // Whoever has nothing but the code can neither use it nor end what it has led to.
    const isTheirs = grant.client_id === given.clientId && fitsChallenge(given.verifier, code.code_challenge);
    if (!isTheirs || code.redirect_uri !== given.redirectUri) throw fail('invalid_grant');
    if (code.used_at) return endedFor(tx, grant, 'code_used_twice', source);
    if (code.is_over) throw fail('invalid_grant', { message: 'The code has expired.' });
    await markCodeUsed(tx, code.code_hash);
    return tokensOf(tx, await nextGeneration(tx, grant.id));
  });
  return settled(outcome, ended);
}

/** A refresh token for the next tokens. One that was used long ago has been seen by somebody else: its grant ends. */
export async function renewTokens(
  { db, ended }: Exchange,
  given: { clientId: string; refreshToken: string },
  source: Source,
) {
  const outcome = await transaction(db, async (tx) => {
    const found = await lockByToken(tx, hashSecret(given.refreshToken));
    if (found?.token.kind !== 'refresh' || found.grant.client_id !== given.clientId) throw fail('invalid_grant');
    const { grant, token } = found;
    if (token.is_over) throw fail('invalid_grant', { message: 'The refresh token has expired.' });
    const meaning = meaningOfUse(token, { generation: grant.generation, renewedMsAgo: grant.renewed_ms_ago });
    if (meaning === 'stolen') return endedFor(tx, grant, 'refresh_token_used_twice', source);
    return tokensOf(tx, meaning === 'next' ? await nextGeneration(tx, grant.id) : grant);
  });
  return settled(outcome, ended);
}

type Ended = { endedGrantId: string };

async function endedFor(
  tx: Transaction,
  grant: LockedGrant,
  reason: 'code_used_twice' | 'refresh_token_used_twice',
  source: Source,
): Promise<Ended> {
  await endGrant(tx, await originOf(tx, grant, source), grant, reason);
  return { endedGrantId: grant.id };
}

async function tokensOf(tx: Transaction, grant: GrantRow) {
  const { access, refresh } = await issueTokens(tx, grant);
  return {
    access_token: access,
    token_type: 'Bearer' as const,
    expires_in: accessSeconds,
    refresh_token: refresh,
    scope: grant.scopes.join(' '),
  };
}

/** That a grant has ended stays, although the call fails. */
function settled<Tokens extends object>(outcome: Tokens | Ended, ended: Exchange['ended']): Tokens {
  if (!('endedGrantId' in outcome)) return outcome;
  ended(outcome.endedGrantId);
  throw fail('invalid_grant', {
    message: 'This was used before, so that the grant has ended: connect the client again.',
  });
}
