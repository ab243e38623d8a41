import { fail } from '@vestra/contract/errors';
import { findOrg, recordAudit } from '../../account/index.ts';
import type { McpClient } from '../../agents/index.ts';
import type { Origin, Tenant } from '../../platform/caller.ts';
import { sharedNow } from '../../platform/db/clock.ts';
import type { Database } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { JobSender } from '../../platform/jobs/catalog.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import type { AppClient, AppSignIn, SignInServer } from '../app-sign-in/sign-in-server.ts';
import type { OwnClientRow } from '../tables.ts';
import {
  type App,
  type OperatorClient,
  openClient,
  openOwnClient,
  pendingMs,
  type StoredClient,
  sealClient,
  sealOwnClient,
} from './app.ts';
import { type AppCatalogue, appToSignInTo, missingClient, signInRefusal } from './catalogue.ts';
import { deleteOwnClient, findClient, findOwnClient, putOwnClient, storeClient } from './store.ts';

export type ConnectDependencies = {
  db: Database;
  vault: Vault;
  catalogue: AppCatalogue;
  signIn: AppSignIn;
  /** For testing the API keys of users. */
  mcpClient: Pick<McpClient, 'listTools'>;
  jobs: JobSender;
  redirectUri: string;
  /** The address of the client metadata document of this server; null if apps cannot fetch it. */
  clientDocument: string | null;
};

type Dependencies = Pick<ConnectDependencies, 'db' | 'vault' | 'signIn' | 'redirectUri' | 'clientDocument'>;

/**
 * The client of this server at the app, and the part that is stored with the sign-in. The first that exists: the client
 * of the org, of the operator, the client metadata document, or a registration.
 */
export async function clientFor(
  deps: Dependencies,
  tenant: Tenant,
  { app, server }: { app: App; server: SignInServer },
): Promise<{ client: AppClient; kept: StoredClient }> {
  const own = await findOwnClient(deps.db, tenant, app.id);
  if (own) {
    assertOfServer(own, app, server);
    return { client: await ownClient(deps, own), kept: { client_id: own.client_id, given: 'org' } };
  }
  const operators = app.sign_in?.client;
  if (operators) {
    return { client: operatorClient(operators), kept: { client_id: operators.client_id, given: 'operator' } };
  }
  if (app.sign_in?.needs_client) throw missingClient(app, deps.redirectUri);
  if (server.takesClientDocument && deps.clientDocument !== null) {
    const client = { client_id: deps.clientDocument, token_endpoint_auth_method: 'none' };
    return { client, kept: client };
  }
  const client = await registeredClient(deps, tenant, { app, server });
  return { client, kept: client };
}

/**
 * The current client of a sign-in, so that a changed secret applies at once. Null if it was removed or belongs to
 * another server now.
 */
export async function clientOfSignIn(
  { db, vault }: Pick<Dependencies, 'db' | 'vault'>,
  tenant: Tenant,
  { app, kept, server }: { app: App | undefined; kept: StoredClient; server: SignInServer },
): Promise<AppClient | null> {
  if (!('given' in kept)) return kept;
  if (kept.given === 'operator') {
    const operators = app?.sign_in?.client;
    return operators?.client_id === kept.client_id ? operatorClient(operators) : null;
  }
  const own = app && (await findOwnClient(db, tenant, app.id));
  if (!own || own.client_id !== kept.client_id || own.issuer !== server.metadata.issuer) return null;
  return ownClient({ db, vault }, own);
}

/** The secret belongs to one authorization server. If the app names another now, it must not receive the secret. */
function assertOfServer(own: OwnClientRow, app: App, { metadata }: SignInServer): void {
  if (own.server_url === app.url && own.issuer === metadata.issuer) return;
  throw fail('oauth_not_available', {
    param: 'app',
    message: `The client that was given for ${app.name} belongs to another authorization server than the one the app names now. Give it again with PUT /v1/apps/${app.id}/client if that is right.`,
  });
}

async function ownClient({ db, vault }: Pick<Dependencies, 'db' | 'vault'>, own: OwnClientRow): Promise<AppClient> {
  return {
    client_id: own.client_id,
    client_secret: own.sealed === null ? undefined : await openOwnClient(db, vault, own, own.sealed),
    token_endpoint_auth_method: own.auth_method ?? undefined,
  };
}

