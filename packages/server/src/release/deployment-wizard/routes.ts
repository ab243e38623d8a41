import { Failure } from '@vestra/contract/errors';
import type { Handlers } from '../../platform/http/handler.ts';
import type { InterviewPorts } from './interview.ts';

// Interviews are rare, so their code is loaded with the first one.

export function interviewRoutes(ports: InterviewPorts): Required<Pick<Handlers<'deployments'>, 'interview'>> {
  return {
    interview: async (incoming) => (await import('./interview-routes.ts')).takeStep(ports, incoming),
  };
}

/**
 * A message to the conversation of an interview answers its question. This is checked only after sending failed for
 * lack of a deployment, so that other messages cost nothing.
 */
export function answerInterviews(ports: InterviewPorts, routes: Handlers<'conversations'>): typeof routes {
  const { send } = routes;
  if (!send) return routes;
  return {
    ...routes,
    send: async (incoming) => {
      try {
        return await send(incoming);
      } catch (error) {
        if (!(error instanceof Failure) || error.code !== 'deployment_deleted') throw error;
        const answered = await (await import('./interview-routes.ts')).answerByMessage(ports, incoming);
        if (answered === undefined) throw error;
        return answered;
      }
    },
  };
}
