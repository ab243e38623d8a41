import { createModels } from '@vestra/models/models';
import type { Engine } from '../../engine/index.ts';
import { createRunner } from '../../engine/turns/runner.ts';
import { createLog } from '../../main/log.ts';
import { readConfig } from '../../platform/config/config.ts';
import type { Database } from '../../platform/db/pool.ts';
import { createRowCache } from '../../platform/db/row-cache.ts';
import { publicUrl } from './routines.fixture.ts';
import type { RoutineRunner } from './runs.ts';

/** Accepts messages and leaves the replies to jobs, which no process runs here. */
export function takingRunner(db: Database): RoutineRunner {
  const log = createLog('silent');
  const engine: Partial<Engine> = {
    db,
    log,
    models: createModels(readConfig({}).models),
    announcer: { followers: { publish: () => {} }, seen: createRowCache({ most: 1 }), notify: () => {} },
    // As in a process with the role that only serves requests.
    runner: createRunner({
      db,
      log,
      settings: { capacity: 0, ofOrg: 0, ofUser: 0, leaseMs: 1_000, renewEveryMs: 1_000 },
    }),
    openTasks: { ofOrg: 100, ofUser: 100 },
    money: {
      hold: () => Promise.reject(new Error('Nothing is run here.')),
      hasWaiting: () => false,
      freed: () => {},
      waiting: () => ({ count: 0, longestMs: 0 }),
    },
    jobs: { send: async () => 'job', sendMany: async () => [] },
  };
  return { engine: engine as Engine, publicUrl: () => publicUrl };
}
