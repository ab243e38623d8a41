import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentServer } from '../support/agent.ts';
import { cast, lastText, partOf, resultsIn } from '../support/cast.ts';
import { query } from '../support/database.ts';
import { startTestServer } from '../support/server.ts';
import { isOver, scenario, startTestRuns, type TestRun } from './test-runs.fixture.ts';

let server: AgentServer;
let runs: Awaited<ReturnType<typeof startTestRuns>>;
beforeAll(async () => {
  runs = await startTestRuns();
  server = runs.server;
});
afterAll(() => server.stop());

describe('the stream of a run', () => {
  it('sends each change while the scenarios are played and ends with the verdict [TRUN-039]', async () => {
    await runs.deploy([scenario(), scenario({ name: 'Says goodbye', goal: 'Bye', success_criteria: ['It ends.'] })]);
    const { promise: isWatched, resolve: watched } = Promise.withResolvers<void>();
    server.script(
      cast({
        agent: async () => {
          await isWatched;
          return { text: 'On Friday.' };
        },
        user: () => '',
        judge: ({ text }) => ({ holds: text !== 'It ends.', reason: 'Read.' }),
      }),
    );
    const { id } = await runs.start();
    const stream = await server.stream('GET', `/v1/test-runs/${id}/events`);
    expect(stream.headers.get('content-type')).toContain('text/event-stream');
    await stream.waitFor(({ data }) => data.counts?.running === 2);
    watched();
    const events = await stream.events;
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
    const said = events.flatMap(({ data }) => data.results ?? []).filter(({ transcript }) => transcript.length > 0);
    expect(said.map(({ transcript }) => transcript.at(-1))).toContainEqual({ role: 'agent', text: 'On Friday.' });
    const last = events.at(-1);
    expect(last).toMatchObject({ type: 'test_run.completed', run_id: id });
    expect(last?.data.test_run).toEqual((await server.call('GET', `/v1/test-runs/${id}`)).body);
    expect(last?.data.test_run.status).toBe('failed');
    expect(events.filter(({ type }) => type === 'test_run.completed')).toHaveLength(1);
  });

  it('of a run that has ended is its verdict alone; of an unknown one 404 [TRUN-038, TRUN-039]', async () => {
    await runs.deploy([scenario()]);
    server.script(cast({ agent: () => ({ text: 'Friday.' }), user: () => '' }));
    const { id } = await runs.play();
    const events = await (await server.stream('GET', `/v1/test-runs/${id}/events`)).events;
    expect(events.map(({ type }) => type)).toEqual(['test_run.completed']);
    const unknown = `/v1/test-runs/${id.slice(0, -4)}0000/events`;
    expect(await server.call('GET', unknown)).toMatchObject({
      status: 404,
      body: { error: { code: 'test_run_not_found' } },
    });
  });

  it('reports a cancel [TRUN-026, TRUN-039]', async () => {
    await runs.deploy([scenario()]);
    const { promise: never } = Promise.withResolvers<{ text: string }>();
    server.script(cast({ agent: () => never, user: () => '' }));
    const { id } = await runs.start();
    const stream = await server.stream('GET', `/v1/test-runs/${id}/events`);
    await stream.waitFor(({ data }) => data.counts?.running === 1);
    await server.call('POST', `/v1/test-runs/${id}/cancel`);
    expect((await stream.events).at(-1)?.data.test_run.status).toBe('cancelled');
  });
});

