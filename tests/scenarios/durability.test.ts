import type { NormalisedRequest } from '@vestra/models/testing/scripted-answer';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { lastText, resultsIn } from '../support/cast.ts';
import { query } from '../support/database.ts';
import { makeDataDir, type ServerProcess, startProcess } from '../support/process.ts';
import { type Answer, startTestServer } from '../support/server.ts';
import { door } from './conversations.fixture.ts';

type Body = Answer['body'];

/** It takes messages and runs nothing: what runs, runs in the processes beside it. */
let server: AgentServer;
beforeAll(async () => {
  server = await startAgentServer({ env: { VESTRA_ROLE: 'api' } });
  await server.apply({ name: 'desk', memory: 'none' });
});
afterAll(() => server.stop());

const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (let step = cleanUp.pop(); step; step = cleanUp.pop()) await step();
});

async function start(role: 'all' | 'worker'): Promise<ServerProcess> {
  const { dataDir, remove } = await makeDataDir();
  cleanUp.push(remove);
  const started = await startProcess(dataDir, {
    ...server.env,
    VESTRA_ROLE: role,
    DATABASE_URL: server.connectionString,
    VESTRA_MASTER_KEY: 'ab'.repeat(32),
    VESTRA_LEASE_SECONDS: '1',
  });
  cleanUp.push(() => started.kill('SIGKILL'));
  return started;
}

async function startWorker() {
  const worker = await startTestServer({ beside: server, env: { ...server.env, VESTRA_ROLE: 'worker' } });
  cleanUp.push(worker.stop);
  return worker;
}

async function begin(message: string, hand_off: 'auto' | 'always', at: Pick<AgentServer, 'call'> = server) {
  const body = { message, hand_off };
  const { body: made } = await at.call('POST', '/v1/conversations', { key: server.testKey, body });
  return made.id as string;
}
const idle = (id: string) => server.until(`/v1/conversations/${id}`, ({ status }) => status === 'idle');
/** Oldest first. */
const said = async (id: string): Promise<string[]> =>
  (await server.call('GET', `/v1/conversations/${id}/messages`)).body.data
    .map(({ role, text }: Body) => `${role}: ${text}`)
    .reverse();
const sql = (text: string) => query(server.connectionString, text);
const onIt = 'agent: I am on it and will come back with the result.';
const askedAbout = (word: string) => server.asked.filter((request) => lastText(request).includes(word));

describe('a process that is killed', () => {
  it('has its reply and its task go on in another within 30 seconds [JOB-005]', async () => {
    const killed = await start('all');
    server.script(() => ({ fail: 'hang' }));
    const reply = await begin('reply', 'auto', killed);
    const task = await begin('task', 'always', killed);
    await expect.poll(() => server.asked.length, { timeout: 30_000 }).toBe(2);
    await start('worker');
    await killed.kill('SIGKILL');
    server.script((request) => ({ text: `Done with ${lastText(request)}.` }));
    await expect.poll(() => server.asked.length, { timeout: 30_000 }).toBe(2);
    await Promise.all([idle(reply), idle(task)]);
    expect(await said(reply)).toEqual(['user: reply', 'agent: Done with reply.']);
    expect(await said(task)).toEqual(['user: task', onIt, 'work: Done with task.']);
  });
});

describe('what a killed process has done', () => {
  it('is known to the reply that goes on and to the next: what a function said, and what is asked of the person [MSG-401]', async () => {
    const tools = [{ name: 'get_order', description: 'Orders.', input_schema: { type: 'object' }, read_only: true }];
    const killed = await start('all');
    server.script((request) =>
      resultsIn(request).length === 0 ? { calls: [{ name: 'get_order', arguments: { id: 'A1' } }] } : { fail: 'hang' },
    );
    const { body: made } = await killed.call('POST', '/v1/conversations', {
      key: server.testKey,
      body: { message: 'Where is it?', tools },
    });
    const path = `/v1/conversations/${made.id}`;
    const { pending_tool_calls } = await server.until(path, (shown) => shown.pending_tool_calls.length === 1);
    const tool_results = [{ call_id: pending_tool_calls[0].call_id, output: { tracking: 'TRK-901' } }];
    await killed.call('POST', `${path}/messages`, { key: server.testKey, body: { tool_results } });
    await expect.poll(() => server.asked.length, { timeout: 30_000 }).toBe(2);
    await start('worker');
    await killed.kill('SIGKILL');
    server.script(() => ({ text: 'Shipped.' }));
    await idle(made.id);
    await server.call('POST', `${path}/messages`, { body: { message: 'Its number?' } });
    await expect.poll(() => server.asked.length, { timeout: 30_000 }).toBe(2);
    await idle(made.id);
    for (const request of server.asked) expect(JSON.stringify(request.messages)).toContain('TRK-901');
  });
});

