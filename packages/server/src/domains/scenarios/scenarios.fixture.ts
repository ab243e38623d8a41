import { randomBytes } from 'node:crypto';
import { eq } from 'drizzle-orm';
import pino from 'pino';
import { type Answer, assertContract } from '../../../../../tests/support/server.ts';
import { createTestDatabase } from '../../../../../tests/support/test-database.ts';
import { closeDatabase, type Database, openDatabase } from '../../db/pool.ts';
import { transaction } from '../../db/transaction.ts';
import { createApp } from '../../http/app.ts';
import { createCursors } from '../../http/cursor.ts';
import { createIdempotency } from '../../http/idempotency.ts';
import { createRateLimiter } from '../../http/rate-limit.ts';
import { auditEntries } from '../audit/tables.ts';
import { type DeploymentRow, type Manifest, saveVersion } from '../deployments/api.ts';
import { deploymentRoutes } from '../deployments/routes.ts';
import { content, newDeployment, newOrg } from '../deployments/test-deployments.ts';
import { createKeyIdentity } from '../keys/api.ts';
import { testRunPort } from '../test-runs/api.ts';
import { testRunRoutes } from '../test-runs/routes.ts';
import { scenarioPort } from './api.ts';
import { scenarioRoutes } from './routes.ts';
import type { ScenarioFields } from './scenario.ts';

type Call = { key: string; body?: unknown; headers?: Record<string, string> };

/**
 * Scenarios, test runs and their deployments on a database of their own, called without a socket; every answer is held
 * against the contract.
 */
export async function startScenarios() {
  const database = await createTestDatabase();
  const db = await openDatabase({ connectionString: database.connectionString });
  const app = appOn(db);

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
    call,
    newOrg: () => newOrg(db),
    newDeployment: (orgId: string, manifest: Partial<Manifest> = {}) => newDeployment(db, orgId, { manifest }),
    saveVersion: async (deployment: DeploymentRow, manifest: Partial<Manifest> = {}) =>
      (await transaction(db, (tx) => saveVersion(tx, { deployment, ...content(manifest) }))).deployment,
    applyTests: (deployment: DeploymentRow, declared: Omit<ScenarioFields, 'approves'>[]) =>
      transaction(db, (tx) => scenarioPort.replaceFileManaged(tx, { deployment, declared })),
    auditOf: async (orgId: string, prefix: string) => {
      const rows = await db.select().from(auditEntries).where(eq(auditEntries.org_id, orgId)).orderBy(auditEntries.id);
      return rows.filter(({ action }) => action.startsWith(prefix));
    },
    async stop() {
      await closeDatabase(db);
      await database.drop();
    },
  };
}

/** A scenario as the create route takes it. */
export const scenarioOf = (fields: Partial<ScenarioFields> = {}): ScenarioFields => ({
  name: 'Wants a refund',
  persona: 'A customer in a hurry.',
  goal: 'I want my money back for order 17.',
  success_criteria: ['It asks for the reason.', 'It makes the refund.'],
  must_never: ['It promises a date.'],
  ...fields,
});

export const functionTool = (name: string) => ({
  function: name,
  description: 'Looks.',
  input: {},
  timeout_s: 120,
  read_only: true,
  run_without_asking: false,
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
    handlers: {
      deployments: deploymentRoutes({
        db,
        checkManifest: async (_tx, _caller, manifest) => manifest as Manifest,
        renderFile: notUsed,
        latestTestRuns: testRunPort.latest,
      }),
      scenarios: scenarioRoutes({ db }),
      testRuns: testRunRoutes({ db }),
    },
    log: pino({ level: 'silent' }),
    pages: () => {},
    addressOf: () => '127.0.0.1',
  });
}
