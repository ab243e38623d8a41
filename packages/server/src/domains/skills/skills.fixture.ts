import { randomBytes } from 'node:crypto';
import { newId } from '@vestra/contract/ids';
import type { Mode, Scope } from '@vestra/contract/route';
import { strToU8, type Zippable, zipSync } from 'fflate';
import pino from 'pino';
import { type Answer, assertContract } from '../../../../../tests/support/server.ts';
import { createTestDatabase } from '../../../../../tests/support/test-database.ts';
import { openZip } from '../../adapters/zip/open-zip.ts';
import { closeDatabase, type Database, openDatabase } from '../../db/pool.ts';
import { transaction } from '../../db/transaction.ts';
import { createApp } from '../../http/app.ts';
import { createCursors } from '../../http/cursor.ts';
import { createIdempotency } from '../../http/idempotency.ts';
import { createRateLimiter } from '../../http/rate-limit.ts';
import { createKey, createKeyIdentity } from '../keys/api.ts';
import { insertOrg } from '../orgs/api.ts';
import { skillRoutes } from './routes.ts';

type Call = { key: string; body?: unknown; raw?: Uint8Array | FormData; headers?: Record<string, string> };

/** The skill routes on a database of their own, called without a socket; every answer is held against the contract. */
export async function startSkills() {
  const database = await createTestDatabase();
  const db = await openDatabase({ connectionString: database.connectionString });
  const app = appOn(db);

  async function call(method: string, path: string, { key, body, raw, headers = {} }: Call): Promise<Answer> {
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
    const answer = { status: response.status, headers: response.headers, body: JSON.parse(text), text };
    assertContract(method, path, answer);
    return answer;
  }

  return {
    db,
    call,
    newOrg: () => newOrg(db),
    sendZip: (key: string, bytes: Uint8Array, { method = 'POST', path = '/v1/skills', headers = {} } = {}) =>
      call(method, path, { key, raw: bytes, headers: { 'content-type': 'application/zip', ...headers } }),
    async stop() {
      await closeDatabase(db);
      await database.drop();
    },
  };
}

export type File = { path: string; content: string };

/** A `SKILL.md` with this head, and further files. */
export const skillOf = (
  { name = 'refunds', description = 'How refunds are made.' } = {},
  others: Record<string, string> = {},
): File[] => [
  { path: 'SKILL.md', content: `---\nname: ${name}\ndescription: ${description}\n---\n\n# Steps\n` },
  ...Object.entries(others).map(([path, content]) => ({ path, content })),
];

export const zipOf = (files: readonly File[], extra: Zippable = {}): Uint8Array =>
  zipSync({ ...Object.fromEntries(files.map(({ path, content }) => [path, strToU8(content)])), ...extra });

async function newOrg(db: Database) {
  const id = newId('org');
  await insertOrg(db, { id, name: `Org ${id.slice(-4)}`, wrapped_data_key: randomBytes(32) });
  const origin = {
    orgId: id,
    mode: 'live' as const,
    actor: { type: 'system' as const, id: 'system', name: 'Vestra' },
    requestId: null,
    ip: null,
  };
  const newKey = async (mode: Mode, scopes: Scope[]) =>
    (await transaction(db, (tx) => createKey(tx, origin, { name: `${mode} key`, mode, scopes }))).key;
  return { id, newKey, key: await newKey('test', ['setup']), liveKey: await newKey('live', ['setup']) };
}

function appOn(db: Database) {
  const notUsed = () => Promise.reject(new Error('Keys alone are used here.'));
  return createApp({
    path: {
      db,
      identities: { ofKey: createKeyIdentity(db).ofKey, ofSession: notUsed, ofConsole: notUsed },
      idempotency: createIdempotency(db, { seal: notUsed, open: notUsed }),
      rateLimiter: createRateLimiter(db),
      cursors: createCursors(randomBytes(32)),
      requestsPerMinute: 1_000_000,
      keyUsed: () => {},
    },
    handlers: { skills: skillRoutes({ db, openZip }) },
    log: pino({ level: 'silent' }),
    pages: () => {},
    addressOf: () => '127.0.0.1',
  });
}
