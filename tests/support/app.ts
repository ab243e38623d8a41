import { randomBytes } from 'node:crypto';
import { newId } from '@vestra/contract/ids';
import type { Mode, Scope } from '@vestra/contract/route';
import { createKeyIdentity } from '@vestra/server/account/keys/key-identity';
import { createKey } from '@vestra/server/account/keys/keys';
import { insertOrg } from '@vestra/server/account/orgs/store';
import { createAnswerSeal } from '@vestra/server/account/secrets/secrets';
import { createSessionIdentity } from '@vestra/server/integrations/sessions/sessions';
import { createLog } from '@vestra/server/main/log';
import type { Origin } from '@vestra/server/platform/caller';
import { createGroupCommit } from '@vestra/server/platform/db/group-commit';
import { closeDatabase, type Database, openDatabase } from '@vestra/server/platform/db/pool';
import { transaction } from '@vestra/server/platform/db/transaction';
import { createApp } from '@vestra/server/platform/http/app';
import { createCursors } from '@vestra/server/platform/http/cursor';
import type { AllHandlers } from '@vestra/server/platform/http/handler';
import { createIdempotency } from '@vestra/server/platform/http/idempotency';
import { createRateLimiter } from '@vestra/server/platform/http/rate-limit';
import { createVault, openMasterKeys, type Vault } from '@vestra/server/platform/secrets/vault';
import { assertContract } from './contract.ts';
import { recordExchange, recordLogLine } from './failure-notes.ts';
import type { ApiResponse } from './server.ts';
import { createTestDatabase } from './test-database.ts';

export type AppParts = { db: Database; vault: Vault; identity: ReturnType<typeof createKeyIdentity> };

type Call = { key: string; body?: unknown; raw?: Uint8Array | FormData; headers?: Record<string, string> };

/** Serves some routes on a new database without a socket. Every response is checked against the contract. */
export async function startTestApp(handlersOf: (parts: AppParts) => AllHandlers) {
  const database = await createTestDatabase();
  const db = await openDatabase({ connectionString: database.connectionString });
  const vault = createVault(openMasterKeys({ dataDir: '', masterKey: 'cd'.repeat(32) }));
  const identity = createKeyIdentity(db);
  const noConsole = () => Promise.reject(new Error('No member signs in here.'));
  const app = createApp({
    path: {
      db,
      identities: {
        ofKey: identity.ofKey,
        ...createSessionIdentity(db),
        ofGrant: noConsole,
        consoleToken: () => null,
        ofConsole: noConsole,
      },
      writes: createGroupCommit(db),
      idempotency: createIdempotency(db, createAnswerSeal(vault)),
      rateLimiter: createRateLimiter(db),
      cursors: createCursors(randomBytes(32)),
      embedOrigins: { isListed: async () => false, ofToken: async () => [] },
      requestsPerMinute: 1_000_000,
      keyUsed: () => {},
    },
    handlers: handlersOf({ db, vault, identity }),
    log: createLog('warn', { write: recordLogLine }),
    pages: () => {},
    addressOf: () => '127.0.0.1',
  });

  async function call(method: string, path: string, { key, body, raw, headers = {} }: Call): Promise<ApiResponse> {
    const response = await app.request(`http://localhost:4600${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined ? { body: JSON.stringify(body) } : raw !== undefined && { body: raw as BodyInit }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    const answer = { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : null, text };
    recordExchange({ method, path, sent: body, ...answer });
    if (isJson) assertContract(method, path, answer, key);
    return answer;
  }

  return {
    db,
    vault,
    call,
    newOrg: (scopes?: Scope[]) => newOrg(db, vault, scopes),
    async stop() {
      await closeDatabase(db);
      await database.drop();
    },
  };
}

/** An org with a key of each mode. */
async function newOrg(db: Database, vault: Vault, scopes: Scope[] = ['setup']) {
  const id = newId('org');
  await insertOrg(db, { id, name: `Org ${id.slice(-4)}`, wrapped_data_key: vault.newDataKey(id) });
  const origin = systemOrigin(id);
  const newKey = async (mode: Mode, wanted: Scope[]) =>
    (await transaction(db, (tx) => createKey(tx, origin, { name: `${mode} key`, mode, scopes: wanted }))).key;
  return { id, origin, newKey, testKey: await newKey('test', scopes), liveKey: await newKey('live', scopes) };
}

export const systemOrigin = (orgId: string): Origin => ({
  orgId,
  mode: 'live',
  actor: { type: 'system', id: 'system', name: 'Vestra' },
  requestId: null,
  ip: null,
});
