import { openOwned, sealOwned } from '../../account/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Executor } from '../../platform/db/pool.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import type { AppClient } from '../app-sign-in/sign-in-server.ts';
import type { KeySecrets, PendingSecrets, TokenSecrets } from './connection.ts';
import type { ConnectionRow, OwnClientRow } from './tables.ts';

type Sealed = Pick<ConnectionRow, 'org_id' | 'mode' | 'id' | 'sealed'>;

export const sealSecrets = (
  db: Executor,
  vault: Vault,
  tenant: Tenant,
  connectionId: string,
  secrets: PendingSecrets | TokenSecrets | KeySecrets,
): Promise<Buffer> =>
  sealOwned(db, vault, { kind: 'connection', tenant, owner: connectionId }, JSON.stringify(secrets));

export const openPending = (db: Executor, vault: Vault, row: Sealed): Promise<PendingSecrets | null> =>
  open<PendingSecrets>(db, vault, row);

export const openTokens = (db: Executor, vault: Vault, row: Sealed): Promise<TokenSecrets | null> =>
  open<TokenSecrets>(db, vault, row);

export const openKey = (db: Executor, vault: Vault, row: Sealed): Promise<KeySecrets | null> =>
  open<KeySecrets>(db, vault, row);

async function open<Secrets>(db: Executor, vault: Vault, row: Sealed): Promise<Secrets | null> {
  if (row.sealed === null) return null;
  const tenant = { orgId: row.org_id, mode: row.mode };
  const [text] = await openOwned(db, vault, { kind: 'connection', tenant, owner: row.id }, [row.sealed]);
  return JSON.parse(text as string) as Secrets;
}

/** What names a client at an authorization server; one that is known under another of these is another client. */
export type ClientPlace = { app: string; serverUrl: string; issuer: string; redirectUri: string };

const ownerOf = ({ app, serverUrl, issuer, redirectUri }: ClientPlace) =>
  JSON.stringify([app, serverUrl, issuer, redirectUri]);

export const sealClient = (db: Executor, vault: Vault, tenant: Tenant, place: ClientPlace, client: AppClient) =>
  sealOwned(db, vault, { kind: 'app_client', tenant, owner: ownerOf(place) }, JSON.stringify(client));

export async function openClient(
  db: Executor,
  vault: Vault,
  tenant: Tenant,
  place: ClientPlace,
  sealed: Buffer,
): Promise<AppClient> {
  const [text] = await openOwned(db, vault, { kind: 'app_client', tenant, owner: ownerOf(place) }, [sealed]);
  return JSON.parse(text as string) as AppClient;
}

/** Opened for another app, server, issuer or client it does not open. */
type OwnClientPlace = { app: string; serverUrl: string; issuer: string; clientId: string };

const ownerOfOwn = ({ app, serverUrl, issuer, clientId }: OwnClientPlace) =>
  JSON.stringify([app, serverUrl, issuer, clientId]);

export const sealOwnClient = (db: Executor, vault: Vault, tenant: Tenant, place: OwnClientPlace, secret: string) =>
  sealOwned(db, vault, { kind: 'own_app_client', tenant, owner: ownerOfOwn(place) }, secret);

export async function openOwnClient(db: Executor, vault: Vault, row: OwnClientRow, sealed: Buffer): Promise<string> {
  const owner = ownerOfOwn({ app: row.app, serverUrl: row.server_url, issuer: row.issuer, clientId: row.client_id });
  const tenant = { orgId: row.org_id, mode: row.mode };
  const [secret] = await openOwned(db, vault, { kind: 'own_app_client', tenant, owner }, [sealed]);
  return secret as string;
}
