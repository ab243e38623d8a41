import { randomBytes } from 'node:crypto';
import type { ErrorCode } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { Mode } from '@vestra/contract/route';
import { createModels } from '@vestra/models/models';
import pino from 'pino';
import { assertContract } from '../../../../tests/support/contract.ts';
import { rowsWhere } from '../../../../tests/support/rows.ts';
import type { ApiResponse } from '../../../../tests/support/server.ts';
import { createTestDatabase } from '../../../../tests/support/test-database.ts';
import { createKeyIdentity } from '../account/keys/key-identity.ts';
import { createKey } from '../account/keys/keys.ts';
import { insertOrg } from '../account/orgs/store.ts';
import { createAnswerSeal, sealSecret, upsertSecret } from '../account/secrets/secrets.ts';
import { auditEntries, events } from '../account/tables.ts';
import { deploymentRoutes } from '../agents/deployments/routes.ts';
import { createDocumentReader } from '../agents/documents/reader.ts';
import { notebookRoutes } from '../agents/notebooks/routes.ts';
import { searchNotebooks } from '../agents/notebooks/search.ts';
import { notebooks } from '../agents/notebooks/tables.ts';
import { openZip } from '../agents/skills/open-zip.ts';
import { skillRoutes } from '../agents/skills/routes.ts';
import { skills } from '../agents/skills/tables.ts';
import { mcpServers } from '../agents/tool-servers/tables.ts';
import { webhookRoutes } from '../automation/webhooks/routes.ts';
import { insertFile } from '../engine/files/store.ts';
import { scenarioRoutes } from '../evaluation/scenarios/routes.ts';
import { latestRuns } from '../evaluation/test-runs/store.ts';
import { readCatalogue } from '../integrations/apps/catalogue.ts';
import type { Caller, Origin, Tenant } from '../platform/caller.ts';
import { readConfig } from '../platform/config/config.ts';
import { createGroupCommit } from '../platform/db/group-commit.ts';
import { closeDatabase, type Database, openDatabase } from '../platform/db/pool.ts';
import { insert } from '../platform/db/query.ts';
import { type Sql, sql } from '../platform/db/sql.ts';
import { transaction } from '../platform/db/transaction.ts';
import { createApp } from '../platform/http/app.ts';
import { createCursors } from '../platform/http/cursor.ts';
import { createIdempotency } from '../platform/http/idempotency.ts';
import { createRateLimiter } from '../platform/http/rate-limit.ts';
import { faultOfJsonSchema } from '../platform/json-schema/fault.ts';
import { refuseAddress } from '../platform/outbound/address.ts';
import { createVault, openMasterKeys } from '../platform/secrets/vault.ts';
import { manifestChecker } from './apply/check-file.ts';
import { renderFile } from './apply/manifest.ts';
import type { ApplyDependencies } from './dependencies.ts';
import { fixContent } from './promotion/content.ts';
import { republishLiveVersions } from './promotion/promotion.ts';
import { applyRoutes } from './routes.ts';

const vault = createVault(openMasterKeys({ dataDir: '', masterKey: 'ab'.repeat(32) }));

export type Org = Awaited<ReturnType<typeof newOrg>>;

/** The deployment routes with apply and a separate database. Every response is checked against the contract. */
export async function startApply() {
  const database = await createTestDatabase();
  const db = await openDatabase({ connectionString: database.connectionString });
  const dependencies: ApplyDependencies = {
    vault,
    models: createModels(readConfig({}).models),
    apps: { catalogue: readCatalogue({ file: null, refuseAddress: () => null }) },
    refuseAddress: (address) => refuseAddress(address, { allowPrivate: false }),
    faultOfSchema: async (schema) => faultOfJsonSchema(schema),
    // No process plays the runs: tests set their results.
    jobs: { send: async () => '', sendMany: async () => [] },
  };
  const app = appOn(db, dependencies);
  return {
    db,
    dependencies,
    newOrg: () => newOrg(db, app),
    /** Stores a secret of the org with a value that can be read again. */
    storeSecret: async (tenant: Tenant, name: string, value: string) => {
      const sealed = await sealSecret(db, vault, { tenant, userId: '', name }, value);
      await upsertSecret(db, tenant, { userId: '', name, sealed });
    },
    async stop() {
      await closeDatabase(db);
      await database.drop();
    },
  };
}

type App = ReturnType<typeof createApp>;
type CallOptions = { key: string; body?: unknown; headers?: Record<string, string> };

