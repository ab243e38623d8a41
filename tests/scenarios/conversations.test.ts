import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentServer, startAgentServer } from '../support/agent.ts';

let server: AgentServer;
beforeAll(async () => {
  server = await startAgentServer();
  await server.apply({ name: 'desk', instructions: 'Be kind.' });
});
afterAll(() => server.stop());

describe('a reply', () => {
  it('streams from the first event of its turn to `turn.settled` [CONV-018, EVT-014, EVT-015]', async () => {
    server.script(() => ({ text: ['Good ', 'morning', '.'], chunkDelayMs: 5 }));
    const stream = await server.stream('POST', '/v1/conversations', { body: { message: 'Hi', stream: true } });
    const events = await stream.events;
    const deltas = events.filter(({ type }) => type === 'reply.delta').map(({ data }) => data.text);
    expect(events.at(0)?.type).toBe('turn.started');
    expect(events.at(-1)?.type).toBe('turn.settled');
    expect(deltas.join('')).toBe('Good morning.');
    expect(events.filter(({ type }) => type === 'reply.completed').map(({ data }) => data.message.text)).toEqual([
      'Good morning.',
    ]);
  });
});
