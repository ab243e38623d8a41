import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { lastText } from '../support/cast.ts';
import { createShops } from './improvement-shop.fixture.ts';
import { improver } from './improver.fixture.ts';

let server: AgentServer;
let shops: ReturnType<typeof createShops>;
beforeAll(async () => {
  server = await startAgentServer();
  shops = createShops(server);
});
afterAll(() => server.stop());

const allow = async (improvement_conversations: 'all' | 'rated' | 'none') =>
  server.call('PATCH', '/v1/org', { body: { improvement_conversations } });

describe('the org setting improvement_conversations', () => {
  afterAll(() => allow('all'));

  it('`none` refuses an improvement, in its mode only, and creates nothing [IMPR-719]', async () => {
    server.script(improver());
    const shop = await shops.deploy();
    const conversation = await shops.complain(shop);
    const { body: before } = await server.call('GET', `/v1/deployments/${shop}/insights?kind=bad_rating`);
    const sources = [
      { type: 'ratings' },
      { type: 'insight', insight_id: before.data[0].id },
      { type: 'conversations', conversation_ids: [conversation] },
    ];
    await allow('none');
    const refused = await Promise.all(sources.map((from) => shops.start(shop, { from })));
    expect(refused.map(({ status, body }) => [status, body.error.code])).toEqual([
      [409, 'conversations_not_allowed'],
      [409, 'conversations_not_allowed'],
      [409, 'conversations_not_allowed'],
    ]);
    expect((await server.call('GET', `/v1/deployments/${shop}/improvements`)).body.data).toEqual([]);
    const { body: live } = await server.call('GET', '/v1/org', { key: server.liveKey });
    expect(live.improvement_conversations).toBe('all');
    await allow('all');
    expect((await shops.start(shop, { from: sources[2] })).status).toBe(201);
  });

  it('`rated` uses rated conversations only, also for the replays [IMPR-719]', async () => {
    server.script(improver());
    const shop = await shops.deploy();
    const rated = await shops.rate(await shops.talk(shop, 'What are your hours?'), 'good');
    const unrated = await shops.talk(shop, 'Which hours on Sunday?');
    const bad = await shops.complain(shop);
    await allow('rated');
    const from = { type: 'conversations', conversation_ids: [bad, unrated] };
    const refused = await shops.start(shop, { from });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'conversations_not_allowed']);
    expect(refused.body.error.message).toContain(unrated);
    const done = await shops.improve(shop);
    expect(done.outcome).toBe('improved');
    const { body: replay } = await server.call('GET', `/v1/replays/${done.replay_id}`);
    expect(replay.talks.map((talk: { conversation_id: string }) => talk.conversation_id)).toEqual([rated]);
    const asked = server.asked.filter(({ outputSchema }) =>
      /personal_values|cannot_fix/.test(JSON.stringify(outputSchema)),
    );
    expect(asked.length).toBeGreaterThan(0);
    expect(JSON.stringify(asked.map(lastText))).not.toContain('Sunday');
  });

  it('leaves a conversation out if it changes before the scenario is drafted [IMPR-719]', async () => {
    await allow('all');
    const shop = await shops.deploy();
    server.script(improver());
    const first = await shops.complain(shop);
    const second = await shops.complain(shop);
    const respond = improver();
    let drafts = 0;
    server.script(async (request) => {
      const { properties = {} } = (request.outputSchema ?? {}) as { properties?: object };
      if (!('personal_values' in properties)) return respond(request);
      drafts += 1;
      await allow('none');
      return respond(request);
    });
    const from = { type: 'conversations', conversation_ids: [first, second] };
    const done = await shops.improve(shop, { from });
    expect(drafts).toBe(1);
    expect(done.scenarios.map(({ status }: { status: string }) => status)).toContain('left_out');
  });

  it('keeps words of other conversations out of insights, and counts them [INS-717]', async () => {
    await allow('all');
    server.script(improver());
    const shop = await shops.deploy();
    await shops.complain(shop);
    const asked = ['How do I return a broken bicycle lamp?', 'How can I return a broken bicycle lamp?'];
    const userId = 'repeating';
    const id = await shops.talk(shop, asked[0] as string, userId);
    await shops.post(`/v1/conversations/${id}/messages`, { message: asked[1] });
    await server.until(`/v1/conversations/${id}`, ({ status }) => status === 'idle');
    const read = async () => (await server.call('GET', `/v1/deployments/${shop}/insights`)).body;
    expect(JSON.stringify(await read())).toContain('bicycle');

    await allow('rated');
    const rated = await read();
    expect(rated.quoted_conversations).toBe('rated');
    const [repeated] = rated.data.filter(({ kind }: { kind: string }) => kind === 'repeated_question');
    expect(repeated).toMatchObject({ title: 'Users repeat messages', cause: '', count: 1, examples: [] });
    expect(JSON.stringify(rated)).not.toContain('bicycle');
    expect(JSON.stringify(rated)).toContain('It is 30 days.');

    await allow('none');
    const none = await read();
    expect(none.total_conversations).toBe(2);
    expect(none.data).toHaveLength(2);
    expect(JSON.stringify(none)).not.toContain('30 days');
  });
});

describe('a key with scope setup alone', () => {
  it('starts no improvement and reads no words of scenarios [IMPR-720]', async () => {
    server.script(improver());
    const shop = await shops.deploy();
    await shops.talk(shop, 'What are your hours?');
    await shops.complain(shop);
    const keyOf = async (...scopes: string[]): Promise<string> =>
      (await shops.post('/v1/keys', { name: scopes.join(), scopes })).body.key;
    const [setup, both] = [await keyOf('setup'), await keyOf('setup', 'runtime')];
    const refused = await shops.post(
      `/v1/deployments/${shop}/improvements`,
      { from: { type: 'ratings' }, budget_usd: 20 },
      setup,
    );
    expect([refused.status, refused.body.error.code]).toEqual([403, 'scope_missing']);
    const done = await shops.improve(shop);
    const read = async (key: string) => (await server.call('GET', `/v1/improvements/${done.id}`, { key })).body;
    expect(await read(both)).toEqual(await read(server.testKey));
    const seen = await read(setup);
    const [scenario] = done.scenarios;
    expect(scenario.goal).toContain('How long');
    for (const words of [scenario.name, scenario.goal, ...scenario.success_criteria]) {
      expect(JSON.stringify(seen)).not.toContain(words);
    }
    const { before, after, reason } = done.change.instructions;
    expect(seen).toMatchObject({ change: { instructions: { before, after } }, before: done.before, after: done.after });
    expect(JSON.stringify(seen)).not.toContain(reason);
    for (const path of [
      ...done.before.test_run_ids.map((id: string) => `/v1/test-runs/${id}`),
      `/v1/test-runs/${done.after.test_run_ids[0]}/events`,
    ]) {
      expect((await server.call('GET', path, { key: setup })).status).toBe(403);
      expect((await server.call('GET', path, { key: both })).status).toBe(200);
    }
    const cancelled = await shops.post(`/v1/improvements/${done.id}/cancel`, undefined, setup);
    expect(cancelled.body.scenarios).toMatchObject([{ name: null, goal: null }]);
    const stopped = await shops.post(`/v1/test-runs/${done.after.test_run_ids[0]}/cancel`, undefined, setup);
    expect(stopped.status).toBe(403);
  });
});
