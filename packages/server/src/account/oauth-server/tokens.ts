import { hash, randomBytes } from 'node:crypto';
import { fail } from '@vestra/contract/errors';
import { grantedTo } from '@vestra/contract/mcp-grants';
import type { Caller, Origin } from '../../platform/caller.ts';
import { sharedNow } from '../../platform/db/clock.ts';
import type { Database, Executor, Transaction } from '../../platform/db/pool.ts';
import { prune } from '../../platform/db/prune.ts';
import { insertMany, maybeOne, one, run, update } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { boolean, columnsOf, float, type RowOf } from '../../platform/db/table.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { findActiveMembership } from '../members/store.ts';
import { type GrantRow, mcpAuthorizationCodes, mcpGrants, mcpTokens } from '../tables.ts';
import { actorOf, endGrant, originOf } from './grants.ts';

/** Within this a client fetches its tokens after the member has said yes. */
export const codeSeconds = 60;
const accessSeconds = 3600;
/** A client that has not renewed its access for so long is shut out. */
const unusedDays = 30;

const prefixes = { code: 'vmc_', access: 'vma_', refresh: 'vmr_' } as const;

/** The secret leaves this process once, in the answer of the call that made it. */
export function newSecret(kind: keyof typeof prefixes): { secret: string; hash: Buffer } {
  const secret = `${prefixes[kind]}${randomBytes(32).toString('base64url')}`;
  return { secret, hash: hashSecret(secret) };
}

/** 32 random bytes need no slow hash: there is nothing to guess. */
export const hashSecret = (secret: string): Buffer => hash('sha256', secret, 'buffer');

/** Whether the verifier is the one whose S256 challenge was sent (RFC 7636). */
export const fitsChallenge = (verifier: string, challenge: string): boolean =>
  /^[A-Za-z0-9\-._~]{43,128}$/.test(verifier) && hash('sha256', verifier, 'base64url') === challenge;

/** An answer can be lost on its way, and two requests of a client can come at once: then it asks again with the same token. */
export const graceMs = 60_000;

/**
 * What the use of a refresh token means. The newest generation is exchanged for the next one. Its predecessor gets further
 * tokens of the newest for a moment. Whatever is older was used before: somebody else has it too.
 */
export function meaningOfUse(
  token: { generation: number },
  grant: { generation: number; renewedMsAgo: number },
): 'next' | 'again' | 'stolen' {
  if (token.generation === grant.generation) return 'next';
  return token.generation === grant.generation - 1 && grant.renewedMsAgo < graceMs ? 'again' : 'stolen';
}

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

const afterUnusedDays = sql`now() + make_interval(days => ${unusedDays}::int)`;

const ofCode = { ...mcpAuthorizationCodes.columns, is_over: boolean() };
const ofToken = { ...mcpTokens.columns, is_over: boolean() };
/** The grant is locked first: two exchanges of one secret come one after the other. */
type LockedGrant = GrantRow & { renewed_ms_ago: number };

async function lockByCode(
  tx: Transaction,
  hash: Buffer,
): Promise<{ grant: LockedGrant; code: RowOf<typeof ofCode> } | null> {
  const grant = await lockOwner(tx, sql`SELECT grant_id FROM ${mcpAuthorizationCodes} WHERE code_hash = ${hash}`);
  if (!grant) return null;
  const found = sql`SELECT ${columnsOf(mcpAuthorizationCodes)}, expires_at <= now() AS is_over
    FROM ${mcpAuthorizationCodes} WHERE code_hash = ${hash}`;
  return { grant, code: await one(tx, ofCode, found) };
}

export async function lockByToken(
  tx: Transaction,
  hash: Buffer,
): Promise<{ grant: LockedGrant; token: RowOf<typeof ofToken> } | null> {
  const grant = await lockOwner(tx, sql`SELECT grant_id FROM ${mcpTokens} WHERE token_hash = ${hash}`);
  if (!grant) return null;
  const found = sql`SELECT ${columnsOf(mcpTokens)}, expires_at <= now() AS is_over
    FROM ${mcpTokens} WHERE token_hash = ${hash}`;
  return { grant, token: await one(tx, ofToken, found) };
}

const lockOwner = (tx: Transaction, owner: Sql): Promise<LockedGrant | undefined> =>
  maybeOne(
    tx,
    { ...mcpGrants.columns, renewed_ms_ago: float() },
    sql`SELECT ${columnsOf(mcpGrants)},
          COALESCE(EXTRACT(EPOCH FROM clock_timestamp() - renewed_at) * 1000, 0)::float8 AS renewed_ms_ago
        FROM ${mcpGrants} WHERE id = (${owner}) FOR UPDATE`,
  );

async function markCodeUsed(tx: Transaction, hash: Buffer): Promise<void> {
  await run(tx, sql`UPDATE ${mcpAuthorizationCodes} SET used_at = now() WHERE code_hash = ${hash}`);
}

async function nextGeneration(tx: Transaction, grantId: string): Promise<GrantRow> {
  const changes = { generation: sql`generation + 1`, renewed_at: sql`clock_timestamp()`, expires_at: afterUnusedDays };
  const [row] = await update(tx, mcpGrants, changes, sql`id = ${grantId}`);
  return row as GrantRow;
}

/** A pair of tokens of the grant's newest generation. */
async function issueTokens(tx: Transaction, { id, generation }: Pick<GrantRow, 'id' | 'generation'>) {
  const [access, refresh] = [newSecret('access'), newSecret('refresh')];
  const after = (seconds: number) => new Date(sharedNow() + seconds * 1000);
  await insertMany(tx, mcpTokens, [
    { token_hash: access.hash, grant_id: id, kind: 'access', generation, expires_at: after(accessSeconds) },
    { token_hash: refresh.hash, grant_id: id, kind: 'refresh', generation, expires_at: after(unusedDays * 86_400) },
  ]);
  return { access: access.secret, refresh: refresh.secret };
}

const standing = { ...mcpGrants.columns, is_over: boolean(), is_use_due: boolean() };

const findByAccessToken = (db: Executor, hash: Buffer): Promise<RowOf<typeof standing> | undefined> =>
  maybeOne(
    db,
    standing,
    sql`SELECT ${columnsOf(mcpGrants, 'g')}, t.expires_at <= now() AS is_over,
          COALESCE(g.last_used_at < now() - interval '1 minute', true) AS is_use_due
        FROM ${mcpTokens} t JOIN ${mcpGrants} g ON g.id = t.grant_id
        WHERE t.token_hash = ${hash} AND t.kind = 'access'`,
  );

async function markUsed(db: Executor, id: string): Promise<void> {
  await run(db, sql`UPDATE ${mcpGrants} SET last_used_at = now() WHERE id = ${id}`);
}

export const pruneTokens = (db: Database, before: Date, limit: number): Promise<boolean> =>
  prune(db, mcpTokens, sql`expires_at < ${before}`, limit);
