import { randomBytes } from 'node:crypto';
import { newId } from '@vestra/contract/ids';
import type { Mode, Scope } from '@vestra/contract/route';
import pino from 'pino';
import { type Answer, assertContract } from '../../../../../tests/support/server.ts';
import { createTestDatabase } from '../../../../../tests/support/test-database.ts';
import { assertCallable } from '../../adapters/outbound/address.ts';
import { openMasterKeys } from '../../adapters/secrets/master-key.ts';
import { createVault, type Vault } from '../../adapters/secrets/vault.ts';
import type { Origin } from '../../caller.ts';
import { closeDatabase, type Database, openDatabase } from '../../db/pool.ts';
import { transaction } from '../../db/transaction.ts';
import { createApp } from '../../http/app.ts';
import { createCursors } from '../../http/cursor.ts';
import { createIdempotency } from '../../http/idempotency.ts';
import { createRateLimiter } from '../../http/rate-limit.ts';
import { eventRoutes } from '../events/routes.ts';
import { createKey, createKeyIdentity } from '../keys/api.ts';
import { keyRoutes } from '../keys/routes.ts';
import { insertOrg } from '../orgs/api.ts';
import { createAnswerSeal } from '../secrets/api.ts';
import { webhookRoutes } from './routes.ts';

type Call = { key: string; body?: unknown; headers?: Record<string, string> };

/**
 * The webhook and event routes, with the key routes as a source of events, on a database of their own. They are called
 * without a socket, and every answer is held against the contract.
 */
export async function startWebhooks({ allowPrivate = false } = {}) {
  const database = await createTestDatabase();
  const db = await openDatabase({ connectionString: database.connectionString });
  const vault = createVault(openMasterKeys({ dataDir: '', masterKey: 'cd'.repeat(32) }));
  const app = appOn(db, vault, allowPrivate);

  async function call(method: string, path: string, { key, body, headers = {} }: Call): Promise<Answer> {
    const response = await app.request(`http://localhost:4600${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
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
    call,
    newOrg: () => newOrg(db, vault),
    async stop() {
      await closeDatabase(db);
      await database.drop();
    },
  };
}

async function newOrg(db: Database, vault: Vault) {
  const id = newId('org');
  await insertOrg(db, { id, name: `Org ${id.slice(-4)}`, wrapped_data_key: vault.newDataKey(id) });
  const origin: Origin = {
    orgId: id,
    mode: 'live',
    actor: { type: 'system', id: 'system', name: 'Vestra' },
    requestId: null,
    ip: null,
  };
  const newKey = async (mode: Mode, scopes: Scope[]) =>
    (await transaction(db, (tx) => createKey(tx, origin, { name: `${mode} key`, mode, scopes }))).key;
  return { id, newKey, key: await newKey('test', ['all']), liveKey: await newKey('live', ['all']) };
}

function appOn(db: Database, vault: Vault, allowPrivate: boolean) {
  const notUsed = () => Promise.reject(new Error('Keys alone are used here.'));
  const identity = createKeyIdentity(db);
  return createApp({
    path: {
      db,
      identities: { ofKey: identity.ofKey, ofSession: notUsed, ofConsole: notUsed },
      idempotency: createIdempotency(db, createAnswerSeal(vault)),
      rateLimiter: createRateLimiter(db),
      cursors: createCursors(randomBytes(32)),
      requestsPerMinute: 1_000_000,
      keyUsed: () => {},
    },
    handlers: {
      webhooks: webhookRoutes({
        db,
        vault,
        assertCallable: (address, param) => assertCallable(address, param, { allowPrivate }),
      }),
      events: eventRoutes({ db }),
      keys: keyRoutes({ db, identity }),
    },
    log: pino({ level: 'silent' }),
    pages: () => {},
    addressOf: () => '127.0.0.1',
  });
}