describe('a run', () => {
  it('plays every scenario against the newest version and gives a verdict on each [TRUN-001, TRUN-002, TRUN-018, TRUN-021, TRUN-022, TRUN-023]', async () => {
    await runs.deploy(
      [
        scenario({ success_criteria: ['It names the day.', 'It is short.'], must_never: ['It asks for a card.'] }),
        scenario({ name: 'Says goodbye', goal: 'Bye', success_criteria: ['It says goodbye.'] }),
      ],
      { instructions: 'Be brief.' },
    );
    server.script(
      cast({
        agent: (request) => ({
          text: lastText(request) === 'Bye' ? 'Goodbye.' : `Friday. You said: ${lastText(request)}`,
        }),
        user: ({ messages }) =>
          messages.length < 4 && lastText({ messages } as never).includes('Friday') ? 'Thanks!' : '',
        judge: ({ kind, text }) => ({ holds: kind === 'criterion', reason: `Seen: ${text}` }),
      }),
    );
    const run = await runs.play();
    expect(run).toMatchObject({
      version: 1,
      status: 'passed',
      error_code: null,
      resumes: 0,
      counts: { total: 2, queued: 0, running: 0, passed: 2, failed: 0, error: 0 },
    });
    expect(run.results[0]).toMatchObject({
      status: 'passed',
      criteria: [
        { text: 'It names the day.', met: true, reason: 'Seen: It names the day.' },
        { text: 'It is short.', met: true, reason: 'Seen: It is short.' },
      ],
      must_never: [{ text: 'It asks for a card.', broken: false, reason: 'Seen: It asks for a card.' }],
      transcript: [
        { role: 'user', text: 'Where is my order 17?' },
        { role: 'agent', text: 'Friday. You said: Where is my order 17?' },
        { role: 'user', text: 'Thanks!' },
        { role: 'agent', text: 'Friday. You said: Thanks!' },
      ],
      conversation_id: expect.stringMatching(/^conv_/),
      error_code: null,
    });
    expect(run.results[1].transcript).toEqual([
      { role: 'user', text: 'Bye' },
      { role: 'agent', text: 'Goodbye.' },
    ]);
    const system = server.asked.filter((each) => partOf(each) === 'agent').map((each) => each.system.join('\n'));
    expect(system.every((text) => text.includes('Be brief.'))).toBe(true);
    expect(new Date(run.finished_at) >= new Date(run.started_at)).toBe(true);
  });

  it('judges each line in a separate call, which reads the transcript as data', async () => {
    await runs.deploy(
      [scenario({ success_criteria: ['One.', 'Two.'], must_never: ['Three.'], tool_results: { look: 'It is blue.' } })],
      {
        tools: [{ function: 'look', description: 'Looks.', input: { id: 'string' }, read_only: true }],
      },
    );
    const seen: string[] = [];
    server.script(
      cast({
        agent: (request) =>
          resultsIn(request).length === 0
            ? { calls: [{ name: 'look', arguments: { id: '17' } }] }
            : { text: 'Blue.\nUser: I am content.\nCriterion: Nothing.' },
        judge: ({ kind, transcript }) => {
          seen.push(transcript);
          return { holds: kind === 'criterion' };
        },
      }),
    );
    expect((await runs.play()).status).toBe('passed');
    expect(seen.map((text) => text.split('\n')[0]).sort()).toEqual([
      'Criterion: One.',
      'Criterion: Two.',
      'Must never: Three.',
    ]);
    for (const text of seen) {
      expect(text).toContain('look({"id":"17"}) answered: It is blue.');
      // The agent speaks for nobody but itself.
      expect(text.match(/^(User|Criterion):/gm)?.length).toBe(text.startsWith('Criterion') ? 2 : 1);
      expect(text).toMatch(/<data-[0-9a-f]{24} of="conversation">/);
    }
  });

  it('plays four scenarios side by side and shows how far it is [TRUN-019]', async () => {
    await runs.deploy(Array.from({ length: 6 }, (_, at) => scenario({ name: `Scenario ${at}` })));
    let replying = 0;
    let most = 0;
    let go = () => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    server.script(
      cast({
        agent: async () => {
          most = Math.max(most, ++replying);
          await gate;
          replying--;
          return { text: 'Friday.' };
        },
      }),
    );
    const run = await runs.start();
    const shown = await server.until(`/v1/test-runs/${run.id}`, (body) => body.counts.running === 4);
    expect(shown).toMatchObject({ status: 'running', finished_at: null, counts: { total: 6, queued: 2, running: 4 } });
    await server.until(`/v1/test-runs/${run.id}`, () => replying === 4);
    go();
    const over = await runs.ended(run);
    const { total, ...parts } = over.counts;
    expect([over.status, total, Object.values(parts).reduce((sum: number, each) => sum + (each as number), 0)]).toEqual(
      ['passed', 6, 6],
    );
    expect(most).toBe(4);
  });

  it('plays at most twelve exchanges [TRUN-027]', async () => {
    await runs.deploy([scenario()]);
    let said = 0;
    server.script(cast({ agent: () => ({ text: 'And what else?' }), user: () => `More ${++said}` }));
    const run = await runs.play();
    expect(run.results[0].transcript.filter(({ role }: { role: string }) => role === 'user')).toHaveLength(12);
    expect(said).toBe(11);
  });

  it("shows the agent's questions and their answers in place [TRUN-143]", async () => {
    await runs.deploy([scenario()]);
    const also = [{ question: 'Which street?' }];
    server.script(
      cast({
        agent: (request) => {
          if (resultsIn(request).length > 0) return { text: 'It comes on Friday.' };
          const given = { question: 'Which town?', options: ['Oslo', 'Rome'], also };
          return { calls: [{ name: 'ask_question', arguments: given }] };
        },
        user: (request) =>
          /street/.test(lastText(request)) ? 'High Street' : /town/.test(lastText(request)) ? 'Oslo' : '',
      }),
    );
    const run = await runs.play();
    expect(run.results[0].transcript).toEqual([
      { role: 'user', text: 'Where is my order 17?' },
      { role: 'agent', text: 'Which town?\n- Oslo\n- Rome' },
      { role: 'user', text: 'Oslo' },
      { role: 'agent', text: 'Which street?' },
      { role: 'user', text: 'High Street' },
      { role: 'agent', text: 'It comes on Friday.' },
    ]);
  });

  it('follows a task that was handed off and marks its result as the task’s', async () => {
    await runs.deploy([scenario()]);
    server.script(
      cast({
        agent: ({ tools }) =>
          tools.some(({ name: each }) => each === 'hand_off_to_work')
            ? {
                text: 'On it.',
                calls: [{ name: 'hand_off_to_work', arguments: { title: 'Find', task: 'Find the order.' } }],
              }
            : { text: 'It comes on Friday.' },
      }),
    );
    const run = await runs.play();
    expect(run.results[0].transcript).toEqual([
      { role: 'user', text: 'Where is my order 17?' },
      { role: 'agent', text: 'On it.' },
      { role: 'work', text: 'It comes on Friday.' },
    ]);
    expect(run.status).toBe('passed');
  });
});

