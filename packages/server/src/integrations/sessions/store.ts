import { createHash, randomBytes } from 'node:crypto';
import { type Capability, capabilities } from '@vestra/contract/session-access';
import { findSettings, type OrgSettings } from '../../account/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Database, Executor, Transaction } from '../../platform/db/pool.ts';
import { insert, maybeOne, one, prune, rowsOf, run, update } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { columnsOf, moment, type RowOf, text } from '../../platform/db/table.ts';
import type { EraseConversations } from '../../platform/registration.ts';
import { type NewSession, type SessionRow, sessions } from '../tables.ts';

export const sessionMs = 15 * 60_000;

/** The server shows the token only in this response. */
export function newToken(): { token: string; hash: Buffer } {
  const token = `vst_${randomBytes(32).toString('base64url')}`;
  return { token, hash: hashToken(token) };
}

/** 32 random bytes cannot be guessed, so a fast hash is enough. */
export const hashToken = (token: string): Buffer => createHash('sha256').update(token, 'utf8').digest();

/** The part after `#` stays in the browser, so that the token is in no server log and no Referer. */
export const pageUrl = (publicUrl: string, sessionId: string, token: string): string =>
  `${publicUrl}/session/${sessionId}#token=${token}`;

export function statusOf(
  { revoked_at, expires_at }: { revoked_at: Date | null; expires_at: Date },
  now: number,
): 'live' | 'expired' | 'revoked' {
  if (revoked_at) return 'revoked';
  return expires_at.getTime() <= now ? 'expired' : 'live';
}

export function switchedOn({ chat, screen, voice, memory }: SessionRow): Capability[] {
  const is: Record<Capability, boolean> = { chat, screen: screen !== 'false', voice: voice !== null, memory };
  return capabilities.filter((each) => is[each]);
}

const owned = (tenant: Tenant) => sql`org_id = ${tenant.orgId} AND mode = ${tenant.mode}`;
const named = (tenant: Tenant, id: string) => sql`${owned(tenant)} AND id = ${id}`;

export const insertSession = (tx: Transaction, row: NewSession): Promise<SessionRow> => insert(tx, sessions, row);

/**
 * The time of its revocation. A session also counts as revoked if the key, grant or membership that opened it has ended.
 * This is read each time, so that a session which is created during the revocation is revoked too.
 */
const revocation = sql`CASE WHEN s.revoked_at IS NOT NULL
      OR (s.opened_by IS NULL
        OR EXISTS (SELECT FROM api_keys k WHERE k.id = s.opened_by AND k.revoked_at IS NULL)
        OR EXISTS (SELECT FROM mcp_grants g WHERE g.id = s.opened_by))
      AND (s.opened_by_member IS NULL
        OR EXISTS (SELECT FROM members m WHERE m.id = s.opened_by_member AND m.org_id = s.org_id))
    THEN s.revoked_at ELSE s.created_at END`;

const { revoked_at, ...others } = sessions.columns;
const readColumns = sql`${columnsOf({ ...sessions, columns: others }, 's')}, ${revocation} AS revoked_at`;

export const findSession = (db: Executor, { orgId, mode }: Tenant, id: string): Promise<SessionRow | undefined> =>
  maybeOne(
    db,
    sessions,
    sql`SELECT ${readColumns} FROM ${sessions} s WHERE s.org_id = ${orgId} AND s.mode = ${mode} AND s.id = ${id}`,
  );

/** Locks until the transaction ends, so that two sessions cannot both reuse the last conversation of this user. */
export async function lockSessionsOf(tx: Transaction, { orgId, mode }: Tenant, userId: string): Promise<void> {
  await run(tx, sql`SELECT pg_advisory_xact_lock(hashtextextended(${`sessions of ${orgId} ${mode} ${userId}`}, 0))`);
}

export const findLastInDeployment = (
  tx: Transaction,
  tenant: Tenant,
  userId: string,
  deploymentId: string,
): Promise<SessionRow | undefined> =>
  maybeOne(
    tx,
    sessions,
    sql`
      SELECT ${columnsOf(sessions)} FROM ${sessions}
      WHERE ${owned(tenant)} AND user_id = ${userId} AND deployment_id = ${deploymentId}
      ORDER BY created_at DESC LIMIT 1`,
  );

/** A session with the facts of its org and user that decide whether it may be used. */
const standing = {
  ...sessions.columns,
  org_status: text(),
  user_status: text().nullable(),
  user_erasing_since: moment().nullable(),
};

export type SessionStanding = RowOf<typeof standing>;

export const findByToken = (db: Executor, tokenHash: Buffer): Promise<SessionStanding | undefined> =>
  findStanding(db, sql`s.token_hash = ${tokenHash}`);