describe('SIGTERM', () => {
  it('lets running steps end, hands the rest back and loses no accepted message [JOB-007, JOB-010]', async () => {
    const leaver = await start('all');
    const gate = door();
    server.script(async (request: NormalisedRequest) => {
      if (resultsIn(request).length > 0) return { text: `Found for ${lastText(request)}.` };
      if (lastText(request).includes('later')) return { text: 'Here you are.' };
      await gate.opened;
      return { calls: [{ name: 'no_such_tool', arguments: {} }] };
    });
    const reply = await begin('reply', 'auto', leaver);
    const task = await begin('task', 'always', leaver);
    const { status } = await leaver.call('POST', `/v1/conversations/${reply}/messages`, {
      key: server.testKey,
      body: { message: 'later' },
    });
    expect(status).toBe(202);
    await expect.poll(() => server.asked.length, { timeout: 30_000 }).toBe(2);

    const ended = leaver.kill('SIGTERM');
    await expect.poll(leaver.output, { timeout: 30_000 }).toContain('"stopping"');
    gate.open();
    expect(await ended).toBe(0);
    expect(server.asked).toHaveLength(2);
    expect(await sql('SELECT id FROM runs')).toEqual([]);

    await startWorker();
    await Promise.all([idle(reply), idle(task)]);
    expect(await said(reply)).toEqual([
      'user: reply',
      'user: later',
      'agent: Found for reply.',
      'agent: Here you are.',
    ]);
    expect(await said(task)).toEqual(['user: task', onIt, 'work: Found for task.']);
    // The step that was running when the signal came was recorded: the model is not asked for it again.
    expect([askedAbout('reply').length, askedAbout('task').length, askedAbout('later').length]).toEqual([2, 2, 1]);
  });
});

describe('the start', () => {
  it('finds replies and tasks that have no job and gives them one [JOB-008]', async () => {
    server.script((request) => ({ text: `Done with ${lastText(request)}.` }));
    const reply = await begin('reply', 'auto');
    const task = await begin('task', 'always');
    const lost = await sql(`DELETE FROM jobs WHERE name IN ('turn.run', 'task.run') RETURNING name`);
    expect(lost.map(({ name }) => name).sort()).toEqual(['task.run', 'turn.run']);
    await startWorker();
    await Promise.all([idle(reply), idle(task)]);
    expect(await said(reply)).toEqual(['user: reply', 'agent: Done with reply.']);
    expect(await said(task)).toEqual(['user: task', onIt, 'work: Done with task.']);
    expect(server.asked).toHaveLength(2);
  });
});

describe('tasks that wait', () => {
  /** More than a process has connections. */
  const count = 25;

  it('hold no connection and no process, and go on with their answers in another [JOB-009]', async () => {
    const first = await startWorker();
    server.script((request) => {
      const [answer] = resultsIn(request);
      if (answer === undefined) return { calls: [{ name: 'ask_question', arguments: { question: 'Which?' } }] };
      return { text: `Took ${/number-\d+/.exec(answer)?.[0]}.` };
    });
    const ids: string[] = [];
    for (let at = 0; at < count; at++) ids.push(await begin('task', 'always'));
    const open: Body[] = [];
    for (const id of ids) {
      open.push(await server.until(`/v1/conversations/${id}`, ({ status }) => status === 'waiting'));
    }
    expect(await sql('SELECT id FROM runs')).toEqual([]);
    const unfinished = `SELECT name FROM jobs WHERE name IN ('task.run', 'turn.run') AND given_up_at IS NULL`;
    await expect.poll(() => sql(unfinished), { timeout: 30_000 }).toEqual([]);
    await first.stop();
    cleanUp.pop();
    for (const [at, { open_interactions }] of open.entries()) {
      const path = `/v1/interactions/${open_interactions[0].interaction_id}/answer`;
      expect((await server.call('POST', path, { body: { answers: [`number-${at}`] } })).status).toBe(200);
    }
    expect(server.asked).toHaveLength(count);

    await startWorker();
    for (const [at, id] of ids.entries()) {
      await idle(id);
      expect(await said(id)).toEqual(['user: task', onIt, `work: Took number-${at}.`]);
    }
    expect(server.asked).toHaveLength(2 * count);
  });
});
