import { fail } from '@vestra/contract/errors';
import { recordAudit } from '../../account/index.ts';
import type { Origin, Tenant } from '../../platform/caller.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { App } from './app.ts';
import { appToSignInTo, signInRefusal } from './app-to-connect.ts';
import type { Catalogue } from './catalogue.ts';
import type { ConnectDependencies } from './dependencies.ts';
import { sealOwnClient } from './secrets-of-connection.ts';
import { deleteOwnClient, findOwnClient, putOwnClient } from './store.ts';
import type { OwnClientRow } from './tables.ts';

type Given = {
  client_id: string;
  client_secret?: string | undefined;
  auth_method?: OwnClientRow['auth_method'] | undefined;
};

/**
 * Keeps a client that the org registered with the app by hand. The app is asked first where its people sign in: the client
 * belongs to that authorization server, and its secret never goes to another.
 */
export async function giveClient(
  { db, vault, catalogue, signIn }: Pick<ConnectDependencies, 'db' | 'vault' | 'catalogue' | 'signIn'>,
  origin: Origin,
  appId: string,
  given: Given,
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

export async function forgetClientOf(
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

function knownApp(catalogue: Catalogue, appId: string): App {
  const app = catalogue.find(appId);
  if (!app) throw fail('app_not_found', { param: 'app' });
  return app;
}
