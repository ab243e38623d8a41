import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { lastText } from '../support/cast.ts';
import { resolveExample } from '../support/example.ts';
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

  it('tells the model of instructions, tools and approvals, as data', async () => {
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

  it('takes the version that is named, or the newest [SCN-014, SCN-027]', async () => {
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
  ])('has the model mend drafts with %s, and gives up after two repairs [SCN-141]', async (_what, bad, told) => {
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
    'keeps what is usable of drafts with %s, and asks for the rest alone [SCN-141]',
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

  it('tells the model of notebooks with their titles, and of skills [SCN-142]', async () => {
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

  it('answers as a message does where the model fails or nobody pays', async () => {
    server.script(() => ({ fail: 400, failMessage: 'no' }));
    const failed = await generate({ count: 1 });
    expect([failed.status, failed.body.error.code]).toEqual([502, 'model_error']);
    const poor = await generate({ count: 1 }, { key: server.liveKey });
    expect([poor.status, poor.body.error.code]).toEqual([402, 'wallet_empty']);
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
