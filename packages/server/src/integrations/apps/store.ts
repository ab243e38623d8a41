import type { Tenant } from '../../platform/caller.ts';
import { requestedRows } from '../../platform/db/batch-concurrent-calls.ts';
import type { Database, Executor, Transaction } from '../../platform/db/pool.ts';
import { insert, insertMany, maybeOne, prune, rowsOf, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { bytes, columnsOf, type NewRowOf, text } from '../../platform/db/table.ts';
import { appClients, type ConnectionRow, connections, type OwnClientRow, ownAppClients } from '../tables.ts';
import { type ClientIdentity, keyOfUser } from './app.ts';

type Named = Pick<ConnectionRow, 'org_id' | 'mode' | 'id'>;

const columns = columnsOf(connections);
const ofTenant = ({ orgId, mode }: Tenant) => sql`org_id = ${orgId} AND mode = ${mode}`;
const owned = (tenant: Tenant, id: string) => sql`${ofTenant(tenant)} AND id = ${id}`;
const named = ({ org_id, mode, id }: Named) => owned({ orgId: org_id, mode }, id);
/** The clock of the database, which all processes share. */
const now = sql`clock_timestamp()`;

export const insertConnection = (tx: Transaction, row: NewRowOf<typeof connections>): Promise<ConnectionRow> =>
  insert(tx, connections, row);

export function listConnections(
  db: Executor,
  tenant: Tenant,
  { user_id, app }: { user_id?: string | undefined; app?: string | undefined },
  { limit, after }: { limit: number; after: readonly string[] | null },
): Promise<ConnectionRow[]> {
  const wanted = sql.and(
    ofTenant(tenant),
    user_id !== undefined && sql`user_key = ${user_id}`,
    app !== undefined && sql`app = ${app}`,
    after && sql`id < ${after[0] as string}`,
  );
  return rowsOf(
    db,
    connections,
    sql`SELECT ${columns} FROM ${connections} WHERE ${wanted} ORDER BY id DESC LIMIT ${limit + 1}`,
  );
}

export const findConnection = (db: Executor, tenant: Tenant, id: string): Promise<ConnectionRow | undefined> =>
  maybeOne(db, connections, sql`SELECT ${columns} FROM ${connections} WHERE ${owned(tenant, id)}`);

/** Takes the sign-in of this state. A state can be used once. */
export const takeByState = (db: Executor, stateHash: Buffer): Promise<ConnectionRow | undefined> =>
  maybeOne(
    db,
    connections,
    sql`UPDATE ${connections} SET state_hash = NULL, updated_at = ${now}
        WHERE state_hash = ${stateHash} AND status = 'pending' RETURNING ${columns}`,
  );

type SignInsOfUser = Pick<ConnectionRow, 'org_id' | 'mode' | 'user_key' | 'app'>;

/** Locks until the transaction ends: two sign-ins of one user to one app must not both find no other. */
export async function lockSignIns(tx: Transaction, { org_id, mode, user_key, app }: SignInsOfUser): Promise<void> {
  const both = JSON.stringify([org_id, mode, user_key, app]);
  await run(tx, sql`SELECT pg_advisory_xact_lock(hashtextextended(${both}, 0))`);
}

/** Locks the row until the transaction ends. Returns undefined if it is no longer pending. */
export async function lockPending(tx: Transaction, row: ConnectionRow): Promise<ConnectionRow | undefined> {
  await lockSignIns(tx, row);
  return maybeOne(
    tx,
    connections,
    sql`SELECT ${columns} FROM ${connections} WHERE ${named(row)} AND status = 'pending' FOR UPDATE`,
  );
}

export async function forgetReplaced(tx: Transaction, { org_id, mode, user_key, app }: SignInsOfUser): Promise<void> {
  await run(
    tx,
    sql`DELETE FROM ${connections} WHERE ${ofTenant({ orgId: org_id, mode })}
          AND user_key = ${user_key} AND app = ${app} AND status = 'connected'`,
  );
}

export async function markConnected(
  tx: Transaction,
  row: Named,
  {
    sealed,
    tokenExpiresAt,
    renews,
    account,
  }: { sealed: Buffer; tokenExpiresAt: Date | null; renews: boolean; account: string | null },
): Promise<void> {
  await run(
    tx,
    sql`UPDATE ${connections} SET status = 'connected', sealed = ${sealed}, account = ${account},
          token_expires_at = ${tokenExpiresAt}, renews = ${renews}, problem = NULL, token_epoch = token_epoch + 1,
          expires_at = NULL, updated_at = ${now}
        WHERE ${named(row)}`,
  );
}

/** Only if the token still has this `epoch`; otherwise undefined. */
export const markFailed = (
  tx: Transaction,
  row: Named,
  { epoch, problem }: { epoch: number; problem: string },
): Promise<ConnectionRow | undefined> =>
  maybeOne(
    tx,
    connections,
    sql`UPDATE ${connections} SET status = 'failed', sealed = NULL, renewing_until = NULL, expires_at = NULL,
          token_expires_at = NULL, renews = false, problem = ${problem}, updated_at = ${now}
        WHERE ${named(row)} AND token_epoch = ${epoch} RETURNING ${columns}`,
  );

/**
 * The sign-in of each user to each app. A failed one with a token epoch above 0 was connected once. Every turn asks, so
 * concurrent turns share one read.
 */
export async function signInsOf(
  db: Executor,
  wanted: readonly (Tenant & { userId: string | null })[],
): Promise<ConnectionRow[][]> {
  const keys = wanted.map(({ userId }) => keyOfUser(userId));
  const rows = await rowsOf(
    db,
    connections,
    sql`SELECT DISTINCT ON (c.org_id, c.mode, c.user_key, c.app) ${columnsOf(connections, 'c')}
        FROM ${requestedRows(
          wanted.map(({ orgId, mode }, at) => ({ org_id: orgId, mode, user_key: keys[at] as string })),
          ['org_id', 'mode', 'user_key'],
        )}
        JOIN ${connections} c USING (org_id, mode, user_key)
        WHERE c.status = 'connected' OR (c.status = 'failed' AND c.token_epoch > 0)
        ORDER BY c.org_id, c.mode, c.user_key, c.app, c.status = 'connected' DESC, c.id DESC`,
  );
  // Several turns share one read, so each must get only the rows of its own user.
  return wanted.map(({ orgId, mode }, at) =>
    rows.filter((row) => row.org_id === orgId && row.mode === mode && row.user_key === keys[at]),
  );
}

/** The share lock waits for a transaction that is connecting the app. */
export async function isConnected(
  tx: Transaction,
  tenant: Tenant,
  { userId, app, serverUrl }: { userId: string | null; app: string; serverUrl: string },
): Promise<boolean> {
  const { status, server_url } = connections.columns;
  const rows = await rowsOf(
    tx,
    { status, server_url },
    sql`SELECT status, server_url FROM ${connections}
        WHERE ${ofTenant(tenant)} AND user_key = ${keyOfUser(userId)} AND app = ${app} FOR SHARE`,
  );
  return rows.some((row) => row.status === 'connected' && row.server_url === serverUrl);
}

/** Lets one process renew a token, and only if no other did. */
export async function takeRenewal(db: Executor, row: Named, epoch: number, seconds: number): Promise<boolean> {
  const taken = await run(
    db,
    sql`UPDATE ${connections} SET renewing_until = ${now} + make_interval(secs => ${seconds})
        WHERE ${named(row)} AND status = 'connected' AND token_epoch = ${epoch}
          AND (renewing_until IS NULL OR renewing_until < ${now})`,
  );
  return taken > 0;
}

/** Returns false if the connection was removed or replaced meanwhile. */
export async function storeRenewed(
  db: Executor,
  row: Named,
  {
    epoch,
    sealed,
    tokenExpiresAt,
    renews,
  }: { epoch: number; sealed: Buffer; tokenExpiresAt: Date | null; renews: boolean },
): Promise<boolean> {
  const stored = await run(
    db,
    sql`UPDATE ${connections} SET sealed = ${sealed}, token_expires_at = ${tokenExpiresAt},
          renews = ${renews}, problem = NULL, token_epoch = ${epoch + 1}, renewing_until = NULL, updated_at = ${now}
        WHERE ${named(row)} AND status = 'connected' AND token_epoch = ${epoch}`,
  );
  return stored > 0;
}

export async function releaseRenewal(
  db: Executor,
  row: Named,
  { epoch, problem }: { epoch: number; problem: string | null },
): Promise<void> {
  await run(
    db,
    sql`UPDATE ${connections} SET renewing_until = NULL, problem = ${problem}
        WHERE ${named(row)} AND token_epoch = ${epoch} AND renewing_until > ${now}`,
  );
}

export const deleteConnection = (tx: Transaction, tenant: Tenant, id: string): Promise<ConnectionRow | undefined> =>
  maybeOne(tx, connections, sql`DELETE FROM ${connections} WHERE ${owned(tenant, id)} RETURNING ${columns}`);

export async function removeConnectionsOfUser(tx: Executor, tenant: Tenant, userId: string): Promise<void> {
  await run(tx, sql`DELETE FROM ${connections} WHERE ${ofTenant(tenant)} AND user_key = ${userId}`);
}

const atPlace = (tenant: Tenant, { app, serverUrl, issuer, redirectUri }: ClientIdentity) =>
  sql`${ofTenant(tenant)} AND app = ${app} AND server_url = ${serverUrl} AND issuer = ${issuer}
      AND redirect_uri = ${redirectUri}`;

export async function findClient(db: Executor, tenant: Tenant, place: ClientIdentity): Promise<Buffer | undefined> {
  const row = await maybeOne(
    db,
    { sealed: bytes() },
    sql`SELECT sealed FROM ${appClients} WHERE ${atPlace(tenant, place)}`,
  );
  return row?.sealed;
}

export async function storeClient(db: Executor, tenant: Tenant, place: ClientIdentity, sealed: Buffer): Promise<void> {
  const row = {
    org_id: tenant.orgId,
    mode: tenant.mode,
    app: place.app,
    server_url: place.serverUrl,
    issuer: place.issuer,
    redirect_uri: place.redirectUri,
    sealed,
  };
  await insertMany(db, appClients, [row], {
    onConflict: sql`(org_id, mode, app, server_url, issuer, redirect_uri)
      DO UPDATE SET sealed = excluded.sealed, created_at = ${now}`,
  });
}

export async function forgetClient(db: Executor, tenant: Tenant, place: ClientIdentity): Promise<void> {
  await run(db, sql`DELETE FROM ${appClients} WHERE ${atPlace(tenant, place)}`);
}

/** Deletes old connections that never finished or have failed. Returns false if none are left. */
export const pruneConnections = (db: Database, before: Date, limit: number): Promise<boolean> =>
  prune(db, connections, sql`status <> 'connected' AND updated_at < ${before}`, limit);

const ownColumns = columnsOf(ownAppClients);
const ownOf = (tenant: Tenant, app: string) => sql`${ofTenant(tenant)} AND app = ${app}`;

export const findOwnClient = (db: Executor, tenant: Tenant, app: string): Promise<OwnClientRow | undefined> =>
  maybeOne(db, ownAppClients, sql`SELECT ${ownColumns} FROM ${ownAppClients} WHERE ${ownOf(tenant, app)}`);

export async function putOwnClient(
  tx: Transaction,
  { orgId, mode }: Tenant,
  client: {
    app: string;
    serverUrl: string;
    issuer: string;
    clientId: string;
    authMethod: OwnClientRow['auth_method'];
    sealed: Buffer | null;
  },
): Promise<OwnClientRow> {
  const row = await insert(
    tx,
    ownAppClients,
    {
      org_id: orgId,
      mode,
      app: client.app,
      server_url: client.serverUrl,
      issuer: client.issuer,
      client_id: client.clientId,
      auth_method: client.authMethod,
      sealed: client.sealed,
    },
    {
      onConflict: sql`(org_id, mode, app) DO UPDATE SET server_url = excluded.server_url, issuer = excluded.issuer,
        client_id = excluded.client_id, auth_method = excluded.auth_method, sealed = excluded.sealed, updated_at = ${now}`,
    },
  );
  return row as OwnClientRow;
}

export const deleteOwnClient = (tx: Transaction, tenant: Tenant, app: string): Promise<OwnClientRow | undefined> =>
  maybeOne(tx, ownAppClients, sql`DELETE FROM ${ownAppClients} WHERE ${ownOf(tenant, app)} RETURNING ${ownColumns}`);

/** Apps for which the org stored a client in this mode. */
export async function appsWithOwnClient(db: Executor, tenant: Tenant): Promise<string[]> {
  const rows = await rowsOf(db, { app: text() }, sql`SELECT app FROM ${ownAppClients} WHERE ${ofTenant(tenant)}`);
  return rows.map(({ app }) => app);
}
