import { type AgentServer, startAgentServer } from '../support/agent.ts';
import type { ApiResponse } from '../support/server.ts';

export type TestRun = ApiResponse['body'];

/** A server, and one deployment with its scenarios after the other. */
export async function startTestRuns() {
  const server: AgentServer = await startAgentServer();
  let number = 0;
  let name = '';
  const start = async (): Promise<TestRun> => {
    const answer = await server.call('POST', `/v1/deployments/${name}/test-runs`);
    if (answer.status !== 202) throw new Error(answer.text);
    return answer.body;
  };
  const ended = (run: TestRun): Promise<TestRun> => server.until(`/v1/test-runs/${run.id}`, isOver);
  return {
    server,
    /** The name of the deployment that is played. */
    current: () => name,
    /** A new deployment with these scenarios; `more` goes into its file. */
    async deploy(scenarios: readonly Record<string, unknown>[], more: Record<string, unknown> = {}) {
      name = `desk-${++number}`;
      await server.apply({ name, ...more });
      for (const each of scenarios) {
        const made = await server.call('POST', `/v1/deployments/${name}/scenarios`, { body: each });
        if (made.status !== 201) throw new Error(made.text);
      }
    },
    start,
    ended,
    play: async (): Promise<TestRun> => ended(await start()),
  };
}

export const isOver = (run: TestRun) => run.status !== 'queued' && run.status !== 'running';

export const scenario = (fields: Record<string, unknown> = {}) => ({
  name: 'Asks for an order',
  persona: 'A customer in a hurry.',
  goal: 'Where is my order 17?',
  success_criteria: ['The agent names the day.'],
  ...fields,
});
