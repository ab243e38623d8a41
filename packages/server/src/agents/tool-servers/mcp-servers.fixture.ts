import { randomBytes } from 'node:crypto';
import { Writable } from 'node:stream';
import { newId } from '@vestra/contract/ids';
import type { Mode, Role, Scope } from '@vestra/contract/route';
import pino from 'pino';
import { assertContract } from '../../../../../tests/support/contract.ts';
import type { ApiResponse } from '../../../../../tests/support/server.ts';
import { createTestDatabase } from '../../../../../tests/support/test-database.ts';
import { createKeyIdentity } from '../../account/keys/key-identity.ts';
import { createKey } from '../../account/keys/keys.ts';
import { createConsoleIdentity } from '../../account/members/account.ts';
import { createKnownBrowsers } from '../../account/members/login-throttle.ts';
import { createOwner, inviteMember } from '../../account/members/members.ts';
import { consoleRoutes, memberRoutes } from '../../account/members/routes.ts';
import { insertOrg } from '../../account/orgs/store.ts';
import { secretRoutes } from '../../account/secrets/secrets.ts';
import type { Origin } from '../../platform/caller.ts';
import { createGroupCommit } from '../../platform/db/group-commit.ts';
import { closeDatabase, type Database, openDatabase } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { createApp } from '../../platform/http/app.ts';
import { createCursors } from '../../platform/http/cursor.ts';
import { createIdempotency } from '../../platform/http/idempotency.ts';
import { createRateLimiter } from '../../platform/http/rate-limit.ts';
import { assertCallable } from '../../platform/outbound/address.ts';
import { createOutbound } from '../../platform/outbound/fetcher.ts';
import { createVault, openMasterKeys, type Vault } from '../../platform/secrets/vault.ts';
import { newDeployment } from '../deployments/deployments.fixture.ts';
import { createMcpClient } from '../mcp-client/mcp-client.ts';
import { pushLive, republishLiveVersions } from '../versions/versions.ts';
import { mcpServerRoutes } from './routes.ts';

const publicUrl = 'http://localhost:4600';
const password = 'correct horse battery';

export type Browser = { cookie: string; csrf: string };
type Call = { key?: string; browser?: Browser; body?: unknown; headers?: Record<string, string> };

/** Starts the routes on a separate database. Every response is checked against the contract. */
export async function startMcpServers({ allowPrivate = false }: { allowPrivate?: boolean } = {}) {
  const database = await createTestDatabase();
  const db = await openDatabase({ connectionString: database.connectionString });
  const vault = createVault(openMasterKeys({ dataDir: '', masterKey: 'ab'.repeat(32) }));
  const outbound = createOutbound({ allowPrivate });
  const logged: string[] = [];
  const app = appOn({ db, vault, allowPrivate, fetch: outbound.webFetch, logged });

  async function call(method: string, path: string, { key, browser, body, headers }: Call = {}): Promise<ApiResponse> {
    const response = await app.request(`${publicUrl}${path}`, {
      method,
      headers: {
        ...(key && { authorization: `Bearer ${key}` }),
        ...(browser && { cookie: `vestra_console=${browser.cookie}`, 'x-csrf-token': browser.csrf }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const answer = { status: response.status, headers: response.headers, body: JSON.parse(text), text };
    assertContract(method, path, answer);
    return answer;
  }

  return {
    db,
    vault,
    client: createMcpClient({ fetch: outbound.webFetch, version: 'test' }),
    call,
    logged,
    newOrg: () => newOrg(db, vault),
    /** A deployment whose live version uses the server. */
    async goLive(orgId: string, { id, slug, url }: { id: string; slug: string; url: string }) {
      const deployment = await newDeployment(db, orgId, { manifest: { mcp_servers: [{ id, slug, url }] } });
      await transaction(db, (tx) => pushLive(tx, { deployment, version: 1 }));
      return deployment;
    },
    async logIn(orgId: string, role: Role): Promise<Browser> {
      const email = `${randomBytes(6).toString('hex')}@example.com`;
      if (role === 'owner') await transaction(db, (tx) => createOwner(tx, { orgId, email, password, name: 'Olga' }));
      else await join(orgId, role, email);
      const { body, headers } = await call('POST', '/v1/console/login', { body: { email, password } });
      const cookie = /^vestra_console=([^;]+)/.exec(headers.get('set-cookie') ?? '')?.[1] as string;
      return { cookie, csrf: body.csrf_token };
    },
    async stop() {
      await outbound.close();
      await closeDatabase(db);
      await database.drop();
    },
  };

  async function join(orgId: string, role: Role, email: string): Promise<void> {
    const invitation = { manager: { kind: 'operator' as const }, email, role, publicUrl };
    const { invite_url } = await transaction(db, (tx) => inviteMember(tx, systemOrigin(orgId), invitation));
    const token = invite_url.split('#token=')[1];
    await call('POST', '/v1/members/accept', { body: { token, name: 'Ada', password } });
  }
}

export const systemOrigin = (orgId: string): Origin => ({
  orgId,
  mode: 'live',
  actor: { type: 'system', id: 'system', name: 'Vestra' },
  requestId: null,
  ip: null,
});

async function newOrg(db: Database, vault: Vault) {
  const id = newId('org');
  await insertOrg(db, { id, name: `Org ${id.slice(-4)}`, wrapped_data_key: vault.newDataKey(id) });
  const newKey = async (mode: Mode, scopes: Scope[]) =>
    (await transaction(db, (tx) => createKey(tx, systemOrigin(id), { name: `${mode} key`, mode, scopes }))).key;
  return { id, newKey, testKey: await newKey('test', ['setup']), liveKey: await newKey('live', ['setup']) };
}

type Parts = { db: Database; vault: Vault; allowPrivate: boolean; fetch: typeof fetch; logged: string[] };

const noClients = { endAll: async () => [], ended: () => {} };

function appOn({ db, vault, allowPrivate, fetch, logged }: Parts) {
  const rateLimiter = createRateLimiter(db);
  const members = { db, rateLimiter, publicUrl };
  const notUsed = () => Promise.reject(new Error('This is not used here.'));
  const lines = new Writable({
    write(line, _encoding, done) {
      logged.push(String(line));
      done();
    },
  });
  return createApp({
    path: {
      db,
      identities: {
        ofKey: createKeyIdentity(db).ofKey,
        ofSession: notUsed,
        ofGrant: notUsed,
        ...createConsoleIdentity(db, 'http://localhost:4600'),
      },
      writes: createGroupCommit(db),
      idempotency: createIdempotency(db, { seal: notUsed, open: notUsed }),
      rateLimiter,
      cursors: createCursors(randomBytes(32)),
      embedOrigins: { isListed: async () => false, ofToken: async () => [] },
      requestsPerMinute: 1_000_000,
      keyUsed: () => {},
    },
    handlers: {
      mcpServers: mcpServerRoutes({
        db,
        vault,
        client: createMcpClient({ fetch, version: 'test' }),
        assertCallable: (address, param) => assertCallable(address, param, { allowPrivate }),
        republishLive: async (...of) => void (await republishLiveVersions(...of)),
      }),
      secrets: secretRoutes({ db, vault }),
      members: memberRoutes({ ...members, mcpClients: noClients }),
      consoleAccess: consoleRoutes({
        ...members,
        mcpClients: noClients,
        browsers: createKnownBrowsers(randomBytes(32)),
      }),
    },
    log: pino({ level: 'trace' }, lines),
    pages: () => {},
    addressOf: () => `10.0.${Math.floor(Math.random() * 256)}.${Math.floor(Math.random() * 256)}`,
  });
}
