import type { Engine } from '../engine/index.ts';
import type { Kernel } from '../platform/kernel.ts';
import type { Registration } from '../platform/registration.ts';
import type { ApplyDependencies } from './dependencies.ts';
import type { InterviewPorts } from './deployment-wizard/interview.ts';
import { answerInterviews, interviewRoutes } from './deployment-wizard/routes.ts';
import { applyRoutes } from './routes.ts';

export function register(kernel: Kernel & ApplyDependencies, { engine }: { engine: Engine }): Registration {
  const interviews: InterviewPorts = {
    engine,
    faultsOf: async (caller, body) =>
      (await import('./apply/check-file.ts')).faultsOfFile(kernel.db, kernel, { caller, body }),
    render: async (file) => (await import('./apply/render-yaml.ts')).renderYaml(file),
  };
  return {
    routes: (_serving, { conversations }) => ({
      deployments: { ...applyRoutes({ ...kernel, serverTools: engine.serverTools }), ...interviewRoutes(interviews) },
      conversations: answerInterviews(interviews, conversations ?? {}),
    }),
  };
}
