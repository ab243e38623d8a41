import { and, desc, eq, gt, isNull, lt, or, sql } from 'drizzle-orm';
import type { Tenant } from '../../caller.ts';
import type { Executor, Transaction } from '../../db/pool.ts';
import { runPrepared } from '../../db/prepared.ts';
import { keyOfUser } from './connection.ts';
import type { ClientPlace } from './secrets-of-connection.ts';
import { appClients, type ConnectionRow, connections } from './tables.ts';

type Named = Pick<ConnectionRow, 'org_id' | 'mode' | 'id'>;

const ofTenant = ({ orgId, mode }: Tenant) => and(eq(connections.org_id, orgId), eq(connections.mode, mode));
const owned = (tenant: Tenant, id: string) => and(ofTenant(tenant), eq(connections.id, id));
const named = ({ org_id, mode, id }: Named) => owned({ orgId: org_id, mode }, id);
/** By the clock of the database, which all processes share. */
const now = sql`clock_timestamp()`;

export async function insertConnection(tx: Transaction, row: typeof connections.$inferInsert): Promise<ConnectionRow> {
  const [inserted] = await tx.insert(connections).values(row).returning();
  return inserted as ConnectionRow;
}

export function listConnections(
  db: Executor,
  tenant: Tenant,
  { user_id, app }: { user_id?: string | undefined; app?: string | undefined },
  { limit, after }: { limit: number; after: readonly string[] | null },
): Promise<ConnectionRow[]> {
  return db
    .select()
    .from(connections)
    .where(
      and(
        ofTenant(tenant),
        user_id === undefined ? undefined : eq(connections.user_key, user_id),
        app === undefined ? undefined : eq(connections.app, app),
        after ? lt(connections.id, after[0] as string) : undefined,
      ),
    )
    .orderBy(desc(connections.id))
    .limit(limit + 1);
}

export async function findConnection(db: Executor, tenant: Tenant, id: string): Promise<ConnectionRow | undefined> {
  const [row] = await db.select().from(connections).where(owned(tenant, id));
  return row;
}

/** Takes the sign-in that the state was given out for; a state that came back before is not given out any more. */
export async function takeByState(db: Executor, stateHash: Buffer): Promise<ConnectionRow | undefined> {
  const [row] = await db
    .update(connections)
    .set({ state_hash: null, updated_at: now })
    .where(and(eq(connections.state_hash, stateHash), eq(connections.status, 'pending')))
    .returning();
  return row;
}