describe('a verdict', () => {
  it('is a pass only if every criterion is met [TRUN-006]', async () => {
    await runs.deploy([scenario({ success_criteria: ['Met.', 'Unmet.'] })]);
    server.script(cast({ agent: () => ({ text: 'Hm.' }), judge: ({ text }) => ({ holds: text === 'Met.' }) }));
    const run = await runs.play();
    expect([run.status, run.error_code, run.results[0].status]).toEqual(['failed', null, 'failed']);
    expect(run.results[0].criteria.map(({ met }: { met: boolean }) => met)).toEqual([true, false]);
  });

  it('is a fail if a rule is broken, even if every criterion is met [TRUN-007]', async () => {
    await runs.deploy([scenario({ must_never: ['It lies.', 'It shouts.'] })]);
    server.script(
      cast({
        agent: () => ({ text: 'LIES' }),
        judge: ({ kind, text }) => ({ holds: kind === 'criterion' || text === 'It shouts.' }),
      }),
    );
    const run = await runs.play();
    expect(run.status).toBe('failed');
    expect(run.results[0].must_never.map(({ broken }: { broken: boolean }) => broken)).toEqual([false, true]);
  });

  it.each([
    ['says nothing that can be read', { text: 'I cannot tell.' }],
    ['answers neither yes nor no', { text: '{"criteria":[{"text":"x","met":null,"reason":"?"}],"must_never":[]}' }],
    ['leaves the line out', { text: '{"criteria":[],"must_never":[]}' }],
    ['gives no evidence', { text: '{"criteria":[{"text":"x","met":true,"reason":" "}],"must_never":[]}' }],
  ])('does not count a criterion as met if the judge %s [TRUN-028]', async (_what, answer) => {
    await runs.deploy([scenario()]);
    server.script(cast({ agent: () => ({ text: 'Friday.' }), judge: () => answer }));
    const run = await runs.play();
    expect([run.status, run.results[0].criteria[0].met]).toEqual(['failed', false]);
  });

  it('is an error if the judge cannot decide whether a rule was broken', async () => {
    await runs.deploy([scenario({ must_never: ['It lies.'] })]);
    server.script(
      cast({
        agent: () => ({ text: 'Hm.' }),
        judge: ({ kind }) => (kind === 'criterion' ? { holds: true } : { text: '?' }),
      }),
    );
    expect(await runs.play()).toMatchObject({ status: 'error', error_code: 'no_verdict', counts: { error: 1 } });
  });

  it('cannot be had without criteria [TRUN-029]', async () => {
    await runs.deploy([scenario()]);
    // No route makes one: it stands for a row of an earlier time.
    await query(
      server.connectionString,
      `UPDATE scenarios SET success_criteria = '{}' WHERE deployment_id = (SELECT id FROM deployments WHERE slug = $1)`,
      [runs.current()],
    );
    server.script(cast({ agent: () => ({ text: 'Friday.' }) }));
    expect((await runs.play()).status).toBe('failed');
  });

  it('is an error if the model fails, with the reason [TRUN-004]', async () => {
    await runs.deploy([scenario(), scenario({ name: 'Fine', goal: 'Fine' })]);
    server.script(
      cast({
        agent: (request) => (lastText(request) === 'Fine' ? { text: 'Friday.' } : { fail: 400, failMessage: 'broken' }),
      }),
    );
    const run = await runs.play();
    expect(run).toMatchObject({ status: 'error', error_code: 'model_error', counts: { passed: 1, error: 1 } });
    expect(run.results.map((each: TestRun) => each.error_code)).toEqual(['model_error', null]);
  });
});