async function newOrg(db: Database, app: App) {
  const id = newId('org');
  await insertOrg(db, { id, name: `Org ${id.slice(-4)}`, wrapped_data_key: vault.newDataKey(id) });
  const actor = { type: 'system', id: 'system', name: 'Vestra' } as const;
  const newKey = async (mode: Mode) => {
    const origin = { orgId: id, mode, actor, requestId: null, ip: null };
    return (await transaction(db, (tx) => createKey(tx, origin, { name: `${mode} key`, mode, scopes: ['all'] }))).key;
  };
  const keys = { test: await newKey('test'), live: await newKey('live') };

  async function call(method: string, path: string, options: Partial<CallOptions> & { mode?: Mode } = {}) {
    const { mode = 'test', ...rest } = options;
    return request(app, method, path, { key: keys[mode], ...rest });
  }

  return {
    id,
    call,
    /** The caller for direct calls of a use case. */
    as: (mode: Mode): { caller: Caller; origin: Origin } => ({
      caller: {
        ...{ orgId: id, orgStatus: 'active', mode, actor, scopes: ['setup'] },
        ...{ key: null, member: null, grant: null, session: null },
      },
      origin: { orgId: id, mode, actor, requestId: null, ip: null },
    }),
    put: (file: object, { mode = 'test' as Mode, promote = '', path = (file as { name: string }).name } = {}) =>
      call('PUT', `/v1/deployments/${path}${promote && `?promote=${promote}`}`, { mode, body: file }),
    storeSecret: async (name: string, mode: Mode = 'test') => {
      await upsertSecret(db, { orgId: id, mode }, { userId: '', name, sealed: randomBytes(8) });
    },
    addSkill: async (slug = 'refunds') => {
      const row = { org_id: id, slug, name: slug, description: 'How refunds are made.', hash: 'ab' };
      return (await insert(db, skills, { id: newId('skl'), ...row })).id;
    },
    addNotebook: async (slug = 'faq') => {
      return (await insert(db, notebooks, { id: newId('nb'), org_id: id, slug, name: slug, description: '' })).id;
    },
    addFile: async (mode: Mode = 'test', sha256 = 'ab'.repeat(32)) => {
      const row = { org_id: id, mode, filename: 'a.csv', mime_type: 'text/csv', size_bytes: 1, sha256 };
      return (await insertFile(db, { id: newId('file'), ...row, source: 'upload' })).id;
    },
    servers: () => rowsWhere(db, mcpServers, sql`org_id = ${id} ORDER BY id`),
    audit: async () => {
      const rows = await rowsWhere(db, auditEntries, sql`org_id = ${id} ORDER BY id`);
      return rows.map(({ action }) => action).filter((action) => action !== 'key.created');
    },
    events: async () => {
      const rows = await rowsWhere(db, events, sql`org_id = ${id} ORDER BY id`);
      return rows.map(({ type, mode, data }) => ({ type, mode, data }));
    },
  };
}

/** Rows in the order of their creation. */
export async function rowsOf<Row extends Record<string, unknown>>(db: Database, { text, values }: Sql) {
  return (await db.$client.query(text, [...values])).rows as Row[];
}

/** The code and place of each fault that a refusal names, the one it is called by first. */
export const faultsOf = ({ body }: ApiResponse): [ErrorCode, string][] =>
  body.error.errors.map(({ code, param }: { code: ErrorCode; param: string }) => [code, param]);

async function request(app: App, method: string, path: string, { key, body, headers = {} }: CallOptions) {
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
  const answer: ApiResponse = {
    status: response.status,
    headers: response.headers,
    body: isJson ? JSON.parse(text) : null,
    text,
  };
  if (isJson) assertContract(method, path, answer);
  return answer;
}

function appOn(db: Database, dependencies: ApplyDependencies): App {
  const notUsed = () => Promise.reject(new Error('Keys alone are used here.'));
  const deployments = {
    ...deploymentRoutes({
      db,
      jobs: dependencies.jobs,
      checkManifest: manifestChecker(dependencies),
      fixContent,
      releaseContent: async () => {},
      renderFile,
      latestTestRuns: latestRuns,
      statusGiven: async () => {},
    }),
    ...applyRoutes({
      db,
      serverTools: { load: () => Promise.reject(new Error('No server is called here.')) },
      ...dependencies,
    }),
  };
  return createApp({
    path: {
      db,
      identities: {
        ofKey: createKeyIdentity(db).ofKey,
        ofSession: notUsed,
        ofGrant: notUsed,
        consoleToken: () => null,
        ofConsole: notUsed,
      },
      writes: createGroupCommit(db),
      idempotency: createIdempotency(db, createAnswerSeal(vault)),
      rateLimiter: createRateLimiter(db),
      cursors: createCursors(randomBytes(32)),
      embedOrigins: { isListed: async () => false, ofToken: async () => [] },
      requestsPerMinute: 1_000_000,
      keyUsed: () => {},
    },
    handlers: {
      deployments,
      notebooks: notebookRoutes({
        db,
        reader: createDocumentReader(),
        republishLive: republishLiveVersions,
        jobs: dependencies.jobs,
        embeddings: { model: 'none' },
        search: (asked) => searchNotebooks(db, asked),
      }),
      skills: skillRoutes({ db, openZip, republishLive: republishLiveVersions, jobs: dependencies.jobs }),
      scenarios: scenarioRoutes({ db }),
      webhooks: webhookRoutes({ db, vault, assertCallable: () => {} }),
    },
    log: pino({ level: 'silent' }),
    pages: () => {},
    addressOf: () => '127.0.0.1',
  });
}
