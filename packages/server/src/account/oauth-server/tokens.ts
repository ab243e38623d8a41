import { hash, randomBytes } from 'node:crypto';
import { fail } from '@vestra/contract/errors';
import { grantedTo } from '@vestra/contract/mcp-grants';
import type { Caller, Origin } from '../../platform/caller.ts';
import { sharedNow } from '../../platform/db/clock.ts';
import type { Database, Executor, Transaction } from '../../platform/db/pool.ts';
import { insertMany, maybeOne, one, prune, run, updateOne } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { boolean, columnsOf, float, type RowOf } from '../../platform/db/table.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { findActiveMembership } from '../members/store.ts';
import { type GrantRow, mcpAuthorizationCodes, mcpGrants, mcpTokens } from '../tables.ts';
import { actorOf, endGrant, originOf } from './grants.ts';

/** A client must exchange its code within this time. */
export const codeSeconds = 60;
const accessSeconds = 3600;
/** A grant expires if the client does not renew it for this long. */
const unusedDays = 30;

const prefixes = { code: 'vmc_', access: 'vma_', refresh: 'vmr_' } as const;

/** The secret leaves this process only in the response that creates it. */
export function newSecret(kind: keyof typeof prefixes): { secret: string; hash: Buffer } {
  const secret = `${prefixes[kind]}${randomBytes(32).toString('base64url')}`;
  return { secret, hash: hashSecret(secret) };
}

/** A slow hash is not needed: 32 random bytes cannot be guessed. */
export const hashSecret = (secret: string): Buffer => hash('sha256', secret, 'buffer');

/** Whether the verifier matches the S256 challenge (RFC 7636). */
export const fitsChallenge = (verifier: string, challenge: string): boolean =>
  /^[A-Za-z0-9\-._~]{43,128}$/.test(verifier) && hash('sha256', verifier, 'base64url') === challenge;

/** A client may use the previous token again: a response can be lost, and two requests can run at once. */
export const graceMs = 60_000;

/**
 * Decides what the use of a refresh token means. The newest generation is exchanged for the next one. Its predecessor
 * gets more tokens of the newest generation during the grace period. Any older token has been used before, so it may be
 * stolen.
 */
export function classifyRefreshToken(
  token: { generation: number },
  grant: { generation: number; renewedMsAgo: number },
): 'next' | 'again' | 'stolen' {
  if (token.generation === grant.generation) return 'next';
  return token.generation === grant.generation - 1 && grant.renewedMsAgo < graceMs ? 'again' : 'stolen';
}

type TokenExchange = { db: Database; ended: (grantId: string) => void };
type Source = Pick<Origin, 'requestId' | 'ip'>;

/** Exchanges a code for the first tokens. A code that is used twice may be stolen, so its grant ends. */
export async function exchangeCode(
  { db, ended }: TokenExchange,
  given: { clientId: string; code: string; redirectUri: string; verifier: string },
  source: Source,
) {
  const result = await transaction(db, async (tx) => {
    const found = await lockByCode(tx, hashSecret(given.code));
    if (!found) throw fail('invalid_grant');
    const { grant, code } = found;
    // A thief who has only the code can neither use it nor end its grant.
    const isTheirs = grant.client_id === given.clientId && fitsChallenge(given.verifier, code.code_challenge);
    if (!isTheirs || code.redirect_uri !== given.redirectUri) throw fail('invalid_grant');
    if (code.used_at) return endGrantFor(tx, grant, 'code_used_twice', source);
    if (code.is_over) throw fail('invalid_grant', { message: 'The code has expired.' });
    await markCodeUsed(tx, code.code_hash);
    return tokensOf(tx, await nextGeneration(tx, grant.id));
  });
  return tokensOrFail(result, ended);
}

/** Exchanges a refresh token for the next tokens. An old token may be stolen, so its grant ends. */
export async function renewTokens(
  { db, ended }: TokenExchange,
  given: { clientId: string; refreshToken: string },
  source: Source,
) {
  const result = await transaction(db, async (tx) => {
    const found = await lockByToken(tx, hashSecret(given.refreshToken));
    if (found?.token.kind !== 'refresh' || found.grant.client_id !== given.clientId) throw fail('invalid_grant');
    const { grant, token } = found;
    if (token.is_over) throw fail('invalid_grant', { message: 'The refresh token has expired.' });
    const meaning = classifyRefreshToken(token, { generation: grant.generation, renewedMsAgo: grant.renewed_ms_ago });
    if (meaning === 'stolen') return endGrantFor(tx, grant, 'refresh_token_used_twice', source);
    return tokensOf(tx, meaning === 'next' ? await nextGeneration(tx, grant.id) : grant);
  });
  return tokensOrFail(result, ended);
}

type EndedGrant = { endedGrantId: string };

async function endGrantFor(
  tx: Transaction,
  grant: LockedGrant,
  reason: 'code_used_twice' | 'refresh_token_used_twice',
  source: Source,
): Promise<EndedGrant> {
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

/** Throws only after the commit, so that the end of the grant is not rolled back. */
function tokensOrFail<Tokens extends object>(result: Tokens | EndedGrant, ended: TokenExchange['ended']): Tokens {
  if (!('endedGrantId' in result)) return result;
  ended(result.endedGrantId);
  throw fail('invalid_grant', {
    message: 'This was used before, so that the grant has ended: connect the client again.',
  });
}

/** Reads grant, member, role and org on every request, so that a removed member loses access at once. */
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
/** The grant is locked first, so that concurrent exchanges of one secret run one after the other. */
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
  return updateOne(tx, mcpGrants, changes, sql`id = ${grantId}`);
}

/** Creates a pair of tokens of the grant's newest generation. */
async function issueTokens(tx: Transaction, { id, generation }: Pick<GrantRow, 'id' | 'generation'>) {
  const [access, refresh] = [newSecret('access'), newSecret('refresh')];
  const after = (seconds: number) => new Date(sharedNow() + seconds * 1000);
  await insertMany(tx, mcpTokens, [
    { token_hash: access.hash, grant_id: id, kind: 'access', generation, expires_at: after(accessSeconds) },
    { token_hash: refresh.hash, grant_id: id, kind: 'refresh', generation, expires_at: after(unusedDays * 86_400) },
  ]);
  return { access: access.secret, refresh: refresh.secret };
}

const tokenGrantColumns = { ...mcpGrants.columns, is_over: boolean(), is_use_due: boolean() };

const findByAccessToken = (db: Executor, hash: Buffer): Promise<RowOf<typeof tokenGrantColumns> | undefined> =>
  maybeOne(
    db,
    tokenGrantColumns,
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