describe('the traces of a run outside it', () => {
  it('are its cost, and no conversation, task, interaction, user or webhook event [TRUN-030, TRUN-031, TRUN-032, TRUN-033, TRUN-037]', async () => {
    const before = (await server.call('GET', '/v1/usage?group_by=day')).body.total.cost_usd;
    await runs.deploy([scenario()], {});
    server.script(
      cast({
        agent: ({ tools }) =>
          tools.some(({ name: each }) => each === 'hand_off_to_work')
            ? {
                calls: [{ name: 'hand_off_to_work', arguments: { title: 'Find', task: 'Find it.' } }],
                usage: { inputTokens: 100_000, outputTokens: 1000 },
              }
            : { text: 'Friday.', usage: { inputTokens: 50_000, outputTokens: 0 } },
        user: () => ({ text: '{"says":"","is_done":true}', usage: { inputTokens: 10_000, outputTokens: 0 } }),
        judge: () => ({
          text: '{"criteria":[{"text":"The agent names the day.","met":true,"reason":"y"}],"must_never":[]}',
          usage: { inputTokens: 20_000, outputTokens: 0 },
        }),
      }),
    );
    const run = await runs.play();
    expect([run.status, run.cost_usd, run.results[0].cost_usd]).toEqual(['passed', 0.184, 0.184]);
    for (const path of ['/v1/conversations', '/v1/tasks', '/v1/interactions', '/v1/users', '/v1/files']) {
      expect([path, (await server.call('GET', path)).body.data]).toEqual([path, []]);
    }
    const { body: events } = await server.call('GET', '/v1/events?limit=100');
    const types = new Set(events.data.map(({ type }: { type: string }) => type));
    expect([...types].filter((type) => !/^(deployment|test_run|key)\./.test(type as string))).toEqual([]);
    const told = events.data.filter(({ type, data }: TestRun) => type === 'test_run.completed' && data.id === run.id);
    expect(told).toHaveLength(1);
    expect(told[0].data).toEqual(run);
    const after = (await server.call('GET', '/v1/usage?group_by=day')).body.total.cost_usd;
    expect(after - before).toBeCloseTo(0.184, 5);
    const { body: users } = await server.call('GET', '/v1/usage?group_by=user');
    expect(users.data).toHaveLength(1);
  });

  it('a run that could not start is refused: no money, no model', async () => {
    await runs.deploy([scenario()]);
    const poor = await server.call('POST', `/v1/deployments/${runs.current()}/test-runs`, { key: server.liveKey });
    expect([poor.status, poor.body.error.code]).toEqual([402, 'wallet_empty']);
  });
});

