import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { query } from '../support/database.ts';
import { startTestServer } from '../support/server.ts';

let server: AgentServer;
beforeAll(async () => {
  server = await startAgentServer({ env: { VESTRA_ROLE: 'api' } });
  await server.apply({ name: 'desk' });
});
afterAll(() => server.stop());

const startWorker = (env: Record<string, string> = {}) =>
  startTestServer({ beside: server, env: { ...server.env, VESTRA_ROLE: 'worker', VESTRA_LEASE_SECONDS: '3', ...env } });

describe('a worker that leaves', () => {
  it.each([
    ['a reply', 'auto', 'agent'],
    ['a task', 'always', 'work'],
  ])('gives %s back at its next step, and another resumes from the recorded steps', async (_what, hand_off, role) => {
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

  it('charges the interrupted call once, and the call that replaces it [MON-642]', async () => {
    const leaver = await startWorker({ VESTRA_STOP_SECONDS: '1' });
    server.script(() => ({ text: ['Half an ', 'answer'], fail: 'hang' }));
    const { body } = await server.call('POST', '/v1/conversations', { body: { message: 'Go', user_id: 'patient' } });
    const path = `/v1/conversations/${body.id}`;
    const isStreamed = ({ data }: { data: { type: string; data: { text: string } }[] }) =>
      data
        .filter(({ type }) => type === 'reply.delta')
        .map(({ data: delta }) => delta.text)
        .join('') === 'Half an answer';
    await server.until(`${path}/events?format=json&limit=100`, isStreamed);
    await leaver.stop();
    const items = async () => (await server.call('GET', `/v1/usage/line-items?conversation_id=${body.id}`)).body;
    const { data: cut } = await items();
    type Item = { unit: string; quantity: number; estimated: boolean };
    expect(cut.map(({ unit, estimated }: Item) => [unit, estimated]).sort()).toEqual([
      ['input_tokens', true],
      ['output_tokens', true],
    ]);
    expect(cut.find(({ unit }: Item) => unit === 'output_tokens').quantity).toBe(Math.ceil(14 / 3.5));
    server.script(() => ({ text: 'Whole.', usage: { inputTokens: 1_000, outputTokens: 10 } }));
    const successor = await startWorker();
    const { cost_usd } = await server.until(path, ({ status }) => status === 'idle');
    const { data: all, total } = await items();
    expect(
      all
        .filter(({ estimated }: Item) => !estimated)
        .map(({ quantity }: Item) => quantity)
        .sort(),
    ).toEqual([10, 1_000]);
    expect([all.length, total.cost_usd]).toEqual([4, expect.closeTo(cost_usd, 5)]);
    const held = `SELECT FROM reservations WHERE user_id = 'patient'`;
    await expect.poll(() => query(server.connectionString, held)).toEqual([]);
    await successor.stop();
  });
});
