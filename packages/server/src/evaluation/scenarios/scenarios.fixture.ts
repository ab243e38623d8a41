import { usdToMicros } from '@vestra/contract/money';
import { createModels } from '@vestra/models/models';
import { startTestApp } from '../../../../../tests/support/app.ts';
import { auditEntries } from '../../../../../tests/support/audit-entries.ts';
import { content, newDeployment } from '../../agents/deployments/deployments.fixture.ts';
import { deploymentRoutes } from '../../agents/deployments/routes.ts';
import type { DeploymentRow } from '../../agents/deployments/tables.ts';
import { type Manifest, noContent } from '../../agents/versions/manifest.ts';
import { newestVersion } from '../../agents/versions/store.ts';
import { saveVersion } from '../../agents/versions/versions.ts';
import { credit } from '../../billing/charge.ts';
import type { Engine } from '../../engine/index.ts';
import { createWaiters } from '../../platform/async/waiters.ts';
import type { Executor } from '../../platform/db/pool.ts';
import { createRowCache } from '../../platform/db/row-cache.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { createStreams } from '../../platform/http/streams.ts';
import type { JobSender } from '../../platform/jobs/catalog.ts';
import { testRunRoutes } from '../test-runs/routes.ts';
import { latestRuns } from '../test-runs/store.ts';
import { scenarioRoutes } from './routes.ts';
import { type FileScenario, replaceFileScenarios, type ScenarioFields, scenariosOf } from './scenarios.ts';

const nobody = { anthropic: null, openai: null, google: null, own: [], defaultModel: null };
const reachable = { apiKey: null, baseUrl: 'http://127.0.0.1:1/v1' };

export async function startScenarios() {
  const sent: { name: string; payload: unknown }[] = [];
  const jobs: JobSender = {
    send: async (_executor, name, payload) => {
      sent.push({ name, payload });
      return '';
    },
    sendMany: async () => [],
  };
  const models = createModels({
    ...nobody,
    compatible: { ...reachable, models: ['any'], price: null, maxOutputTokens: null },
  });
  const announcer = {
    followers: { publish: () => {} },
    seen: createRowCache<never>({ most: 1 }) as never,
    notify: () => {},
  };
  const app = await startTestApp(({ db }) => ({
    deployments: deploymentRoutes({
      db,
      checkManifest: async (_tx, _caller, manifest) => manifest as Manifest,
      fixContent: async () => noContent,
      releaseContent: async () => {},
      renderFile: () => Promise.reject(new Error('No file is rendered here.')),
      latestTestRuns: latestRuns,
    }),
    scenarios: scenarioRoutes({ db }),
    testRuns: testRunRoutes({
      db,
      engine: { db, models, announcer } as Partial<Engine> as Engine,
      jobs,
      upToDateVersion: async (tx, { deployment }) => ({
        deployment,
        version: await newestVersion(tx, deployment),
        fileScenarios: await fileScenariosIn(tx, deployment),
      }),
      watchers: createWaiters(),
      streams: createStreams(),
    }),
  }));
  const { db } = app;
  return {
    ...app,
    /** The jobs that were sent, oldest first. */
    sent,
    jobs,
    /** With money in both modes. */
    newOrg: async () => {
      const org = await app.newOrg();
      for (const mode of ['test', 'live'] as const) {
        await transaction(db, (tx) => credit(tx, { orgId: org.id, mode }, usdToMicros(10)));
      }
      return org;
    },
    newDeployment: (orgId: string, manifest: Partial<Manifest> = {}) => newDeployment(db, orgId, { manifest }),
    saveVersion: async (deployment: DeploymentRow, manifest: Partial<Manifest> = {}) =>
      (await transaction(db, (tx) => saveVersion(tx, { deployment, ...content(manifest) }))).deployment,
    applyTests: (deployment: DeploymentRow, declared: readonly FileScenario[]) =>
      transaction(db, (tx) => replaceFileScenarios(tx, { deployment, declared })),
    auditOf: async (orgId: string, prefix: string) => {
      const rows = await auditEntries(db, { orgId });
      return rows.filter(({ action }) => action.startsWith(prefix));
    },
  };
}

/** The scenarios that `applyTests` stored, as the file of the newest version has them. */
export async function fileScenariosIn(db: Executor, { id }: Pick<DeploymentRow, 'id'>): Promise<FileScenario[]> {
  const rows = await scenariosOf(db, id);
  return rows
    .filter(({ managed_by }) => managed_by === 'file')
    .map(({ name, persona, goal, success_criteria, must_never, tool_results, recorded_calls }) => ({
      ...{ name, persona, goal, success_criteria, must_never },
      ...(tool_results && { tool_results }),
      ...(recorded_calls && { recorded_calls }),
    })) as FileScenario[];
}

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
  approver: 'user' as const,
});
