import type { Database } from '../platform/db/pool.ts';
import { type Handlers, Reply } from '../platform/http/handler.ts';
import type { JobSender } from '../platform/jobs/catalog.ts';
import { warm } from './warm.ts';
import type { ComputerWork } from './work-computers.ts';

type Dependencies = { db: Database; jobs: JobSender; work: Pick<ComputerWork, 'assertThere'> };

/** The routes of users that are about their computer. */
export function computerRoutes({ db, jobs, work }: Dependencies): Handlers<'users'> {
  return {
    warm: async ({ caller, params, body }) => {
      await work.assertThere();
      const status = await warm({ db, jobs }, caller, params.user_id, body?.keep_ms);
      return new Reply({ user_id: params.user_id, status }, { status: status === 'ready' ? 200 : 202 });
    },
  };
}
