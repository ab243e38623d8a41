import { createModels } from '@vestra/models/models';
import { readConfig } from '../../config.ts';
import type { Database } from '../../db/pool.ts';
import { createLog } from '../../log.ts';
import type { Engine } from '../engine/api.ts';
import { publicUrl } from './routines.fixture.ts';
import type { RoutineRunner } from './run-routine.ts';

/** Takes messages as every process does, and leaves the replies to whoever looks for their jobs: here nobody. */
export function takingRunner(db: Database): RoutineRunner {
  const engine: Partial<Engine> = {
    db,
    log: createLog('silent'),
    models: createModels(readConfig({}).models),
    announcer: { followers: { publish: () => {} }, ring: () => {} },
    runner: {
      hasRoom: () => false,
      isLeaving: () => false,
    leave: () => {},
      lease: () => null,
      take: () => Promise.reject(new Error('Nothing is taken here.')),
      perform: () => Promise.reject(new Error('Nothing is performed here.')),
      end: () => {},
      stop: async () => {},
    },
    jobs: { send: async () => 'job', sendMany: async () => [] },
  };
  return { engine: engine as Engine, publicUrl: () => publicUrl };
}
