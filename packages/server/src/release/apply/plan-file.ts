import type { Api } from '@vestra/contract/api';
import { type ErrorCode, Failure } from '@vestra/contract/errors';
import type { DryRunOf } from '@vestra/contract/route';
import {
  type DeploymentRow,
  getVersion,
  lockVersions,
  newestVersion,
  requireDeployment,
  type VersionRow,
} from '../../agents/deployments/index.ts';
import type { Database, Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { ApplyDependencies } from '../dependencies.ts';
import { type Application, applyFile, findApplied } from './apply-file.ts';
import { changesOf } from './file-changes.ts';
import { fileOfVersion } from './manifest.ts';

type Plan = DryRunOf<Api['deployments']['put']>;

/** `version` is the version that would run; null if the file has faults. */
type PlannedFile = { plan: Plan; version: Pick<VersionRow, 'manifest' | 'content'> | null };

/** Ends the transaction of a plan, so that nothing of it is committed. */
class PlanReady extends Error {
  readonly planned: PlannedFile;

  constructor(planned: PlannedFile) {
    super('The plan is ready, and its transaction is rolled back.');
    this.planned = planned;
  }
}

/** Applies the file in a transaction that is always rolled back. So a plan and an apply cannot disagree. */
export async function planFile(
  db: Database,
  dependencies: ApplyDependencies,
  application: Application,
): Promise<PlannedFile> {
  try {
    return await transaction(db, async (tx) => {
      throw new PlanReady(await planIn(tx, dependencies, application));
    });
  } catch (error) {
    if (error instanceof PlanReady) return error.planned;
    throw error;
  }
}

async function planIn(
  tx: Transaction,
  dependencies: ApplyDependencies,
  application: Application,
): Promise<PlannedFile> {
  const { caller, origin, reference, promote, uploads = [] } = application;
  await lockVersions(tx, caller.orgId);
  const before = (await findApplied(tx, caller.orgId, reference)) ?? null;
  const newest = before && (await newestVersion(tx, before));
  const fileBefore = before && newest && (await fileOfVersion(tx, before, newest, { fixed: 'headers' }));
  const { jobs, started } = recordingJobs();
  const answer = await applyFile(tx, { ...dependencies, jobs }, application).catch(refusalOf);
  if (answer instanceof Failure) return { plan: refused(answer), version: null };
  const after = await requireDeployment(tx, caller.orgId, answer.id);
  const version = await getVersion(tx, after, answer.version.version);
  const fileAfter = await fileOfVersion(tx, after, version, { fixed: 'headers' });
  const running = (deployment: DeploymentRow | null) =>
    (origin.mode === 'live' ? deployment?.live_version : deployment?.draft_version) ?? null;
  const { test_run: run } = answer;
  const waits = promote === 'after_tests' && run !== null && running(before) !== version.version;
  const plan: Plan = {
    ...nothing,
    changed: changesOf({
      keys: answer.changed,
      before: { file: fileBefore, content: newest?.content ?? null },
      after: { file: fileAfter, content: version.content },
      uploads,
    }),
    warnings: answer.warnings,
    creates_version: version.version !== newest?.version,
    promotes: waits || running(after) !== running(before),
    tests_to_run: run && started.has(run.id) ? run.results.map(({ name }) => name) : [],
  };
  return { plan, version };
}

const nothing: Plan = {
  object: 'plan',
  changed: [],
  faults: [],
  missing_secrets: [],
  warnings: [],
  creates_version: false,
  promotes: false,
  tests_to_run: [],
};

/** Remembers the test runs that would start, and starts none. */
function recordingJobs(): { jobs: ApplyDependencies['jobs']; started: ReadonlySet<string> } {
  const started = new Set<string>();
  const send = (payload: object) => {
    if ('run_id' in payload) started.add(String(payload.run_id));
    return '';
  };
  return {
    jobs: {
      send: async (_tx, _name, payload) => send(payload),
      sendMany: async (_tx, _name, payloads) => payloads.map(send),
    },
    started,
  };
}

/** Failures about the deployment and not about the file: a plan fails with them, as an apply does. */
const notOfFile: ReadonlySet<ErrorCode> = new Set([
  'deployment_not_found',
  'deployment_archived',
  'deployment_changed',
]);

function refusalOf(error: unknown): Failure {
  if (error instanceof Failure && error.status < 500 && !notOfFile.has(error.code)) return error;
  throw error;
}

function refused({ code, message, details }: Failure): Plan {
  const faults = details.errors ?? [{ code, param: details.param ?? '', message }];
  // An incomplete version names the deleted objects instead.
  const names = code === 'version_incomplete' ? [] : (details.names ?? []);
  return { ...nothing, faults, missing_secrets: names };
}
