import { and, eq, gt, isNull, sql } from 'drizzle-orm';
import type { Tenant } from '../../caller.ts';
import type { Executor, Transaction } from '../../db/pool.ts';
import { runPrepared } from '../../db/prepared.ts';
import { type OrgSettings, orgSettings } from '../orgs/api.ts';
import { type SessionRow, sessions } from './tables.ts';

const owned = (tenant: Tenant) => and(eq(sessions.org_id, tenant.orgId), eq(sessions.mode, tenant.mode));

export async function insertSession(tx: Transaction, row: typeof sessions.$inferInsert): Promise<SessionRow> {
  const [inserted] = await tx.insert(sessions).values(row).returning();
  return inserted as SessionRow;
}

export async function findSession(db: Executor, tenant: Tenant, id: string): Promise<SessionRow | undefined> {
  const [row] = await db
    .select()
    .from(sessions)
    .where(and(owned(tenant), eq(sessions.id, id)));
  return row;
}

/** The moment of the first end stays. */
export async function markRevoked(tx: Transaction, tenant: Tenant, id: string): Promise<SessionRow | undefined> {
  const [row] = await tx
    .update(sessions)
    .set({ revoked_at: sql`COALESCE(${sessions.revoked_at}, now())` })
    .where(and(owned(tenant), eq(sessions.id, id)))
    .returning();
  return row;
}

/** Whoever is about to embed a page has no credential to name the org by. */
export async function embedOriginsOf(
  db: Executor,
  id: string,
): Promise<OrgSettings['allowed_embed_origins'] | undefined> {
  const [row] = await db
    .select({ origins: orgSettings.allowed_embed_origins })
    .from(sessions)
    .innerJoin(orgSettings, and(eq(orgSettings.org_id, sessions.org_id), eq(orgSettings.mode, sessions.mode)))
    .where(eq(sessions.id, id));
  return row?.origins;
}

export async function liveSessionsOf(db: Executor, tenant: Tenant, userId: string): Promise<string[]> {
  const rows = await db
    .select({ id: sessions.id })
    .from(sessions)
    .where(
      and(
        owned(tenant),
        eq(sessions.user_id, userId),
        isNull(sessions.revoked_at),
        gt(sessions.expires_at, sql`now()`),
      ),
    );
  return rows.map(({ id }) => id);
}

/** Of these, the ones that were not revoked and whose user is still there. */
export async function liveSessions(db: Executor, ids: string[]): Promise<string[]> {
  const rows = await runPrepared<{ id: string }>(db, live, [ids]);
  return rows.map(({ id }) => id);
}

const live = {
  name: 'live_sessions',
  text: 'SELECT id FROM sessions WHERE id = ANY($1::text[]) AND revoked_at IS NULL',
};

export async function removeSessionsOfUser(tx: Executor, tenant: Tenant, userId: string): Promise<void> {
  await tx.delete(sessions).where(and(owned(tenant), eq(sessions.user_id, userId)));
}
