import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { cast, lastText, resultsIn } from '../support/cast.ts';
import { query } from '../support/database.ts';
import { resolveExample } from '../support/example.ts';
import { makeOtherOrg } from '../support/other-org.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const file = {
  name: 'desk',
  instructions: 'Answer about orders. Never promise a refund.',
  tools: [
    { function: 'find_order', description: 'Finds an order.', input: { number: 'string' }, read_only: true },
    { function: 'refund', description: 'Refunds an order.', input: { number: 'string' } },
  ],
  approvals: ['payment'],
};

const draft = (at: number, more: Record<string, unknown> = {}) => ({
  name: `Draft ${at}`,
  persona: 'A customer.',
  goal: 'Where is my order?',
  success_criteria: ['The agent names the day.'],
  must_never: ['The agent promises a refund.'],
  tool_results: [{ tool: 'find_order', result: '{"day":"Friday"}' }],
  approves: false,
  ...more,
});
const drafted = (count: number, more: Record<string, unknown> = {}) =>
  JSON.stringify({ scenarios: Array.from({ length: count }, (_, at) => draft(at, more)) });

const objectOf = (properties: object) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const listOf = (items: object) => ({ type: 'array', items });
const text = { type: 'string' };
const scenarioShape = objectOf({
  name: text,
  persona: text,
  goal: text,
  success_criteria: listOf(text),
  must_never: listOf(text),
  tool_results: listOf(objectOf({ tool: text, result: text })),
  approves: { type: 'boolean' },
});

