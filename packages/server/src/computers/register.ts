import type { Kernel } from '../platform/kernel.ts';
import type { Registration } from '../platform/registration.ts';
import type { AgentComputers } from './agent-computers.ts';
import type { RemoteBrowsers } from './browser/remote-browser.ts';
import { conversationCopyEraser, fileCopyEraser, skillCopyEraser } from './placed-files.ts';
import { browserRoutes, computerRoutes, screenRoutes } from './routes.ts';
import { runWarmUp } from './warm-computer.ts';

export const register = (
  { db, jobs, log }: Kernel,
  { computerWork: work, browsers }: { computerWork: AgentComputers; browsers: RemoteBrowsers },
): Registration => ({
  routes: ({ streams }) => ({
    users: { ...computerRoutes({ db, jobs, work }), ...screenRoutes({ db, browsers }) },
    browser: browserRoutes({ db, browsers, streams }),
  }),
  fileErasure: [fileCopyEraser(jobs)],
  conversationErasure: [conversationCopyEraser(jobs)],
  objectErasure: [skillCopyEraser(jobs)],
  jobs: {
    'computer.tidy': ({ org_id, mode, user_id }, { signal }) =>
      work.tidy({ orgId: org_id, mode, userId: user_id }, signal),
    'computer.warm': ({ org_id, mode, user_id }, { signal }) =>
      runWarmUp({ db, work, log }, { orgId: org_id, mode }, user_id, signal),
  },
});
