import type { Kernel } from '../platform/kernel.ts';
import type { Registration } from '../platform/registration.ts';
import type { Browsers } from './browser/at-holder.ts';
import { browserRoutes, screenRoutes } from './browser/routes.ts';
import { computerRoutes } from './routes.ts';
import { wakeBeforehand } from './warm.ts';
import type { ComputerWork } from './work-computers.ts';

export const register = (
  { db, jobs, log }: Kernel,
  { computerWork: work, browsers }: { computerWork: ComputerWork; browsers: Browsers },
): Registration => ({
  routes: ({ streams }) => ({
    users: { ...computerRoutes({ db, jobs, work }), ...screenRoutes({ db, browsers }) },
    browser: browserRoutes({ db, browsers, streams }),
  }),
  jobs: {
    'computer.warm': ({ org_id, mode, user_id }, { signal }) =>
      wakeBeforehand({ db, work, log }, { orgId: org_id, mode }, user_id, signal),
  },
});