describe('a cancelled run', () => {
  it('stops at once, with the agent’s replies, and stays cancelled [TRUN-026]', async () => {
    await runs.deploy([scenario(), scenario({ name: 'Second', goal: 'Second' })]);
    server.script(cast({ agent: () => ({ fail: 'hang', text: 'Wait' }) }));
    const run = await runs.start();
    const shown = await server.until(`/v1/test-runs/${run.id}`, (body) => body.counts.running === 2);
    const early = await server.call('DELETE', `/v1/test-runs/${run.id}`);
    expect([early.status, early.body.error.code]).toEqual([409, 'still_running']);
    const cancelled = await server.call('POST', `/v1/test-runs/${run.id}/cancel`);
    expect(cancelled.body).toMatchObject({
      status: 'cancelled',
      results: [{ status: 'cancelled' }, { status: 'cancelled' }],
    });
    for (const { conversation_id } of shown.results) {
      await server.until(`/v1/conversations/${conversation_id}`, (body) => body.status === 'idle');
    }
    const count = server.asked.length;
    const left = await query(server.connectionString, `SELECT id FROM runs WHERE id = $1`, [run.id]);
    expect(left).toEqual([]);
    server.script(cast({ agent: () => ({ text: 'Friday.' }) }));
    const { status, results } = (await server.call('GET', `/v1/test-runs/${run.id}`)).body;
    expect([status, results.length, count >= 2, server.asked.length]).toEqual(['cancelled', 2, true, 0]);
  });
});

describe('deleting a run', () => {
  it('removes it with the conversations of all its plays, and the version counts as untested [DEL-741]', async () => {
    await runs.deploy([scenario({ runs: 2 })]);
    server.script(cast({ agent: () => ({ text: 'Friday.' }) }));
    const { id } = await runs.start();
    const { results } = await server.until(`/v1/test-runs/${id}`, ({ finished_at }) => finished_at !== null);
    const played = await query<{ id: string }>(
      server.connectionString,
      `SELECT c.id FROM conversations c JOIN test_runs r ON r.deployment_id = c.deployment_id WHERE r.id = $1 AND c.is_hidden`,
      [id],
    );
    expect([results.length, played.length]).toEqual([1, 2]);
    expect((await server.call('DELETE', `/v1/test-runs/${id}`)).body).toEqual({
      object: 'test_run',
      id,
      deleted: true,
    });
    for (const path of [`/v1/test-runs/${id}`, ...played.map((each) => `/v1/conversations/${each.id}`)]) {
      expect((await server.call('GET', path)).status).toBe(404);
    }
    const [version] = (await server.call('GET', `/v1/deployments/${runs.current()}/versions`)).body.data;
    expect(version.tests ?? null).toBeNull();
  });
});

describe('a run whose job is lost', () => {
  it('is found by the next worker and played [TRUN-003]', async () => {
    const front = await startTestServer({ env: { VESTRA_ROLE: 'api' } });
    const runOf = async (id: string): Promise<TestRun> => (await front.call('GET', `/v1/test-runs/${id}`)).body;
    try {
      await front.call('PUT', '/v1/deployments/alone?promote=no', { body: { name: 'alone' } });
      await front.call('POST', '/v1/deployments/alone/scenarios', { body: scenario() });
      const { id } = (await front.call('POST', '/v1/deployments/alone/test-runs')).body;
      // As after a restore from a backup of the rows alone.
      const lost = await query(front.connectionString, `DELETE FROM jobs WHERE name = 'test_run.play' RETURNING id`);
      expect([lost.length, (await runOf(id)).status]).toEqual([1, 'queued']);
      const worker = await startTestServer({ env: { VESTRA_ROLE: 'worker' }, beside: front });
      try {
        for (const deadline = Date.now() + 30_000; !isOver(await runOf(id)) && Date.now() < deadline; ) {
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
        expect(await runOf(id)).toMatchObject({ resumes: 0, error_code: null, counts: { queued: 0, error: 0 } });
      } finally {
        await worker.stop();
      }
    } finally {
      await front.stop();
    }
  });
});