describe('with a model', () => {
  let server: AgentServer;
  beforeAll(async () => {
    server = await startAgentServer();
    await server.apply(file);
  });
  afterAll(() => server.stop());
  const generate = (body?: unknown, options: { headers?: Record<string, string>; key?: string } = {}) =>
    server.call('POST', '/v1/deployments/desk/scenarios/generate', { ...(body !== undefined && { body }), ...options });

  it('drafts that many scenarios in the shape of the create route, saves none and charges for it [SCN-011, SCN-012, SCN-013]', async () => {
    server.script(() => ({ text: drafted(3), usage: { inputTokens: 100_000, outputTokens: 0 } }));
    const before = (await server.call('GET', '/v1/usage')).body.total.cost_usd;
    const answer = await generate({ count: 3 });
    expect(answer.status).toBe(200);
    expect(answer.body.object).toBe('list');
    expect(answer.body.data[0]).toEqual({
      name: 'Draft 0',
      persona: 'A customer.',
      goal: 'Where is my order?',
      success_criteria: ['The agent names the day.'],
      must_never: ['The agent promises a refund.'],
      tool_results: { find_order: { day: 'Friday' } },
    });
    expect(answer.body.data).toHaveLength(3);
    expect((await server.call('GET', '/v1/deployments/desk/scenarios')).body.data).toEqual([]);
    expect((await server.call('GET', '/v1/usage')).body.total.cost_usd - before).toBeCloseTo(0.1, 5);

    server.script(() => ({ text: drafted(5) }));
    expect((await generate()).body.data).toHaveLength(5);
    expect(lastText(server.asked[0] as never)).toContain('Count: 5');
    for (const count of [0, 11, 1.5]) expect((await generate({ count })).status).toBe(400);
  });

  it('sends instructions, tools and approvals to the model as data', async () => {
    server.script(() => ({ text: drafted(1) }));
    await generate({ count: 1 });
    const [request] = server.asked;
    expect(request?.system.join('\n')).toContain('Write as many scenarios');
    expect(request?.outputSchema).toEqual(objectOf({ scenarios: listOf(scenarioShape) }));
    expect(request?.system.join('\n')).not.toContain('Never promise a refund.');
    const told = lastText(request as never);
    expect(told).toMatch(/<data-[0-9a-f]{24} of="settings">/);
    for (const part of ['Never promise a refund.', 'find_order', '"asks_for_a_yes": true', 'payment']) {
      expect(told).toContain(part);
    }
  });

  it('uses the named version, or the newest [SCN-014, SCN-027]', async () => {
    await server.apply({ ...file, instructions: 'The second wording.' });
    server.script(() => ({ text: drafted(1) }));
    await generate({ count: 1 });
    await generate({ count: 1, version: 1 });
    const [newest, first] = server.asked.map((request) => lastText(request));
    expect(newest).toContain('The second wording.');
    expect(first).toContain('Answer about orders.');
    const unknown = await generate({ version: 99 });
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'version_not_found']);
    expect((await generate({ version: 0 })).status).toBe(400);
  });

  it.each([
    ['no JSON', 'Sure! Here they are.', 'not JSON'],
    ['a line that is too long', drafted(2, { goal: 'x'.repeat(2001) }), 'goal'],
    ['no criteria', drafted(2, { success_criteria: [] }), 'success_criteria'],
    ['an unknown tool', drafted(2, { tool_results: [{ tool: 'fly', result: '1' }] }), 'no tool `fly`'],
  ])('has the model fix drafts with %s, and gives up after two repairs [SCN-141]', async (_what, bad, told) => {
    server.script(({ count: _, messages }) => ({ text: messages.length > 1 ? drafted(2) : bad }));
    const mended = await generate({ count: 2 });
    expect([mended.status, mended.body.data?.length, server.asked.length]).toEqual([200, 2, 2]);
    expect(lastText(server.asked[1] as never)).toContain(told);
    server.script(() => ({ text: bad }));
    const given = await generate({ count: 2 });
    expect([given.status, given.body.error.code, server.asked.length]).toEqual([502, 'model_error', 3]);
  });

  it.each([
    ['too few', [draft(0)], 'Only 1 of 3 are there.'],
    ['the same name twice', [draft(0), draft(0), draft(1)], 'have the name'],
    ['one of three wrong', [draft(0), draft(5, { success_criteria: [] }), draft(1)], 'scenarios.1.success_criteria'],
    ['what is no scenario', [draft(0), 'Draft 1', draft(1)], 'scenarios.1'],
  ])(
    'keeps the usable part of drafts with %s, and requests only the rest [SCN-141]',
    async (_what, scenarios, told) => {
      const partly = JSON.stringify({ scenarios });
      const kept = new Set(scenarios.flatMap((each) => (typeof each === 'string' ? [] : [each.name])));
      kept.delete('Draft 5');
      server.script(({ messages }) => ({ text: messages.length > 1 ? drafted(3) : partly }));
      const mended = await generate({ count: 3 });
      expect(mended.body.data.map(({ name }: { name: string }) => name)).toEqual(['Draft 0', 'Draft 1', 'Draft 2']);
      const asked = lastText(server.asked[1] as never);
      expect(asked).toContain(told);
      expect(asked).toContain(`Count: ${3 - kept.size}\n`);
      expect(asked).toContain('These are kept: "Draft 0"');
      // The model has no more to give, or fails over it: what there is, is given.
      for (const then of [{ text: partly }, { fail: 400 }]) {
        server.script(({ messages }) => (messages.length > 1 ? then : { text: partly }));
        const given = await generate({ count: 3 });
        expect([given.status, given.body.data.map(({ name }: { name: string }) => name)]).toEqual([200, [...kept]]);
      }
    },
  );

  it('sends titles of notebooks and skills to the model [SCN-142]', async () => {
    const make = async (slug: string, access: object, title: string) => {
      const { body } = await server.call('POST', '/v1/notebooks', {
        body: { name: `The ${slug}`, slug, description: `About ${slug}.`, access },
      });
      await server.call('POST', `/v1/notebooks/${body.id}/documents`, { body: { title, text: 'Some text.' } });
      return { notebook: body.id };
    };
    const knowledge = [
      await make('returns', { mode: 'all' }, 'Returns of lamps'),
      await make('private', { mode: 'users', user_ids: ['ada'] }, 'For Ada alone'),
    ];
    await server.apply({ ...file, name: 'library', knowledge, skills: [{ name: 'spreadsheets' }] });
    server.script(() => ({ text: drafted(1) }));
    await server.call('POST', '/v1/deployments/library/scenarios/generate', { body: { count: 1 } });
    const told = lastText(server.asked[0] as never);
    for (const part of ['The returns', 'About returns.', 'Returns of lamps', '"spreadsheets"']) {
      expect(told).toContain(part);
    }
    // A test runs for nobody, who could not read it.
    expect(told).not.toContain('For Ada alone');
  });

  it('is asked once for one idempotency key, also at the same moment', async () => {
    server.script(() => ({ text: drafted(1), delayMs: 50 }));
    const headers = { 'idempotency-key': 'drafts-1' };
    const [first, second] = await Promise.all([
      generate({ count: 1 }, { headers }),
      generate({ count: 1 }, { headers }),
    ]);
    const third = await generate({ count: 1 }, { headers });
    expect([first.text, second.text]).toEqual([third.text, third.text]);
    expect([first.headers.get('idempotent-replayed'), third.headers.get('idempotent-replayed')]).toEqual([
      null,
      'true',
    ]);
    expect(server.asked).toHaveLength(1);
    const other = await generate({ count: 2 }, { headers });
    expect([other.status, other.body.error.code]).toEqual([409, 'idempotency_key_reused']);
  });

  it('returns the errors of a message if the model fails or the wallet is empty', async () => {
    server.script(() => ({ fail: 400, failMessage: 'no' }));
    const failed = await generate({ count: 1 });
    expect([failed.status, failed.body.error.code]).toEqual([502, 'model_error']);
    const poor = await generate({ count: 1 }, { key: server.liveKey });
    expect([poor.status, poor.body.error.code]).toEqual([402, 'wallet_empty']);
  });

  describe('from a conversation', () => {
    const asks = (id: unknown) => ({ calls: [{ name: 'find_order', arguments: { number: id } }] });
    const answers: Record<string, unknown>[] = [
      { output: { day: 'Friday', contact: 'ada@example.com', api_key: 'sk-abcdefghijklmnop' } },
      { error: 'The archive is closed.' },
      { output: { day: 'Monday' } },
    ];
    const wording = {
      name: 'Two orders',
      persona: 'Ada, who has two orders.',
      success_criteria: ['The agent names both days.'],
      must_never: ['The agent promises a refund.'],
      personal_values: ['Ada', 'nowhere in the draft'],
    };
    let talk = '';
    beforeAll(async () => {
      await server.apply({ ...file, name: 'talks' });
      await server.call('POST', '/v1/users', { body: { user_id: 'u-77', name: 'Ada Byron' } });
      const steps = [asks('17'), asks('18'), asks('17'), { text: 'One comes on Friday, the other on Monday.' }];
      server.script((request) => steps[resultsIn(request).length] as never);
      const message = 'Where are my orders 17 and 18? Call +49 30 1234567. — Ada';
      const begun = await server.call('POST', '/v1/conversations', {
        body: { deployment: 'talks', user_id: 'u-77', message },
      });
      talk = begun.body.id;
      let last = '';
      for (const answer of answers) {
        const isNext = ({ data: open }: { data: { id: string }[] }) => open.length === 1 && open[0]?.id !== last;
        const { data } = await server.until(`/v1/interactions?conversation_id=${talk}&status=pending`, isNext);
        last = data[0].id;
        await server.call('POST', `/v1/interactions/${last}/answer`, { body: answer });
      }
      await server.until(`/v1/conversations/${talk}`, ({ status }) => status === 'idle');
    });
    const count = async (statement: string) => (await query(server.connectionString, statement)).length;
    const draftOf = (id = talk, options: { key?: string; body?: unknown } = {}) =>
      server.call('POST', `/v1/conversations/${id}/scenario-draft`, options);

    it('keeps messages and results, removes credentials and marks personal data [SCN-420, SCN-421]', async () => {
      server.script(() => ({ text: JSON.stringify(wording) }));
      const { status, body, text } = await draftOf();
      expect(status).toBe(200);
      expect(body.scenario).toEqual({
        name: wording.name,
        persona: wording.persona,
        goal: 'Where are my orders 17 and 18? Call +49 30 1234567. — Ada',
        success_criteria: wording.success_criteria,
        must_never: wording.must_never,
        recorded_calls: [
          {
            tool: 'find_order',
            arguments: { number: '17' },
            result: { day: 'Friday', contact: 'ada@example.com', api_key: '•••' },
          },
          { tool: 'find_order', arguments: { number: '18' }, result: 'The archive is closed.', is_error: true },
          { tool: 'find_order', arguments: { number: '17' }, result: { day: 'Monday' } },
        ],
      });
      expect(body).toMatchObject({
        conversation_id: talk,
        user_id: 'u-77',
        task_id: null,
        deployment_version: 1,
        drafted_by: 'compatible/scripted',
      });
      expect(body.personal).toEqual([
        { kind: 'user', value: 'Ada', fields: ['persona', 'goal'] },
        { kind: 'phone', value: '+49 30 1234567', fields: ['goal'] },
        { kind: 'email', value: 'ada@example.com', fields: ['recorded_calls'] },
      ]);
      expect(body.notes.join()).toContain('credential');
      expect([text, JSON.stringify(server.asked)].join()).not.toContain('sk-abcdefghijklmnop');
      expect((await server.call('GET', '/v1/deployments/talks/scenarios')).body.data).toEqual([]);
    });

    it('works without a usable model: each criterion is then a word match [SCN-422]', async () => {
      server.script(() => ({ text: 'Sure!' }));
      const { body } = await draftOf();
      expect(body.drafted_by).toBeNull();
      expect(body.notes.join()).toContain('No model has worded the criteria');
      expect(body.scenario).toMatchObject({
        name: 'Where are my orders 17 and 18? Call +49 30 1234567. — Ada',
        success_criteria: ['The agent calls find_order.', 'The agent says "Friday".', 'The agent says "Monday".'],
        must_never: [],
      });
    });

    it('is saved as it is, and its tools answer again as they did, each call by its arguments [SCN-423, TRUN-420]', async () => {
      server.script(() => ({ text: JSON.stringify(wording) }));
      const { scenario } = (await draftOf()).body;
      const made = await server.call('POST', '/v1/deployments/talks/scenarios', { body: scenario });
      expect([made.status, made.body.recorded_calls]).toEqual([201, scenario.recorded_calls]);
      const stray = { ...scenario, recorded_calls: [{ tool: 'fly', arguments: {}, result: 1 }] };
      const refused = await server.call('POST', '/v1/deployments/talks/scenarios', { body: stray });
      expect([refused.status, refused.body.error.param]).toEqual([400, 'recorded_calls.0.tool']);
      const numbers = ['17', '99', '18', '17', '17'];
      server.script(
        cast({
          agent: (request) => {
            const done = resultsIn(request);
            return done.length < numbers.length ? asks(numbers[done.length]) : { text: done.join('\n') };
          },
        }),
      );
      const begun = await server.call('POST', '/v1/deployments/talks/test-runs');
      const run = await server.until(`/v1/test-runs/${begun.body.id}`, ({ finished_at }) => finished_at !== null);
      const told = run.results[0].transcript.at(-1).text as string;
      const order = [
        'Friday',
        'no call with these arguments was recorded',
        'The archive is closed.',
        'Monday',
        'Monday',
      ];
      let at = -1;
      for (const each of order) {
        const next = told.indexOf(each, at + 1);
        expect([each, next > at]).toEqual([each, true]);
        at = next;
      }
      // A conversation played by a test cannot be drafted from.
      const hidden = await draftOf(run.results[0].conversation_id);
      expect([hidden.status, hidden.body.error.code]).toEqual([404, 'conversation_not_found']);
    });

    describe('that another version answers again', () => {
      const numbers = ['17', '99', '18'];
      /** Calls these one after the other, and says something. */
      const calling = (orders: readonly string[], text: string) => (request: Parameters<typeof resultsIn>[0]) =>
        resultsIn(request).length < orders.length ? asks(orders[resultsIn(request).length]) : { text };
      const replay = async (body: unknown = {}) => {
        const made = await server.call('POST', '/v1/deployments/talks/replays', { body });
        if (made.status !== 202) throw new Error(made.text);
        return server.until(`/v1/replays/${made.body.id}`, ({ finished_at }) => finished_at !== null);
      };
      beforeAll(() => server.apply({ ...file, name: 'talks', instructions: 'Answer about orders, in short.' }));

      it('has both answers side by side and the calls that differ, runs nothing and emits nothing [TRUN-421, TRUN-422]', async () => {
        const waitsBefore = await count(`SELECT FROM interactions`);
        server.script(cast({ agent: calling(numbers, 'Friday and Monday.') }));
        const done = await replay();
        expect(done).toMatchObject({
          status: 'completed',
          mode: 'test',
          version: 2,
          resumes: 0,
          counts: { total: 1, queued: 0, running: 0, same: 0, different: 1, failed: 0 },
        });
        const [{ exchanges, replayed_conversation_id: replayed, conversation_id, user_id, cost_usd }] = done.talks;
        expect([conversation_id, user_id, exchanges.length]).toEqual([talk, 'u-77', 1]);
        const [{ message, before, after, result, reason }] = exchanges;
        expect([message, before.version, after.version, result]).toEqual([
          expect.stringContaining('orders 17 and 18'),
          1,
          2,
          'different',
        ]);
        expect(before.text).toContain('One comes on Friday');
        expect(after.text).toBe('Friday and Monday.');
        const shown = (side: { calls: Record<string, unknown>[] }) =>
          side.calls.map(({ arguments: given, is_matched }) => [(given as { number: string }).number, is_matched]);
        expect(shown(before)).toEqual([
          ['17', true],
          ['18', true],
          ['17', false],
        ]);
        expect(shown(after)).toEqual([
          ['17', true],
          ['99', false],
          ['18', true],
        ]);
        expect(reason).toContain('`find_order`');
        const heard = resultsIn(server.asked.findLast(({ tools }) => tools.length > 0) as never).join('\n');
        expect(heard).toMatch(/Friday[\s\S]*no call with these arguments was recorded[\s\S]*The archive is closed/);
        // Not even a wait is left behind, and it is the org's own money.
        expect(await count(`SELECT FROM interactions`)).toBe(waitsBefore);
        expect(
          await count(`SELECT FROM conversations WHERE id = '${replayed}' AND is_hidden AND user_id IS NULL`),
        ).toBe(1);
        expect(cost_usd).toBeGreaterThan(0);
        const { body: told } = await server.call('GET', '/v1/events?type=replay.completed');
        expect([told.data[0].data.id, told.data[0].data.talks]).toEqual([done.id, []]);
        expect((await server.call('GET', '/v1/conversations')).text).not.toContain(replayed);
      });

      it.each([
        [true, 'same'],
        [false, 'different'],
      ])('in other words is compared by a judge: %s is %s [TRUN-423]', async (holds, status) => {
        server.script(
          cast({
            agent: calling(['17', '18', '17'], 'Friday, and Monday.'),
            judge: () => ({ holds, reason: 'So it is.' }),
          }),
        );
        const done = await replay({ conversation_ids: [talk] });
        expect([done.talks[0].status, done.talks[0].exchanges[0].reason]).toEqual([status, 'So it is.']);
        expect(done.talks[0].judged_by).toBe('compatible/scripted');
      });

      it('is stopped by a cancel, and a model failure fails only one [TRUN-424]', async () => {
        server.script(() => ({ fail: 'hang' }));
        const { body: begun } = await server.call('POST', '/v1/deployments/talks/replays', { body: { last: 1 } });
        await server.until(`/v1/replays/${begun.id}`, ({ counts }) => counts.running === 1);
        const early = await server.call('DELETE', `/v1/replays/${begun.id}`);
        expect([early.status, early.body.error.code]).toEqual([409, 'still_running']);
        const cancelled = await server.call('POST', `/v1/replays/${begun.id}/cancel`);
        expect([cancelled.body.status, cancelled.body.talks[0].status]).toEqual(['cancelled', 'cancelled']);
        expect((await server.call('POST', `/v1/replays/${begun.id}/cancel`)).body).toEqual(cancelled.body);
        server.script(() => ({ fail: 400, failMessage: 'no' }));
        const failed = await replay({ last: 1 });
        expect([failed.status, failed.counts.failed, failed.talks[0].error_code]).toEqual([
          'completed',
          1,
          'model_error',
        ]);
      });

      it('covers one deployment, org and mode, and only conversations with people [TRUN-425]', async () => {
        server.script(() => ({ text: 'Hello.' }));
        const [{ id: made }] = (await server.call('GET', '/v1/deployments/talks/replays')).body.data;
        const [{ replayed_conversation_id: hidden }] = (await server.call('GET', `/v1/replays/${made}`)).body.talks;
        const other = await makeOtherOrg(server);
        const setup = await server.call('POST', '/v1/keys', { body: { name: 'setup', scopes: ['setup'] } });
        const of = (name: string, ids: string[], key?: string) =>
          server.call('POST', `/v1/deployments/${name}/replays`, {
            body: { conversation_ids: ids },
            ...(key && { key }),
          });
        const refusals = await Promise.all([
          of('talks', [hidden]),
          of('talks', [newId('conv')]),
          of('desk', [talk]),
          of('talks', [talk], server.liveKey),
          of('talks', [talk], other),
          of('talks', [talk], setup.body.key),
          server.call('GET', `/v1/replays/${made}`, { key: server.liveKey }),
          server.call('GET', `/v1/replays/${made}`, { key: other }),
          server.call('POST', `/v1/replays/${made}/cancel`, { key: server.liveKey }),
          server.call('POST', '/v1/deployments/talks/replays', { body: { version: 9 } }),
          server.call('POST', '/v1/deployments/talks/replays', { body: { last: 1, conversation_ids: [talk] } }),
        ]);
        expect(refusals.map(({ body }) => body.error.code)).toEqual([
          'conversation_not_found',
          'conversation_not_found',
          'conversation_not_found',
          'conversation_not_found',
          'deployment_not_found',
          'scope_missing',
          'replay_not_found',
          'replay_not_found',
          'replay_not_found',
          'version_not_found',
          'invalid_request',
        ]);
        expect((await server.call('GET', '/v1/deployments/talks/replays', { key: server.liveKey })).body.data).toEqual(
          [],
        );
      });
    });

    it('is hidden from callers who cannot read the conversation: another org, the other mode, a setup key [CONV-420]', async () => {
      server.script(() => ({ text: JSON.stringify(wording) }));
      const setup = await server.call('POST', '/v1/keys', { body: { name: 'setup', scopes: ['setup'] } });
      const other = await makeOtherOrg(server);
      const refusals = await Promise.all([
        draftOf(talk, { key: other }),
        draftOf(talk, { key: server.liveKey }),
        draftOf(talk, { key: setup.body.key }),
        draftOf(talk, { body: { task_id: newId('task') } }),
        draftOf(newId('conv')),
      ]);
      expect(refusals.map(({ status, body }) => [status, body.error.code])).toEqual([
        [404, 'conversation_not_found'],
        [404, 'conversation_not_found'],
        [403, 'scope_missing'],
        [404, 'task_not_found'],
        [404, 'conversation_not_found'],
      ]);
      expect(server.asked).toEqual([]);
    });

    it('leaves nothing behind in replays when its person is erased [TRUN-426]', async () => {
      const held = `SELECT FROM messages WHERE text LIKE '%orders 17 and 18%'`;
      expect(await count(held)).toBeGreaterThan(1);
      await server.call('DELETE', '/v1/users/u-77');
      await expect.poll(() => count(`SELECT FROM users WHERE id = 'u-77'`), { timeout: 20_000 }).toBe(0);
      // Only the saved scenario remains, as it was played.
      expect(
        await count(
          `${held} AND conversation_id NOT IN (SELECT conversation_id FROM test_run_results WHERE conversation_id IS NOT NULL)`,
        ),
      ).toBe(0);
      expect(await count(`SELECT FROM replay_talks WHERE user_id = 'u-77'`)).toBe(0);
    });
  });
});

