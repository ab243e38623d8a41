import { fail } from '@vestra/contract/errors';
import { requireDeployment } from '../../agents/deployments/index.ts';
import type { Engine } from '../../engine/index.ts';
import type { Watchers } from '../../platform/async/watchers.ts';
import type { Database } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { EventStream, type Handlers } from '../../platform/http/handler.ts';
import type { Streams } from '../../platform/http/streams.ts';
import type { JobSender } from '../../platform/jobs/catalog.ts';
import { cancelTestRun, stopPlaying } from './cancel.ts';
import { createTestRun, type UpToDateVersion } from './create.ts';
import { followTestRun } from './follow.ts';
import { presentTestRun } from './present.ts';
import { findRun, listRuns } from './store.ts';

export type TestRunDependencies = {
  db: Database;
  engine: Engine;
  jobs: JobSender;
  upToDateVersion: UpToDateVersion;
  watchers: Watchers;
  streams: Streams;
};

export function testRunRoutes({
  db,
  engine,
  jobs,
  upToDateVersion,
  watchers,
  streams,
}: TestRunDependencies): Handlers<'testRuns'> {
  const read = async (orgId: string, runId: string) => {
    const row = await findRun(db, orgId, runId);
    if (!row) throw fail('test_run_not_found');
    return presentTestRun(row);
  };

  return {
    create: async ({ origin, params, commit }) =>
      commit((tx) => createTestRun(tx, { engine, jobs, upToDateVersion }, origin, params.deployment_id)),
    list: async ({ caller, params, page }) => {
      const { id } = await requireDeployment(db, caller.orgId, params.deployment_id);
      const rows = await listRuns(db, id, { limit: page.limit, below: belowIn(id, page.after) });
      return page.of(rows, presentTestRun, (row) => [row.deployment_id, row.id]);
    },
    get: ({ caller, params }) => read(caller.orgId, params.run_id),
    events: async ({ caller, params, signal }) => {
      const look = () => read(caller.orgId, params.run_id);
      const run = await look();
      return new EventStream(streams.open(caller, signal), followTestRun(watchers, run, look));
    },
    cancel: async ({ origin, params }) => {
      const run = await transaction(db, (tx) => cancelTestRun(tx, origin, params.run_id));
      await stopPlaying(engine, run);
      return run;
    },
  };
}

/** A cursor belongs to the deployment whose runs it pages through. */
function belowIn(listed: string, after: readonly string[] | null): string | null {
  if (after === null) return null;
  const [deploymentId, runId] = after;
  if (deploymentId !== listed) throw fail('invalid_cursor', { param: 'cursor' });
  return runId as string;
}
