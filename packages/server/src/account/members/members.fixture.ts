import { randomBytes } from 'node:crypto';
import { newId } from '@vestra/contract/ids';
import type { Mode, Role, Scope } from '@vestra/contract/route';
import type { Hono } from 'hono';
import pino from 'pino';
import { createTestDatabase } from '../../../../../tests/support/test-database.ts';
import type { Origin } from '../../platform/caller.ts';
import { createGroupCommit } from '../../platform/db/group-commit.ts';
import { closeDatabase, type Database, openDatabase } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { createApp } from '../../platform/http/app.ts';
import { createCursors } from '../../platform/http/cursor.ts';
import { createIdempotency } from '../../platform/http/idempotency.ts';
import { createRateLimiter } from '../../platform/http/rate-limit.ts';
import { createOutbound, type Outbound } from '../../platform/outbound/fetcher.ts';
import { createVault, openMasterKeys, type Vault } from '../../platform/secrets/vault.ts';
import { createKeyIdentity } from '../keys/key-identity.ts';
import { createKey } from '../keys/keys.ts';
import { insertOrg } from '../orgs/store.ts';
import { createConsoleIdentity } from './account.ts';
import { createIdentityProviders } from './identity/identity-provider.ts';
import { identityProviderRoutes, signInRoutes } from './identity/routes.ts';
import { createKnownBrowsers } from './login-throttle.ts';
import { createOwner, inviteMember } from './members.ts';
import { passkeyRoutes } from './passkeys/routes.ts';
import { accountRoutes, consoleRoutes, memberRoutes } from './routes.ts';

export const publicUrl = 'http://localhost:4600';
export const password = 'correct horse battery';

type Answer = { status: number; headers: Headers; body: Record<string, unknown> & { error?: { code: string } } };
type Browser = { cookie: string; csrf: string };
type Call = {
  body?: unknown;
  key?: string;
  browser?: Browser;
  address?: string;
  headers?: Record<string, string>;
};

/** The member routes on a separate database, called without a socket. Each request names its client address. */
export async function startConsole() {
  const database = await createTestDatabase();
  const db = await openDatabase({ connectionString: database.connectionString });
  const vault = createVault(openMasterKeys({ dataDir: '', masterKey: 'cd'.repeat(32) }));
  const outbound = createOutbound({ allowPrivate: true });
  const app = appOn(db, vault, outbound);
  let addresses = 0;

  async function call(
    method: string,
    path: string,
    { body, key, browser, address, headers }: Call = {},
  ): Promise<Answer> {
    const response = await app.request(`${publicUrl}${path}`, {
      method,
      headers: {
        // Use a new address each time, so that only tests of the rate limit reach it.
        'x-address': address ?? `10.0.${addresses >> 8}.${addresses++ & 255}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(key && { authorization: `Bearer ${key}` }),
        ...(browser && { cookie: `vestra_console=${browser.cookie}`, 'x-csrf-token': browser.csrf }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Answer['body'] };
  }

  return {
    db,
    call,
    /** Opens an address like a browser, with cookies. */
    open: (path: string, cookie = '') =>
      app.request(`${publicUrl}${path}`, { headers: { cookie, 'x-address': '10.1.0.1' }, redirect: 'manual' }),
    newOrg: () => newOrg(db, vault),
    newKey: async (orgId: string, mode: Mode, scopes: Scope[]) =>
      (await transaction(db, (tx) => createKey(tx, systemOrigin(orgId), { name: 'test', mode, scopes }))).key,
    /** Creates a member who has accepted with `password`. */
    async newMember(orgId: string, role: Role, email = newEmail()) {
      const { id, token } = await invite(db, orgId, role, email);
      const accepted = await call('POST', '/v1/members/accept', { body: { token, name: 'Ada', password } });
      if (accepted.status !== 200) throw new Error(JSON.stringify(accepted.body));
      return { id, email };
    },
    invite: (orgId: string, role: Role, email = newEmail()) => invite(db, orgId, role, email),
    async logIn(email: string): Promise<Browser> {
      const { status, headers, body } = await call('POST', '/v1/console/login', { body: { email, password } });
      const cookie = /^vestra_console=([^;]+)/.exec(headers.get('set-cookie') ?? '')?.[1];
      if (status !== 200 || !cookie) throw new Error(JSON.stringify(body));
      return { cookie, csrf: body.csrf_token as string };
    },
    async stop() {
      await outbound.close();
      await closeDatabase(db);
      await database.drop();
    },
  };
}

export const newEmail = () => `${randomBytes(6).toString('hex')}@example.com`;

export const systemOrigin = (orgId: string): Origin => ({
  orgId,
  mode: 'live',
  actor: { type: 'system', id: 'system', name: 'Vestra' },
  requestId: null,
  ip: null,
});

const noClients = { endAll: async () => [], ended: () => {} };

function appOn(db: Database, vault: Vault, outbound: Outbound): Hono {
  const rateLimiter = createRateLimiter(db);
  const dependencies = { db, rateLimiter, publicUrl };
  const signIns = {
    ...dependencies,
    vault,
    identityProviders: createIdentityProviders({ outbound, refuseAddress: () => null }),
    assertCallable: () => {},
  };
  const sessionTokens = () => Promise.reject(new Error('No session token is used here.'));
  return createApp({
    path: {
      db,
      identities: {
        ofKey: createKeyIdentity(db).ofKey,
        ofSession: sessionTokens,
        ofGrant: sessionTokens,
        ...createConsoleIdentity(db, publicUrl),
      },
      writes: createGroupCommit(db),
      idempotency: createIdempotency(db, {
        seal: async (_tx, _tenant, _route, _key, body) => Buffer.from(body).reverse(),
        open: async (_tx, _tenant, _route, _key, sealed) => Buffer.from(sealed).reverse().toString(),
      }),
      rateLimiter,
      cursors: createCursors(randomBytes(32)),
      embedOrigins: { isListed: async () => false, ofToken: async () => [] },
      requestsPerMinute: 100_000,
      keyUsed: () => {},
    },
    handlers: {
      members: memberRoutes({ ...dependencies, mcpClients: noClients }),
      consoleAccess: consoleRoutes({
        ...dependencies,
        mcpClients: noClients,
        browsers: createKnownBrowsers(randomBytes(32)),
      }),
      consoleAccount: accountRoutes(dependencies),
      consoleSignIn: signInRoutes(signIns),
      passkeys: passkeyRoutes(dependencies),
      identityProvider: identityProviderRoutes(signIns),
    },
    log: pino({ level: 'silent' }),
    pages: () => {},
    addressOf: (context) => context.req.header('x-address') as string,
  });
}

async function newOrg(db: Database, vault: Vault) {
  const orgId = newId('org');
  const owner = { email: newEmail(), id: '' };
  await transaction(db, async (tx) => {
    await insertOrg(tx, { id: orgId, name: `Org ${orgId.slice(-4)}`, wrapped_data_key: vault.newDataKey(orgId) });
    owner.id = (await createOwner(tx, { orgId, email: owner.email, password, name: 'Olga' })).id;
  });
  return { id: orgId, owner };
}

async function invite(db: Database, orgId: string, role: Role, email: string) {
  const invitation = { manager: { kind: 'operator' as const }, email, role, publicUrl };
  const { id, invite_url } = await transaction(db, (tx) => inviteMember(tx, systemOrigin(orgId), invitation));
  return { id, email, token: invite_url.split('#token=')[1] as string };
}