describe('with the offline stand-in', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.stop());

  it.each(['support-desk', 'booking-desk', 'research-helper'])(
    'drafts of %s are taken by the create route as they are, and are the same each time [SCN-015]',
    async (name) => {
      const example = await resolveExample(server, name);
      await server.call('PUT', `/v1/deployments/${name}?promote=no`, { body: example });
      const path = `/v1/deployments/${name}/scenarios`;
      const first = await server.call('POST', `${path}/generate`, { body: { count: 10 } });
      expect([first.status, first.body.data?.length]).toEqual([200, 10]);
      expect((await server.call('POST', `${path}/generate`, { body: { count: 10 } })).text).toBe(first.text);
      const tools = (example.tools as { function?: string }[]).flatMap((tool) => tool.function ?? []);
      const names = first.body.data.map((each: { name: string }) => each.name);
      for (const tool of tools) expect(names).toContain(`Uses ${tool}`);
      for (const body of first.body.data) {
        const made = await server.call('POST', path, { body });
        expect([made.status, made.text.slice(0, 200)]).toEqual([201, expect.any(String)]);
      }
    },
  );

  it('is not asked for live traffic: 503', async () => {
    await server.call('PUT', '/v1/deployments/plain?promote=no', { body: { name: 'plain' } });
    const answer = await server.call('POST', '/v1/deployments/plain/scenarios/generate', { key: server.liveKey });
    expect([answer.status, answer.body.error.code]).toEqual([503, 'model_unavailable']);
    const drafts = await server.call('POST', '/v1/deployments/plain/scenarios/generate', { body: { count: 2 } });
    expect(drafts.body.data.map((each: { name: string }) => each.name)).toEqual([
      'Says what it can do',
      'Says what it can do (2)',
    ]);
  });
});