/** Held until the transaction ends; nothing where it is pending no more. */
export async function lockPending(tx: Transaction, row: ConnectionRow): Promise<ConnectionRow | undefined> {
  // Two sign-ins of one user to one app must not both find that there is no other.
  const both = JSON.stringify([row.org_id, row.mode, row.user_key, row.app]);
  await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${both}, 0))`);
  const [locked] = await tx
    .select()
    .from(connections)
    .where(and(named(row), eq(connections.status, 'pending')))
    .for('update');
  return locked;
}

export async function forgetReplaced(tx: Transaction, { org_id, mode, user_key, app }: ConnectionRow): Promise<void> {
  await tx
    .delete(connections)
    .where(
      and(
        ofTenant({ orgId: org_id, mode }),
        eq(connections.user_key, user_key),
        eq(connections.app, app),
        eq(connections.status, 'connected'),
      ),
    );
}

export async function markConnected(
  tx: Transaction,
  row: Named,
  { sealed, tokenExpiresAt, account }: { sealed: Buffer; tokenExpiresAt: Date | null; account: string | null },
): Promise<void> {
  await tx
    .update(connections)
    .set({
      status: 'connected',
      sealed,
      account,
      token_expires_at: tokenExpiresAt,
      token_epoch: sql`${connections.token_epoch} + 1`,
      expires_at: null,
      updated_at: now,
    })
    .where(named(row));
}

/** `epoch`: only while its token is still that one. */
export async function markFailed(tx: Transaction, row: Named, epoch: number): Promise<boolean> {
  const marked = await tx
    .update(connections)
    .set({ status: 'failed', sealed: null, renewing_until: null, expires_at: null, updated_at: now })
    .where(and(named(row), eq(connections.token_epoch, epoch)))
    .returning({ id: connections.id });
  return marked.length > 0;
}

/** One that has failed and had a token was connected once; one without a token never was. */
const signedInOnce = {
  name: 'connections_of_user',
  text: `SELECT DISTINCT ON (app) * FROM connections WHERE org_id = $1 AND mode = $2 AND user_key = $3
    AND (status = 'connected' OR (status = 'failed' AND token_epoch > 0))
    ORDER BY app, status = 'connected' DESC, id DESC`,
};

/** The user's sign-in to each app, or what is left of one that is over. Asked with every turn, so it is prepared. */
export function signInsOf(db: Executor, { orgId, mode }: Tenant, userId: string | null): Promise<ConnectionRow[]> {
  return runPrepared<ConnectionRow>(db, signedInOnce, [orgId, mode, keyOfUser(userId)]);
}

/** Whoever is about to connect it is waited for. */
export async function isConnected(
  tx: Transaction,
  tenant: Tenant,
  { userId, app, serverUrl }: { userId: string | null; app: string; serverUrl: string },
): Promise<boolean> {
  const rows = await tx
    .select({ status: connections.status, server_url: connections.server_url })
    .from(connections)
    .where(and(ofTenant(tenant), eq(connections.user_key, keyOfUser(userId)), eq(connections.app, app)))
    .for('share');
  return rows.some(({ status, server_url }) => status === 'connected' && server_url === serverUrl);
}

/** One process at a time asks for a new token, and only for one that nobody has renewed. */
export async function takeRenewal(db: Executor, row: Named, epoch: number, seconds: number): Promise<boolean> {
  const taken = await db
    .update(connections)
    .set({ renewing_until: sql`clock_timestamp() + make_interval(secs => ${seconds})` })
    .where(
      and(
        named(row),
        eq(connections.status, 'connected'),
        eq(connections.token_epoch, epoch),
        or(isNull(connections.renewing_until), lt(connections.renewing_until, now)),
      ),
    )
    .returning({ id: connections.id });
  return taken.length > 0;
}

/** False where it was removed or replaced meanwhile. */
export async function storeRenewed(
  db: Executor,
  row: Named,
  { epoch, sealed, tokenExpiresAt }: { epoch: number; sealed: Buffer; tokenExpiresAt: Date | null },
): Promise<boolean> {
  const stored = await db
    .update(connections)
    .set({
      sealed,
      token_expires_at: tokenExpiresAt,
      token_epoch: epoch + 1,
      renewing_until: null,
      updated_at: now,
    })
    .where(and(named(row), eq(connections.status, 'connected'), eq(connections.token_epoch, epoch)))
    .returning({ id: connections.id });
  return stored.length > 0;
}

export async function giveRenewalBack(db: Executor, row: Named, epoch: number): Promise<void> {
  await db
    .update(connections)
    .set({ renewing_until: null })
    .where(and(named(row), eq(connections.token_epoch, epoch), gt(connections.renewing_until, now)));
}

export async function deleteConnection(
  tx: Transaction,
  tenant: Tenant,
  id: string,
): Promise<ConnectionRow | undefined> {
  const [row] = await tx.delete(connections).where(owned(tenant, id)).returning();
  return row;
}

export async function removeConnectionsOfUser(tx: Executor, tenant: Tenant, userId: string): Promise<void> {
  await tx.delete(connections).where(and(ofTenant(tenant), eq(connections.user_key, userId)));
}

const atPlace = ({ orgId, mode }: Tenant, { app, serverUrl, issuer, redirectUri }: ClientPlace) =>
  and(
    eq(appClients.org_id, orgId),
    eq(appClients.mode, mode),
    eq(appClients.app, app),
    eq(appClients.server_url, serverUrl),
    eq(appClients.issuer, issuer),
    eq(appClients.redirect_uri, redirectUri),
  );

export async function findClient(db: Executor, tenant: Tenant, place: ClientPlace): Promise<Buffer | undefined> {
  const [row] = await db.select({ sealed: appClients.sealed }).from(appClients).where(atPlace(tenant, place));
  return row?.sealed;
}

export async function keepClient(db: Executor, tenant: Tenant, place: ClientPlace, sealed: Buffer): Promise<void> {
  await db
    .insert(appClients)
    .values({
      org_id: tenant.orgId,
      mode: tenant.mode,
      app: place.app,
      server_url: place.serverUrl,
      issuer: place.issuer,
      redirect_uri: place.redirectUri,
      sealed,
    })
    .onConflictDoUpdate({
      target: [
        appClients.org_id,
        appClients.mode,
        appClients.app,
        appClients.server_url,
        appClients.issuer,
        appClients.redirect_uri,
      ],
      set: { sealed, created_at: now },
    });
}

export async function forgetClient(db: Executor, tenant: Tenant, place: ClientPlace): Promise<void> {
  await db.delete(appClients).where(atPlace(tenant, place));
}