export const findById = (db: Executor, id: string): Promise<SessionStanding | undefined> =>
  findStanding(db, sql`s.id = ${id}`);

/** Every request with a session token runs this: one join instead of three round trips. */
const findStanding = (db: Executor, condition: Sql): Promise<SessionStanding | undefined> =>
  maybeOne(
    db,
    standing,
    sql`
      SELECT ${readColumns}, o.status AS org_status, u.status AS user_status,
        u.erasing_since AS user_erasing_since
      FROM ${sessions} s
      JOIN orgs o ON o.id = s.org_id
      LEFT JOIN users u ON u.org_id = s.org_id AND u.mode = s.mode AND u.id = s.user_id
      WHERE ${condition}`,
  );

/** Keeps the time of the first revocation. */
export async function markRevoked(tx: Transaction, tenant: Tenant, id: string): Promise<SessionRow | undefined> {
  const [row] = await update(tx, sessions, { revoked_at: sql`coalesce(revoked_at, now())` }, named(tenant, id));
  return row;
}

/** Without a credential: a browser asks before it embeds the page. */
export async function embedOriginsOf(
  db: Executor,
  id: string,
): Promise<OrgSettings['allowed_embed_origins'] | undefined> {
  const { org_id, mode } = sessions.columns;
  const session = await maybeOne(db, { org_id, mode }, sql`SELECT org_id, mode FROM ${sessions} WHERE id = ${id}`);
  if (!session) return undefined;
  const settings = await findSettings(db, { orgId: session.org_id, mode: session.mode });
  return settings.allowed_embed_origins;
}

/** The same by token, also for an ended session, whose page has to show that it ended. */
export async function embedOriginsOfToken(db: Executor, token: string): Promise<readonly string[]> {
  const session = await findByToken(db, hashToken(token));
  if (!session) return [];
  return (await findSettings(db, { orgId: session.org_id, mode: session.mode })).allowed_embed_origins;
}

export async function liveSessionsOf(db: Executor, tenant: Tenant, userId: string): Promise<string[]> {
  const rows = await rowsOf(
    db,
    { id: text() },
    sql`
      SELECT id FROM ${sessions}
      WHERE ${owned(tenant)} AND user_id = ${userId} AND revoked_at IS NULL AND expires_at > now()`,
  );
  return rows.map(({ id }) => id);
}

/** Those that are not revoked, also not through the key or member that opened them, and whose user, if any, is active. */
export async function liveSessions(db: Executor, ids: string[]): Promise<string[]> {
  const live = sql`
    SELECT s.id FROM ${sessions} s
    LEFT JOIN users u ON u.org_id = s.org_id AND u.mode = s.mode AND u.id = s.user_id
    WHERE s.id = ANY(${ids}) AND ${revocation} IS NULL AND u.status IS DISTINCT FROM 'disabled' AND u.erasing_since IS NULL`;
  return (await rowsOf(db, { id: text() }, live)).map(({ id }) => id);
}

/** The number of a new call, higher than all earlier ones in any process. */
export async function nextVoiceCall(db: Executor, id: string): Promise<number> {
  const { voice_calls } = sessions.columns;
  const counted = sql`UPDATE ${sessions} SET voice_calls = voice_calls + 1 WHERE id = ${id} RETURNING voice_calls`;
  return (await one(db, { voice_calls }, counted)).voice_calls;
}

/** The number of the last call of each session. */
export async function latestVoiceCalls(db: Executor, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const { id, voice_calls } = sessions.columns;
  const rows = await rowsOf(
    db,
    { id, voice_calls },
    sql`SELECT id, voice_calls FROM ${sessions} WHERE id = ANY(${[...ids]})`,
  );
  return new Map(rows.map((row) => [row.id, row.voice_calls]));
}

export async function removeSessionsOfUser(tx: Executor, tenant: Tenant, userId: string): Promise<void> {
  await run(tx, sql`DELETE FROM ${sessions} WHERE ${owned(tenant)} AND user_id = ${userId}`);
}

/** Deletes the sessions of conversations. Their tokens end with the commit, and open streams with `ended`. */
export const sessionEnder =
  (ended: (sessionId: string) => void): EraseConversations =>
  async (tx, tenant, conversationIds, afterwards) => {
    const rows = await rowsOf(
      tx,
      { id: text() },
      sql`DELETE FROM ${sessions} WHERE ${owned(tenant)} AND conversation_id = ANY(${conversationIds}) RETURNING id`,
    );
    afterwards(() => {
      for (const { id } of rows) ended(id);
    });
  };

/** Deletes sessions that ended long ago. Returns false if none are left. */
export const pruneSessions = (db: Database, before: Date, limit: number): Promise<boolean> =>
  prune(db, sessions, sql`expires_at < ${before}`, limit);
