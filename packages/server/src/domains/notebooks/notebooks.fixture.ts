import { randomBytes } from 'node:crypto';
import { newId } from '@vestra/contract/ids';
import type { Mode, Scope } from '@vestra/contract/route';
import pino from 'pino';
import { type Answer, assertContract } from '../../../../../tests/support/server.ts';
import { createTestDatabase } from '../../../../../tests/support/test-database.ts';
import { createDocumentReader } from '../../adapters/documents/reader.ts';
import type { Origin } from '../../caller.ts';
import { closeDatabase, type Database, openDatabase } from '../../db/pool.ts';
import { transaction } from '../../db/transaction.ts';
import { createApp } from '../../http/app.ts';
import { createCursors } from '../../http/cursor.ts';
import { createIdempotency } from '../../http/idempotency.ts';
import { createRateLimiter } from '../../http/rate-limit.ts';
import { createKey, createKeyIdentity } from '../keys/api.ts';
import { insertOrg } from '../orgs/api.ts';
import { addDocument } from './add-document.ts';
import { createNotebook } from './create.ts';
import { type Access, prepareDocument } from './notebook.ts';
import { notebookRoutes } from './routes.ts';

type Call = { key: string; body?: unknown; raw?: FormData; headers?: Record<string, string> };

/** The notebook routes on a database of their own, called without a socket; every answer is held against the contract. */
export async function startNotebooks() {
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
      ...(body !== undefined ? { body: JSON.stringify(body) } : raw !== undefined && { body: raw }),
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
    async stop() {
      await closeDatabase(db);
      await database.drop();
    },
  };
}

/** A multipart body with one file. */
export function formOf(bytes: Uint8Array | string, filename: string, type = ''): FormData {
  const form = new FormData();
  form.set('file', new File([bytes as Uint8Array<ArrayBuffer>], filename, { type }));
  return form;
}

async function newOrg(db: Database) {
  const id = newId('org');
  await insertOrg(db, { id, name: `Org ${id.slice(-4)}`, wrapped_data_key: randomBytes(32) });
  const origin = originOf(id);
  const newKey = async (mode: Mode, scopes: Scope[]) =>
    (await transaction(db, (tx) => createKey(tx, origin, { name: `${mode} key`, mode, scopes }))).key;
  return { id, origin, newKey, key: await newKey('test', ['setup']), liveKey: await newKey('live', ['setup']) };
}

/** A notebook with these documents, made without a request. */
export async function newNotebook(
  db: Database,
  orgId: string,
  documents: Record<string, string> = {},
  access: Access = { mode: 'all' },
): Promise<string> {
  const slug = `n${randomBytes(6).toString('hex')}`;
  const { id } = await transaction(db, (tx) =>
    createNotebook(tx, originOf(orgId), { name: slug, slug, description: `About ${slug}`, access }),
  );
  for (const [title, text] of Object.entries(documents)) await newDocument(db, orgId, id, { title, text });
  return id;
}

export function newDocument(db: Database, orgId: string, notebookId: string, given: { title: string; text: string }) {
  const document = prepareDocument({ ...given, contentType: 'text/plain', param: 'text' });
  return transaction(db, (tx) => addDocument(tx, originOf(orgId), notebookId, document));
}

const originOf = (orgId: string): Origin => ({
  orgId,
  mode: 'live',
  actor: { type: 'system', id: 'system', name: 'Vestra' },
  requestId: null,
  ip: null,
});

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
    handlers: { notebooks: notebookRoutes({ db, reader: createDocumentReader() }) },
    log: pino({ level: 'silent' }),
    pages: () => {},
    addressOf: () => '127.0.0.1',
  });
}
