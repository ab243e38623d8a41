import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { startTestServer } from '../support/server.ts';

let server: AgentServer;
beforeAll(async () => {
  server = await startAgentServer({ env: { VESTRA_ROLE: 'api' } });
  await server.apply({ name: 'desk' });
});
afterAll(() => server.stop());

const startWorker = () => startTestServer({ beside: server, env: { ...server.env, VESTRA_ROLE: 'worker' } });

describe('a worker that leaves', () => {
  it.each([
    ['a reply', 'auto', 'agent'],
    ['a task', 'always', 'work'],
  ])('gives %s back at its next step, and another goes on from what is recorded', async (_what, hand_off, role) => {
    const leaver = await startWorker();
    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    let isAsked = () => {};
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    server.script(async ({ messages }) => {
      if (messages.some(({ role: speaker }) => speaker === 'tool')) return { text: 'Found it.' };
      isAsked();
      await held;
      return { calls: [{ name: 'no_such_tool', arguments: {} }] };
    });
    const { body } = await server.call('POST', '/v1/conversations', { body: { message: 'Look', hand_off } });
    await asked;
    const stopping = leaver.stop();
    letGo();
    await stopping;
    expect(server.asked).toHaveLength(1);
    const successor = await startWorker();
    await server.until(`/v1/conversations/${body.id}`, ({ status }) => status === 'idle');
    const { data } = (await server.call('GET', `/v1/conversations/${body.id}/messages`)).body;
    expect(data[0]).toMatchObject({ role, text: 'Found it.' });
    expect(server.asked).toHaveLength(2);
    await successor.stop();
  });
});
