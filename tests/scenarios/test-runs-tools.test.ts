import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { serveMcp, tool } from '../../packages/server/src/agents/mcp-client/mcp-server.fixture.ts';
import type { AgentServer } from '../support/agent.ts';
import { cast, lastText, resultsIn } from '../support/cast.ts';
import { query } from '../support/database.ts';
import { scenario, startTestRuns, type TestRun } from './test-runs.fixture.ts';

let shop: Awaited<ReturnType<typeof serveMcp>>;
const called: string[] = [];
let server: AgentServer;
let runs: Awaited<ReturnType<typeof startTestRuns>>;
beforeAll(async () => {
  runs = await startTestRuns();
  server = runs.server;
});
afterAll(() => server.stop());

describe('tools in a test', () => {
  const functions = [
    { function: 'look', description: 'Looks.', input: { id: 'string' }, read_only: true },
    { function: 'note', description: 'Notes.', input: { id: 'string' }, run_without_asking: true },
    { function: 'change', description: 'Changes.', input: { id: 'string' } },
  ];
  const withShop = () => ({
    tools: [...functions, { mcp: shop.url, name: 'shop', require_approval: ['forced'], run_without_asking: ['free'] }],
  });
  beforeEach(async () => {
    called.length = 0;
    const readOnly = { annotations: { readOnlyHint: true } };
    const offered = [tool('read', readOnly), tool('forced', readOnly), tool('write'), tool('free')];
    shop = await serveMcp('2026', offered, {
      call: (which) => {
        called.push(which);
        return { content: [{ type: 'text', text: `${which} ran for real` }] };
      },
    });
  });
  /** Calls one tool after the other, and ends by telling what each answered. */
  const callAll = (wanted: readonly string[]) =>
    cast({
      agent: (request) => {
        const done = resultsIn(request);
        const next = wanted[done.length];
        if (next === undefined) return { text: done.join('\n') };
        const full = request.tools.find(({ name: each }) => each === next || each.endsWith(`__${next}`))?.name ?? next;
        return { calls: [{ name: full, arguments: { id: '17' } }] };
      },
    });
  const slugOfShop = async () => {
    const { body } = await server.call('GET', '/v1/mcp-servers');
    return body.data.find((each: { url: string }) => each.url === shop.url)?.slug as string;
  };
  const said = (run: TestRun) =>
    (run.results[0].transcript.at(-1).text as string).replace(/<\/?data-[^>]*>\n?/g, '').trim();

  it('return their entry and call no code; without an entry they return an error [TRUN-008, TRUN-009]', async () => {
    await runs.deploy([scenario({ tool_results: { look: { day: 'Friday', items: [1] } } })], { tools: functions });
    server.script(callAll(['look', 'note']));
    const run = await runs.play();
    expect(said(run)).toContain('{"day":"Friday","items":[1]}');
    expect(said(run)).toContain('the scenario has no result for it');
    const open = await query(
      server.connectionString,
      `SELECT id FROM interactions WHERE type = 'tool_call' AND conversation_id = $1`,
      [run.results[0].conversation_id],
    );
    expect(open).toEqual([]);
  });

  it('are at most 128, those of servers are dropped first, and the agent reads which [TOOL-202]', async () => {
    const many = Array.from({ length: 267 }, (_, at) => tool(`tool_${at}`));
    shop = await serveMcp('2026', many, { call: () => ({ content: [] }) });
    await runs.deploy([], withShop());
    let offered: string[] = [];
    let system = '';
    server.script(
      cast({
        agent: (request) => {
          offered = request.tools.map(({ name }) => name);
          system = request.system.join('\n');
          return { text: 'Done.' };
        },
      }),
    );
    await runs.deploy([scenario()], withShop());
    const run = await runs.play();
    expect([run.status, offered.length, offered.includes('change')]).toEqual(['passed', 128, true]);
    const slug = await slugOfShop();
    expect(offered.at(-1)).toMatch(/__tool_\d+$/);
    expect(system).toContain(`\`${slug}\`: you have only some of its tools`);
  });

  it('of a server really run only if they are marked read-only and need no approval [TRUN-010]', async () => {
    await runs.deploy([scenario({ approves: true })], withShop());
    server.script(callAll(['read', 'free', 'write', 'forced']));
    const run = await runs.play();
    expect(called).toEqual(['read']);
    expect(said(run)).toContain('read ran for real');
    expect(said(run).match(/no result for it/g)).toHaveLength(3);
  });

  it('of a server play their entry after the scenario approves [TRUN-011, TRUN-012]', async () => {
    await runs.deploy([], withShop());
    const slug = await slugOfShop();
    await runs.deploy(
      [scenario({ approves: true, tool_results: { [`${slug}.write`]: 'written', [`${slug}.read`]: 'read aloud' } })],
      withShop(),
    );
    server.script(callAll(['write', 'read', 'forced']));
    const run = await runs.play();
    expect(called).toEqual([]);
    expect(said(run)).toContain('written');
    expect(said(run)).toContain('read aloud');
    expect(said(run).match(/no result for it/g)).toHaveLength(1);
  });

  it.each([undefined, false])('of a server are declined if `approves` is %j [TRUN-013]', async (approves) => {
    await runs.deploy([], withShop());
    const slug = await slugOfShop();
    await runs.deploy(
      [scenario({ ...(approves !== undefined && { approves }), tool_results: { [`${slug}.write`]: 'written' } })],
      withShop(),
    );
    server.script(callAll(['write']));
    const run = await runs.play();
    expect(said(run)).toContain('The person said no.');
    expect([called, said(run).includes('written')]).toEqual([[], false]);
  });

  it('of the code play their entry after the test of a file approves, and call no code [TRUN-702, DFILE-708]', async () => {
    const test = { ask: 'Change 17.', expect: 'It is changed.', tool_results: { change: 'changed' } };
    const never = ['It asks twice.', 'It is rude.'];
    const tests = [
      { ...test, name: 'yes', approves: true, never },
      { ...test, name: 'no', approves: false },
      { ...test, name: 'nothing said' },
    ];
    await runs.deploy([], { tools: functions, tests });
    server.script(callAll(['change']));
    const { results } = await runs.play();
    const texts = Object.fromEntries(results.map((each: TestRun) => [each.name, each.transcript.at(-1).text]));
    expect(texts.yes).toContain('changed');
    expect([texts.no, texts['nothing said']]).toEqual(Array(2).fill(expect.stringContaining('The person said no.')));
    expect(results[0].must_never.map((line: { text: string }) => line.text)).toEqual(never);
    const sent = await query(
      server.connectionString,
      `SELECT id FROM interactions WHERE type = 'tool_call' AND conversation_id = ANY($1)`,
      [results.map((each: TestRun) => each.conversation_id)],
    );
    expect(sent).toEqual([]);
  });

  it('of a scenario with several runs: all must pass, and one that passed some is flaky [TRUN-704, TRUN-705]', async () => {
    const tests = [
      { name: 'steady', ask: 'One?', expect: 'It is steady.', runs: 2 },
      { name: 'flaky', ask: 'Two?', expect: 'It is flaky.', never: 'It lies.', runs: 5 },
    ];
    await runs.deploy([scenario({ name: 'once' })], { tests });
    let played = 0;
    const judge = ({ kind, text }: { kind: string; text: string }) => {
      if (kind === 'must_never') return { holds: false };
      // The second and the fourth play of it fail.
      return { holds: text !== 'It is flaky.' || ++played % 2 === 1, reason: `Play ${played}.` };
    };
    server.script(cast({ agent: (request) => ({ text: lastText(request) }), judge }));
    const run = await runs.play();
    const byName = Object.fromEntries(run.results.map((each: TestRun) => [each.name, each]));
    expect([run.status, run.counts]).toMatchObject(['failed', { total: 3, passed: 2, failed: 1, error: 0 }]);
    expect(byName.flaky).toMatchObject({
      status: 'failed',
      flaky: true,
      runs: { total: 5, passed: 3, failed: 2, error: 0 },
      criteria: [{ met: false, reason: 'Play 2.' }],
      must_never: [{ broken: false }],
    });
    expect(byName.steady).toMatchObject({ status: 'passed', flaky: false, runs: { total: 2, passed: 2, failed: 0 } });
    expect(byName.once).toMatchObject({ status: 'passed', flaky: false, runs: { total: 1, passed: 1, failed: 0 } });
    expect(byName.flaky.transcript).toEqual([
      { role: 'user', text: 'Two?' },
      { role: 'agent', text: expect.stringContaining('Two?') },
    ]);
    const [cost] = await query(
      server.connectionString,
      `SELECT count(DISTINCT t.conversation_id)::int AS talks FROM turns t JOIN conversations c ON c.id = t.conversation_id
       WHERE c.is_hidden AND t.deployment_id = $1`,
      [run.deployment_id],
    );
    expect(cost).toEqual({ talks: 8 });
    expect(byName.flaky.cost_usd).toBeGreaterThan(byName.once.cost_usd * 3);
    const listed = (await server.call('GET', `/v1/deployments/${runs.current()}/test-runs`)).body.data[0];
    expect(listed.results.find((each: TestRun) => each.name === 'flaky')).toEqual({ ...byName.flaky, transcript: [] });
  });

  it('and notebooks of a user are there in a test that is played as one, with other secrets [TRUN-706, TRUN-707]', async () => {
    const keys = new Set<string | null>();
    const offered = [tool('read', { annotations: { readOnlyHint: true } })];
    shop = await serveMcp('2026', offered, {
      authorize: (request) => Boolean(keys.add(request.headers.get('authorization'))),
      call: () => ({ content: [{ type: 'text', text: 'the diary of stand-in-hunter2' }] }),
    });
    const store = (name: string, body: object) => server.call('PUT', `/v1/secrets/${name}`, { body });
    await store('TEST_DIARY_KEY', { value: 'stand-in-hunter2' });
    await store('DIARY_KEY', { value: 'own-hunter2-own', user_id: 'ada' });
    const access = { mode: 'users', user_ids: ['ada'] };
    const { body: notebook } = await server.call('POST', '/v1/notebooks', {
      body: { name: 'Gates', slug: 'gates', description: 'Codes of gates.', access },
    });
    await server.call('POST', `/v1/notebooks/${notebook.id}/documents`, {
      body: { title: 'Gate', text: 'The code of the gate is 4711.' },
    });
    const test = { ask: 'The code of the gate?', expect: 'It answers.' };
    const secrets = { DIARY_KEY: '${TEST_DIARY_KEY}' };
    const tests = [
      { ...test, name: 'reader', as: { user_id: 'ada', secrets } },
      { ...test, name: 'stranger', as: { user_id: 'zoe', secrets } },
      { ...test, name: 'without secrets', as: { user_id: 'ada' } },
      { ...test, name: 'nobody' },
    ];
    const diary = [{ mcp: shop.url, name: 'diary', auth: '${user_secret:DIARY_KEY}' }];
    await runs.deploy([], { tools: diary, knowledge: [{ notebook: notebook.id }], tests });
    const calls = (names: readonly string[]) => [
      ...names.filter((name) => name.endsWith('__read')).map((name) => ({ name, arguments: {} })),
      ...names
        .filter((name) => name === 'search_notebooks')
        .map((name) => ({ name, arguments: { query: 'code of the gate' } })),
    ];
    server.script(
      cast({
        agent: (request) => {
          const done = resultsIn(request);
          return done.length > 0 ? { text: done.join('\n') } : { calls: calls(request.tools.map(({ name }) => name)) };
        },
      }),
    );
    const run = await runs.play();
    const byName = Object.fromEntries(run.results.map((each: TestRun) => [each.name, each]));
    const read = (name: string) => JSON.stringify(byName[name].transcript);
    expect([byName.reader.status, byName.stranger.status]).toEqual(['passed', 'passed']);
    expect([read('reader').includes('4711'), read('stranger').includes('4711')]).toEqual([true, false]);
    for (const name of ['reader', 'stranger']) expect(read(name)).toContain('the diary of');
    // Secrets of a real user are not used, and no value is shown.
    for (const name of ['without secrets', 'nobody']) expect(byName[name].error_code).toBe('mcp_server_error');
    expect([...keys]).toEqual(['Bearer stand-in-hunter2']);
    expect(JSON.stringify(run)).not.toContain('hunter2');
    expect((await server.call('GET', '/v1/users/zoe')).status).toBe(404);
    const { body: shown } = await server.call('GET', `/v1/deployments/${runs.current()}/scenarios`);
    expect(shown.data.find(({ name }: TestRun) => name === 'reader').as).toEqual({
      user_id: 'ada',
      secrets: { DIARY_KEY: '${secret:TEST_DIARY_KEY}' },
    });
    const put = (as: object) =>
      server.call('PUT', '/v1/deployments/strange', { body: { name: 'strange', tests: [{ ...test, name: 'a', as }] } });
    const missing = await put({ secrets: { DIARY_KEY: '${NOT_STORED}' } });
    expect([missing.status, missing.body.error.code, missing.body.error.param]).toEqual([
      400,
      'secret_missing',
      'tests.0.as.secrets.DIARY_KEY',
    ]);
    const raw = await put({ secrets: { DIARY_KEY: 'hunter2' } });
    expect([raw.status, raw.body.error.code]).toEqual([400, 'raw_secret_in_header']);
    expect(raw.text).not.toContain('hunter2');
  });

  it.each(['a reply', 'work'])('have no effect for a hostile model in %s, for any calls', async (where) => {
    await runs.deploy([scenario({ approves: true })], {
      ...withShop(),
      memory: 'vestra',
      limits: { max_steps: 500 },
    });
    const names = [
      ...['write', 'forced', 'free', 'change', 'note', 'save_output', 'remember', 'routines_add'],
      ...['run_command', 'write_file', 'browser_open', 'connect_app', 'mcp__other__write'],
    ];
    const given: Record<string, unknown> = {
      save_output: { filename: 'a.txt', content: 'x' },
      remember: { text: 'I like tea.' },
      routines_add: { ask: 'Say hello', every: 'monday at 09:00' },
      run_command: { command: 'touch here' },
      write_file: { path: 'here', content: 'x' },
    };
    let rounds = 0;
    server.script(
      cast({
        agent: ({ tools }) => {
          if (where === 'work' && tools.some(({ name: each }) => each === 'hand_off_to_work')) {
            return { calls: [{ name: 'hand_off_to_work', arguments: { title: 'Go', task: 'Do it all.' } }] };
          }
          if (++rounds > 4) return { text: 'Done.' };
          const all = [...tools.map(({ name: each }) => each), ...names];
          const wanted = all.filter((each) => names.some((known) => each === known || each.endsWith(`__${known}`)));
          return { calls: wanted.map((each) => ({ name: each, arguments: given[each] ?? { id: '1' } })) };
        },
      }),
    );
    const run = await runs.play();
    expect([run.status, rounds > 4]).toEqual(['passed', true]);
    expect(called).toEqual([]);
    for (const table of ['files', 'memories', 'routines', 'users', 'computers']) {
      const rows = await query(server.connectionString, `SELECT * FROM ${table} LIMIT 1`);
      expect([table, rows]).toEqual([table, []]);
    }
    const asked = await query(server.connectionString, `SELECT id FROM interactions WHERE type = 'tool_call'`);
    expect(asked).toEqual([]);
  });

  it('that ask the person are answered by the pretend user, or declined', async () => {
    await runs.deploy([scenario()]);
    server.script(
      cast({
        agent: (request) => {
          const done = resultsIn(request);
          const questions = ['Which size?', 'Which colour?'];
          const question = questions[done.length];
          return question === undefined
            ? { text: done.join(' | ') }
            : { calls: [{ name: 'ask_question', arguments: { question } }] };
        },
        user: (request) => (lastText(request).endsWith('Which size?') ? 'Size M.' : ''),
      }),
    );
    const run = await runs.play();
    expect(said(run)).toMatch(/^Size M\. \| The person said no\./);
  });

  it('remember only messages of this test', async () => {
    await runs.deploy([scenario()], { memory: 'vestra' });
    server.script(
      cast({
        agent: (request) => {
          const done = resultsIn(request);
          const steps = [
            { name: 'recall', arguments: { query: 'tea' } },
            { name: 'remember', arguments: { text: 'The user likes tea.' } },
            { name: 'recall', arguments: { query: 'tea' } },
          ];
          const step = steps[done.length];
          return step ? { calls: [step] } : { text: done.join(' | ') };
        },
      }),
    );
    for (const _ of [1, 2]) {
      expect(said(await runs.play())).toMatch(
        /^You remember nothing about this\.\s+\| Remembered\.\s+\| The user likes tea\.$/,
      );
    }
  });
});

