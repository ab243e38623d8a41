import { randomBytes } from 'node:crypto';
import { newId } from '@vestra/contract/ids';
import type { Mode, Scope } from '@vestra/contract/route';
import pino from 'pino';
import { type Answer, assertContract } from '../../../../../tests/support/server.ts';
import { createTestDatabase } from '../../../../../tests/support/test-database.ts';
import type { Origin } from '../../caller.ts';
import { closeDatabase, type Database, openDatabase } from '../../db/pool.ts';
import { transaction } from '../../db/transaction.ts';
import { createApp } from '../../http/app.ts';
import { createCursors } from '../../http/cursor.ts';
import { createIdempotency } from '../../http/idempotency.ts';
import { createRateLimiter } from '../../http/rate-limit.ts';
import { createKey, createKeyIdentity } from '../keys/api.ts';
import { insertOrg } from '../orgs/api.ts';
import { defaultManifest, type Manifest, noFileObjects } from './manifest.ts';
import { type DeploymentDependencies, deploymentRoutes } from './routes.ts';
import { insertDeployment } from './store.ts';
import type { DeploymentRow } from './tables.ts';

export const author = { type: 'system', id: 'system', name: 'Vestra' } as const;

/** The routes on a database of their own, called without a socket; every answer is held against the contract. */
export async function startDeployments(given: Partial<Omit<DeploymentDependencies, 'db'>> = {}) {
  const database = await createTestDatabase();
  const db = await openDatabase({ connectionString: database.connectionString });
  const app = appOn({
    db,
    checkManifest: async (_tx, _caller, manifest) => manifest as Manifest,
    renderFile: async (_db, { slug }, { version }) => `name: ${slug}\n# version ${version}\n`,
    latestTestRuns: async () => new Map(),
    ...given,
  });

  async function call(
    method: string,
    path: string,
    { key, body, headers = {} }: { key: string; body?: unknown; headers?: Record<string, string> },
  ): Promise<Answer> {
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
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    const answer = { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : null, text };
    if (isJson) assertContract(method, path, answer);
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

export async function newOrg(db: Database) {
  const orgId = newId('org');
  await insertOrg(db, { id: orgId, name: `Org ${orgId.slice(-4)}`, wrapped_data_key: randomBytes(32) });
  const newKey = async (mode: Mode, scopes: Scope[]) =>
    (await transaction(db, (tx) => createKey(tx, systemOrigin(orgId), { name: `${mode} key`, mode, scopes }))).key;
  return { id: orgId, newKey, testKey: await newKey('test', ['setup']), liveKey: await newKey('live', ['setup']) };
}

/** A deployment with a first version, made without a request. */
export async function newDeployment(
  db: Database,
  orgId: string,
  wanted: { slug?: string; name?: string; manifest?: Partial<Manifest> } = {},
): Promise<DeploymentRow> {
  const { slug = `d${randomBytes(6).toString('hex')}`, manifest = {} } = wanted;
  const { name = slug } = wanted;
  const made = await transaction(db, (tx) =>
    insertDeployment(tx, { orgId, slug, name, description: '' }, content(manifest)),
  );
  if (!made) throw new Error(`The slug ${slug} is taken.`);
  return made.deployment;
}

export const content = (manifest: Partial<Manifest> = {}) => ({
  manifest: { ...defaultManifest, ...manifest },
  fileObjects: noFileObjects,
  changed: Object.keys(manifest),
  note: null,
  createdBy: author,
});

const systemOrigin = (orgId: string): Origin => ({ orgId, mode: 'live', actor: author, requestId: null, ip: null });

function appOn(dependencies: DeploymentDependencies) {
  const { db } = dependencies;
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
    handlers: { deployments: deploymentRoutes(dependencies) },
    log: pino({ level: 'silent' }),
    pages: () => {},
    addressOf: () => '127.0.0.1',
  });
}