const operatorClient = ({ client_id, client_secret, auth_method }: OperatorClient): AppClient => ({
  client_id,
  client_secret: client_secret ?? undefined,
  token_endpoint_auth_method: auth_method ?? undefined,
});

/** The existing registration of this org, or a new one. */
async function registeredClient(
  { db, vault, signIn, redirectUri }: Dependencies,
  tenant: Tenant,
  { app, server }: { app: App; server: SignInServer },
): Promise<AppClient> {
  const place = { app: app.id, serverUrl: app.url, issuer: server.metadata.issuer, redirectUri };
  const found = await findClient(db, tenant, place);
  const known = found && (await openClient(db, vault, tenant, place, found));
  if (known && !isOver(known)) return known;
  const { name } = await findOrg(db, tenant.orgId);
  // With both names, so that no org can pass for another company by its name.
  const registered = await signIn.register(server, { redirectUri, clientName: `${name} (Vestra)` });
  if (!registered.ok) throw signInRefusal(registered);
  await storeClient(db, tenant, place, await sealClient(db, vault, tenant, place, registered.client));
  return registered.client;
}

/** Also over if the secret expires before a pending sign-in would. */
const isOver = ({ client_secret_expires_at: expiresAt }: AppClient) =>
  expiresAt !== undefined && expiresAt !== 0 && expiresAt * 1000 < sharedNow() + pendingMs;

type GivenEntry = {
  client_id: string;
  client_secret?: string | undefined;
  auth_method?: OwnClientRow['auth_method'] | undefined;
};

/**
 * Stores a client that the org registered with the app by hand. It first looks up the authorization server, since the
 * secret belongs to that server and never goes to another.
 */
export async function storeOwnClient(
  { db, vault, catalogue, signIn }: Pick<ConnectDependencies, 'db' | 'vault' | 'catalogue' | 'signIn'>,
  origin: Origin,
  appId: string,
  given: GivenEntry,
): Promise<OwnClientRow> {
  const { app, facts } = appToSignInTo(catalogue, appId);
  if (facts.pkce_unannounced && given.client_secret === undefined) {
    throw fail('invalid_request', { param: 'client_secret', message: 'This app needs a client with a secret.' });
  }
  if (given.client_secret === undefined && given.auth_method !== undefined && given.auth_method !== 'none') {
    throw fail('invalid_request', { param: 'auth_method', message: 'It sends a secret, and none is given.' });
  }
  const found = await signIn.discover(app.url, facts);
  if (!found.ok) throw signInRefusal(found);
  const { issuer } = found.server.metadata;
  return transaction(db, async (tx) => {
    const place = { app: app.id, serverUrl: app.url, issuer, clientId: given.client_id };
    const row = await putOwnClient(tx, origin, {
      ...place,
      authMethod: given.auth_method ?? null,
      sealed:
        given.client_secret === undefined ? null : await sealOwnClient(tx, vault, origin, place, given.client_secret),
    });
    await recordAudit(tx, origin, {
      action: 'app_client.stored',
      target: { type: 'app', id: app.id },
      details: { client_id: given.client_id, issuer },
    });
    return row;
  });
}

export async function showClient(
  { db, catalogue }: Pick<ConnectDependencies, 'db' | 'catalogue'>,
  tenant: Tenant,
  appId: string,
): Promise<OwnClientRow> {
  const row = await findOwnClient(db, tenant, knownApp(catalogue, appId).id);
  if (!row) throw fail('app_client_not_found');
  return row;
}

export async function deleteOwnClientOf(
  { db, catalogue }: Pick<ConnectDependencies, 'db' | 'catalogue'>,
  origin: Origin,
  appId: string,
): Promise<void> {
  const { id } = knownApp(catalogue, appId);
  await transaction(db, async (tx) => {
    const removed = await deleteOwnClient(tx, origin, id);
    if (!removed) throw fail('app_client_not_found');
    await recordAudit(tx, origin, {
      action: 'app_client.deleted',
      target: { type: 'app', id },
      details: { client_id: removed.client_id, issuer: removed.issuer },
    });
  });
}

function knownApp(catalogue: AppCatalogue, appId: string): App {
  const app = catalogue.find(appId);
  if (!app) throw fail('app_not_found', { param: 'app' });
  return app;
}