describe('a routine requested in a test', () => {
  it('is answered as if made and never scheduled, and no other test sees it [TRUN-015, TRUN-016]', async () => {
    await runs.deploy([
      scenario({ name: 'Adds', goal: 'Remind me every Monday.' }),
      scenario({ name: 'Lists', goal: 'What is scheduled?' }),
    ]);
    const add = { name: 'routines_add', arguments: { ask: 'Say hello', every: 'monday at 09:00' } };
    const list = { name: 'routines_list', arguments: {} };
    server.script(
      cast({
        agent: (request) => {
          const done = resultsIn(request);
          const steps = lastText(request).startsWith('Remind') ? [add, list] : [list];
          const step = steps[done.length];
          return step ? { calls: [step] } : { text: done.join(' | ') };
        },
        user: ({ messages }) => (messages.filter(({ role }) => role === 'agent').length < 2 ? 'And now?' : ''),
      }),
    );
    const run = await runs.play();
    const texts = run.results.map(({ transcript }: TestRun) =>
      transcript.filter(({ role }: TestRun) => role === 'agent').map(({ text }: TestRun) => text),
    );
    expect(texts[0][0]).toMatch(/Scheduled\..*rtn_/s);
    expect(texts[0][1]).toContain('Say hello');
    expect(texts[1].join()).not.toContain('Say hello');
    expect(texts[1][0]).toContain('Nothing is scheduled.');
    expect(await query(server.connectionString, 'SELECT id FROM routines')).toEqual([]);
  });
});

