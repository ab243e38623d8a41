import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { query } from '../support/database.ts';
import { startTestServer } from '../support/server.ts';
import { shown } from './money.fixture.ts';

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
    expect([all.length, shown(total.cost_usd)]).toEqual([4, cost_usd]);
    const held = `SELECT FROM reservations WHERE user_id = 'patient'`;
    await expect.poll(() => query(server.connectionString, held)).toEqual([]);
    await successor.stop();
  });
});

describe('a worker that starts', () => {
  it('ends a run quietly whose conversation is deleted before it has read the message [RUN-715]', async () => {
    server.script(() => ({ text: 'Hello.' }));
    const { body } = await server.call('POST', '/v1/conversations', { body: { message: 'Hi' } });
    const database = new pg.Client(server.connectionString);
    await database.connect();
    // The worker takes the run, and waits for the table with its message.
    await database.query('BEGIN; LOCK TABLE messages IN ACCESS EXCLUSIVE MODE');
    const worker = await startWorker();
    const waiting = `SELECT FROM pg_locks WHERE relation = 'messages'::regclass AND NOT granted`;
    await expect.poll(async () => (await query(server.connectionString, waiting)).length).toBeGreaterThan(0);
    await database.query('DELETE FROM runs WHERE id IN (SELECT id FROM turns WHERE conversation_id = $1)', [body.id]);
    for (const table of ['messages', 'turns']) {
      await database.query(`DELETE FROM ${table} WHERE conversation_id = $1`, [body.id]);
    }
    await database.query('DELETE FROM conversations WHERE id = $1', [body.id]);
    await database.query('COMMIT');
    await database.end();
    // The worker is ready for other work, and its log holds no error.
    const next = await server.call('POST', '/v1/conversations', { body: { message: 'Hi' } });
    await server.until(`/v1/conversations/${next.body.id}`, ({ status }) => status === 'idle');
    expect(server.asked).toHaveLength(1);
    await worker.stop();
  });

  it('drops the jobs of deleted conversations, and the holds of runs that ended without their process [RUN-708]', async () => {
    server.script(() => ({ text: 'Hello.' }));
    const { body } = await server.call('POST', '/v1/conversations', { body: { message: 'Hi', user_id: 'gone' } });
    const [turn] = await query(server.connectionString, 'SELECT * FROM turns WHERE conversation_id = $1', [body.id]);
    expect((await server.call('DELETE', `/v1/conversations/${body.id}`)).status).toBe(200);
    // A process that was killed after it had lost its run leaves this hold.
    await query(
      server.connectionString,
      `INSERT INTO reservations (id, org_id, mode, user_id, amount_micros, expires_at, run_id)
       VALUES (gen_random_uuid(), $1, 'test', 'gone', 1000, now() + interval '15 minutes', $2)`,
      [turn?.org_id, turn?.id],
    );
    const worker = await startWorker();
    const left = async () => [
      ...(await query(server.connectionString, `SELECT name FROM jobs WHERE name = 'turn.run'`)),
      ...(await query(server.connectionString, 'SELECT run_id FROM reservations')),
    ];
    await expect.poll(left, { timeout: 60_000 }).toEqual([]);
    await worker.stop();
  });
});