describe('tools of an unreachable server', () => {
  const offered = [tool('find', { annotations: { readOnlyHint: true } }), tool('change')];
  let orders: Awaited<ReturnType<typeof serveMcp>>;
  let number = 0;
  let name = '';
  let server_id = '';
  let slug = '';
  /** A new deployment with a new server for each test. */
  async function open(entry: Record<string, unknown> = {}) {
    orders = await serveMcp('2026', offered, {
      call: (which) => ({ content: [{ type: 'text', text: `${which} ran` }] }),
    });
    name = `orders-desk-${++number}`;
    await server.apply({ name, memory: 'none', tools: [{ mcp: orders.url, name: `orders ${number}`, ...entry }] });
    const { body } = await server.call('GET', '/v1/mcp-servers?limit=100');
    ({ id: server_id, slug } = body.data.find((each: { url: string }) => each.url === orders.url));
    server.script(cast({ agent: () => ({ text: 'Hello.' }) }));
  }
  /** The list of a server is kept for a while; any change of its row forgets it. */
  const forget = () =>
    server.call('PATCH', `/v1/mcp-servers/${server_id}`, { body: { name: `Orders ${Math.random()}` } });
  async function goAway() {
    await orders.close();
    await forget();
  }
  async function comeBack() {
    orders = await serveMcp('2026', offered, { port: orders.port });
    await forget();
  }
  /** Sends a message in a new conversation, and gives what the model was told of missing tools. */
  async function ask(user_id?: string) {
    const body = { deployment: name, message: 'Where is my order?', ...(user_id && { user_id }) };
    const { body: conversation } = await server.call('POST', '/v1/conversations', { body });
    await server.until(`/v1/conversations/${conversation.id}`, ({ status }) => status === 'idle');
    const { body: log } = await server.call('GET', `/v1/conversations/${conversation.id}/events?format=json&limit=100`);
    const system = server.asked.at(-1)?.system.join('\n') ?? '';
    return {
      told: /# Tools that are missing now\n[\s\S]*?\n\n- (.*)\n/.exec(system)?.[1] ?? null,
      system,
      streamed: log.data.filter(({ type }: { type: string }) => type === 'tool_server.away'),
    };
  }
  const outages = async () =>
    (await server.call('GET', '/v1/events?type=tool_server.away&limit=100')).body.data
      .map(({ data }: { data: Record<string, unknown> }) => data)
      .filter(({ id }: { id: string }) => id === server_id);

  it('are reported to the model by slug and reason, and in events once per outage [MCPS-141, MCPS-142]', async () => {
    await open();
    expect(await ask()).toMatchObject({ told: null, streamed: [] });
    await goAway();
    const first = await ask();
    expect(first.told).toBe(`\`${slug}\`: it cannot be reached just now.`);
    expect(first.system).not.toContain(String(orders.port));
    expect(first.system).not.toContain('127.0.0.1');
    expect(first.streamed.map(({ data }: { data: unknown }) => data)).toEqual([
      { server: slug, reason: 'unreachable', user_id: null },
    ]);
    const again = await ask();
    expect([again.told, again.streamed]).toEqual([first.told, []]);
    expect(await outages()).toEqual([
      {
        object: 'tool_server',
        id: server_id,
        server: slug,
        reason: 'unreachable',
        user_id: null,
        message: '127.0.0.1 could not be reached: ECONNREFUSED.',
        conversation_id: expect.stringMatching(/^conv_/),
        turn_id: expect.stringMatching(/^turn_/),
      },
    ]);
    await comeBack();
    expect((await ask()).told).toBeNull();
    await goAway();
    // However many find it at once.
    await Promise.all([ask(), ask(), ask()]);
    expect(await outages()).toHaveLength(2);
  });

  it('for want of a user’s own secret are missing for that user, until it is stored [MCPS-141, MCPS-143]', async () => {
    await open({ auth: '${user_secret:ORDERS_KEY}' });
    const store = (user_id: string) =>
      server.call('PUT', '/v1/secrets/ORDERS_KEY', { body: { value: 'hunter2-hunter2', user_id } });
    const lacking = await ask('ada');
    expect(lacking.told).toBe(
      `\`${slug}\`: it needs a credential of the person’s own, which has not been stored for them.`,
    );
    expect(lacking.system).not.toContain('ORDERS_KEY');
    await ask('ada');
    await ask('bob');
    const shown = async () =>
      (await outages()).map(({ user_id, reason }: Record<string, unknown>) => [user_id, reason]);
    expect(await shown()).toEqual([
      ['bob', 'user_secret_missing'],
      ['ada', 'user_secret_missing'],
    ]);
    await store('ada');
    expect((await ask('ada')).told).toBeNull();
    await server.call('DELETE', '/v1/secrets/ORDERS_KEY?user_id=ada');
    await ask('ada');
    await ask('bob');
    expect((await shown()).map(([user]: string[]) => user)).toEqual(['ada', 'bob', 'ada']);
  });

  it('are in the trace of a task [MCPS-144]', async () => {
    await open();
    await goAway();
    const body = { deployment: name, message: 'Change it.', hand_off: 'always' };
    const { body: conversation } = await server.call('POST', '/v1/conversations', { body });
    await server.until(`/v1/conversations/${conversation.id}`, ({ status }) => status === 'idle');
    const { body: tasks } = await server.call('GET', `/v1/tasks?conversation_id=${conversation.id}`);
    const { body: trace } = await server.call('GET', `/v1/tasks/${tasks.data[0].id}/trace`);
    expect(trace.missing_tools).toEqual([
      { server: slug, reason: 'unreachable', message: '127.0.0.1 could not be reached: ECONNREFUSED.' },
    ]);
  });

  it('end a test in error if their server goes down while its list is cached [VER-743]', async () => {
    await open();
    expect((await ask()).told).toBeNull();
    // Nothing forgets the list, so the tool is still offered.
    await orders.close();
    let calls = 0;
    server.script(
      cast({
        agent: (request) => {
          const done = resultsIn(request);
          if (done.length > 0) return { text: done.join('\n') };
          calls += 1;
          return { calls: [{ name: `mcp__${slug}__find`, arguments: {} }] };
        },
      }),
    );
    await server.call('POST', `/v1/deployments/${name}/scenarios`, { body: scenario({}) });
    const run = await server.call('POST', `/v1/deployments/${name}/test-runs`);
    const ended = await server.until(`/v1/test-runs/${run.body.id}`, ({ finished_at }) => finished_at !== null);
    expect([calls, ended.status, ended.error_code]).toEqual([1, 'error', 'mcp_server_error']);
    expect(ended.results[0]).toMatchObject({
      status: 'error',
      error_code: 'mcp_server_error',
      error_message: expect.stringContaining(`The server \`${slug}\` is unreachable. 127.0.0.1 could not be reached`),
    });
    // The failed call dropped the list: the next conversation knows at once, and continues without the tools.
    server.script(cast({ agent: () => ({ text: 'Hello.' }) }));
    expect((await ask()).told).toBe(`\`${slug}\`: it cannot be reached just now.`);
  });

  it('end a test in error unless it plays them, and the outage is still reported outside the test [TRUN-141, TRUN-142]', async () => {
    await open({ require_approval: ['find'] });
    await server.call('PATCH', `/v1/mcp-servers/${server_id}`, { body: { tools: { require_approval: ['tidy'] } } });
    await goAway();
    const play = async (fields: Record<string, unknown>) => {
      const made = await server.call('POST', `/v1/deployments/${name}/scenarios`, { body: scenario(fields) });
      const run = await server.call('POST', `/v1/deployments/${name}/test-runs`);
      const ended = await server.until(`/v1/test-runs/${run.body.id}`, ({ finished_at }) => finished_at !== null);
      await server.call('DELETE', `/v1/deployments/${name}/scenarios/${made.body.id}`);
      return ended;
    };
    const broken = await play({});
    expect([broken.status, broken.error_code]).toEqual(['error', 'mcp_server_error']);
    expect(broken.results[0]).toMatchObject({
      status: 'error',
      error_code: 'mcp_server_error',
      error_message: expect.stringContaining(`The server \`${slug}\` is unreachable. 127.0.0.1 could not be reached`),
    });
    expect(await outages()).toEqual([]);

    server.script(
      cast({
        agent: (request) => {
          const done = resultsIn(request);
          const wanted = ['change', 'find', 'tidy'][done.length];
          if (wanted === undefined) return { text: done.join('\n') };
          return { calls: [{ name: `mcp__${slug}__${wanted}`, arguments: {} }] };
        },
      }),
    );
    const results = { change: 'changed as played', find: 'found', tidy: 'tidied' };
    const played = await play({
      tool_results: Object.fromEntries(Object.entries(results).map(([each, result]) => [`${slug}.${each}`, result])),
    });
    expect([played.status, played.error_code]).toEqual(['passed', null]);
    const text = played.results[0].transcript.at(-1).text;
    expect(text).toContain('changed as played');
    // Calls that the version or the server's rules make wait still get the scenario's refusal.
    expect(text).not.toMatch(/found|tidied/);
    expect(text.match(/The person said no\./g)).toHaveLength(2);
    await ask();
    expect(await outages()).toHaveLength(1);
  });
});
