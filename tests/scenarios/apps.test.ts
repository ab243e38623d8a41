import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestServer } from '../support/server.ts';
import { type AppDesk, startAppDesk } from './apps.fixture.ts';
import { calling, inTurn, isWaiting, resultsIn, toolNamesIn } from './interactions.fixture.ts';

let desk: AppDesk;
beforeAll(async () => {
  desk = await startAppDesk();
  await desk.apply({ name: 'desk', memory: 'none' });
  await desk.apply({ name: 'desk', memory: 'none' }, desk.liveKey);
});
afterAll(() => desk.stop());
beforeEach(() => {
  desk.app.called.length = 0;
  desk.app.had.length = 0;
});

const read = 'mcp__notes__read_notes';
const write = 'mcp__notes__write_note';
const asksFor = (app: string, ...then: ReturnType<typeof calling>[]) =>
  inTurn(calling('connect_app', { app, reason: 'To find your list.' }), ...then, { text: 'Done.' });
const enumOf = (at: number) => {
  const tool = desk.asked.at(at)?.tools.find(({ name }) => name === 'connect_app');
  return (tool?.inputSchema as { properties: { app: { enum: string[] } } } | undefined)?.properties.app.enum;
};

describe('an agent that needs an app', () => {
  it('asks the person to connect it, and resumes with its tools and the person’s own sign-in [APP-001, APP-015, APP-430, INT-019, INT-033]', async () => {
    desk.script(asksFor('notes', calling(read)));
    const { conversationId, interaction } = await desk.waiting({ user_id: 'ada' });
    expect(interaction).toMatchObject({
      user_id: 'ada',
      kind: 'connector_auth',
      type: 'connect',
      status: 'pending',
      summary: 'Connect Notes. To find your list.',
      moves_money: false,
      requires_present_user: false,
      details: {
        app: 'notes',
        name: 'Notes',
        connect: { route: 'POST /v1/connections', body: { app: 'notes', user_id: 'ada' } },
      },
      outcome: null,
    });
    expect(enumOf(0)).toEqual(expect.arrayContaining(['notes', 'diary', 'notion']));
    expect(enumOf(0)).not.toContain('slack');
    expect(toolNamesIn(desk.asked[0])).not.toContain(read);
    for (const body of [undefined, { approve: true }]) {
      expect((await desk.answer(interaction.id, body)).body.error.code).toBe('connect_app_instead');
    }
    const sessionOf = async (body: Record<string, unknown>) =>
      (await desk.call('POST', '/v1/sessions', { body: { chat: true, ...body } })).body.token;
    const hers = await sessionOf({ conversation_id: conversationId });
    const elsewhere = await sessionOf({ user_id: 'ada' });
    const another = await sessionOf({ user_id: 'eve' });
    // A session may connect only the app its conversation waits for, and only for its own user.
    for (const [token, body] of [
      [hers, { app: 'diary' }],
      [hers, { app: 'notes', user_id: 'eve' }],
      [hers, { app: 'notes', api_key: 'k' }],
      [elsewhere, { app: 'notes' }],
      [another, { app: 'notes' }],
    ] as const) {
      expect((await desk.call('POST', '/v1/connections', { key: token, body })).body.error.code).toBe('session_scope');
    }
    const offered = await desk.call('POST', '/v1/connections', { key: hers, body: { app: 'notes' } });
    expect(offered).toMatchObject({ status: 201, body: { app: 'notes', status: 'pending' } });
    expect(Object.keys(offered.body).sort()).toEqual(['app', 'connect_url', 'created_at', 'id', 'object', 'status']);

    const { begun, page } = await signIn('ada');
    expect(page.status).toBe(200);
    await desk.rest(conversationId);
    const { body: settled } = await desk.call('GET', `/v1/interactions/${interaction.id}`);
    expect(settled).toMatchObject({ status: 'resolved', outcome: { decision: 'answered' } });
    expect(desk.app.called).toEqual([{ name: 'read_notes', person: 'ada', args: {} }]);
    expect(toolNamesIn(desk.asked[1])).toEqual(expect.arrayContaining([read, write]));
    expect(enumOf(1)).not.toContain('notes');
    expect(resultsIn(desk.asked.at(-1))).toEqual([
      'Notes is connected. You have its tools now.',
      expect.stringContaining('read_notes for ada'),
    ]);
    const told = await desk.log(conversationId);
    expect(told.filter(({ type }) => type.startsWith('interaction.')).map(({ type }) => type)).toEqual([
      'interaction.created',
      'interaction.resolved',
    ]);
    const everything = JSON.stringify([desk.asked, told, begun, page.text, settled]);
    expect(desk.app.secrets().filter((secret) => everything.includes(secret))).toEqual([]);
    // A price that an app reports is not charged to the org.
    const { body: items } = await desk.call('GET', `/v1/usage/line-items?conversation_id=${conversationId}`);
    expect(items.data.length).toBeGreaterThan(0);
    expect(items.data.filter(({ cost_usd }: { cost_usd: number }) => cost_usd >= 1)).toEqual([]);
  });

  it('does so in work too, and asks before it changes anything', async () => {
    desk.script(asksFor('notes', calling(write, { text: 'Milk' })));
    const task = await desk.work({ user_id: 'bea' }, isWaiting);
    await signIn('bea');
    const path = `/v1/interactions?task_id=${task.id}&type=approval`;
    const [approval] = (await desk.until(path, ({ data }) => data.length === 1)).data;
    expect(approval).toMatchObject({
      task_id: task.id,
      kind: 'tool_permission',
      details: { tool_name: 'write_note', server: 'notes' },
    });
    expect(desk.app.called).toEqual([]);
    await desk.answer(approval.id, { approve: true, present_user: true });
    await desk.rest(task.conversation_id);
    expect(desk.app.called).toEqual([{ name: 'write_note', person: 'bea', args: { text: 'Milk' } }]);
    expect((await desk.call('GET', `/v1/tasks/${task.id}`)).body.status).toBe('done');
  });

  it('keeps waiting if the person declines, and continues without the app if the wait is withdrawn', async () => {
    desk.script(asksFor('notes'));
    const { conversationId, interaction } = await desk.waiting({ user_id: 'cy' });
    desk.app.consent = 'denied';
    expect((await signIn('cy')).page.status).toBe(400);
    desk.app.consent = 'given';
    await signIn('someone-else');
    expect((await desk.call('GET', `/v1/interactions/${interaction.id}`)).body.status).toBe('pending');
    await desk.call('POST', `/v1/interactions/${interaction.id}/cancel`);
    await desk.rest(conversationId);
    expect(resultsIn(desk.asked.at(-1))).toEqual(['The request was withdrawn: go on without this action.']);
  });

  it('does not wait if the person has connected it in the meantime', async () => {
    desk.script(async (request) => {
      const isFirst = resultsIn(request).length === 0;
      if (isFirst) await signIn('dora');
      return asksFor('notes', calling(read))(request);
    });
    const { id } = await desk.say({ message: 'Go on', user_id: 'dora' });
    await desk.rest(id);
    expect(toolNamesIn(desk.asked[0])).not.toContain(read);
    expect(toolNamesIn(desk.asked[1])).toContain(read);
    expect(desk.app.called).toEqual([{ name: 'read_notes', person: 'dora', args: {} }]);
    expect((await desk.log(id)).filter(({ type }) => type === 'turn.settled')).toHaveLength(1);
  });

  it('has the tools also if it waits for another answer', async () => {
    const both = {
      calls: [
        { name: 'connect_app', arguments: { app: 'notes' } },
        { name: 'ask_question', arguments: { question: 'Which list?' } },
      ],
    };
    desk.script(inTurn(both, calling(read), { text: 'Done.' }));
    const { id } = await desk.say({ message: 'Go on', user_id: 'eli' });
    const [connect, question] = await desk.open(id, 2);
    expect([connect.type, question.type].sort()).toEqual(['connect', 'question']);
    const asked = [connect, question].find(({ type }) => type === 'question');
    await desk.answer(asked.id, { answers: ['The long one'] });
    await signIn('eli');
    await desk.rest(id);
    expect(desk.app.called).toEqual([{ name: 'read_notes', person: 'eli', args: {} }]);
  });

  it('has the tools also if the app is connected while the agent searches for tools', async () => {
    desk.app.person = 'eva';
    await desk.follow((await desk.begin({ app: 'diary', user_id: 'eva' })).body.connect_url);
    const both = {
      calls: [
        { name: 'ask_question', arguments: { question: 'Which list?' } },
        { name: 'connect_app', arguments: { app: 'notes' } },
      ],
    };
    desk.script(inTurn(both, calling(read), { text: 'Done.' }));
    const { id } = await desk.say({ message: 'Go on', user_id: 'eva' });
    const open = await desk.open(id, 2);
    const [question, connect] = ['question', 'connect'].map((kind) => open.find(({ type }) => type === kind));
    // The renewal of the other app's token holds the look for tools up until the app is connected.
    await desk.sql(`UPDATE connections SET token_expires_at = now() WHERE user_key = 'eva'`);
    desk.app.instead = async (path, request) => {
      if (path !== '/token' || !(await request.text()).includes('refresh_token')) return undefined;
      desk.app.instead = () => undefined;
      await signIn('eva');
      await desk.until(`/v1/interactions/${connect.id}`, ({ status }) => status === 'resolved');
      return undefined;
    };
    await desk.answer(question.id, { answers: ['The long one'] });
    await desk.rest(id);
    expect(desk.asked).toHaveLength(3);
    expect(toolNamesIn(desk.asked[1])).toEqual(expect.arrayContaining([read, 'mcp__diary__read_notes']));
    expect(desk.app.called).toEqual([{ name: 'read_notes', person: 'eva', args: {} }]);
  });
});

describe('a connected app', () => {
  const tells = async (body: Record<string, unknown>, key = desk.testKey) => {
    desk.script(() => ({ text: 'Hello.' }));
    const { id } = await desk.say({ message: 'Hello', ...body }, key);
    await desk.until(`/v1/conversations/${id}`, ({ status }) => status === 'idle', key);
    return toolNamesIn(desk.asked[0]);
  };

  it('is the user’s own, and of one mode [TEN-015]', async () => {
    await desk.connect('finn');
    expect(await tells({ user_id: 'finn' })).toContain(read);
    expect(await tells({ user_id: 'gus' })).not.toContain(read);
    expect(await tells({})).not.toContain(read);
    expect(await tells({ user_id: 'finn' }, desk.liveKey)).not.toContain(read);
    await desk.connect('finn', desk.liveKey);
    expect(await tells({ user_id: 'finn' }, desk.liveKey)).toContain(read);
    const { body } = await desk.call('GET', '/v1/connections?user_id=finn', { key: desk.liveKey });
    await desk.call('DELETE', `/v1/connections/${body.data[0].id}`, { key: desk.liveKey });
    expect(await tells({ user_id: 'finn' }, desk.liveKey)).not.toContain(read);
    expect(await tells({ user_id: 'finn' })).toContain(read);
  });

  it('is there within the version’s `apps` alone [APP-013]', async () => {
    await desk.connect('hal');
    const within = async (apps: 'all' | string[]) => {
      await desk.apply({ name: 'narrow', memory: 'none', apps });
      const names = await tells({ user_id: 'hal', deployment: 'narrow' });
      return [names.includes(read), enumOf(0)];
    };
    expect(await within(['notes', 'diary', 'slack', 'unknown'])).toEqual([true, ['diary']]);
    expect(await within(['diary'])).toEqual([false, ['diary']]);
    expect(await within([])).toEqual([false, undefined]);
    expect(await within('all')).toEqual([true, expect.arrayContaining(['diary', 'notion'])]);
  });

  it('gives way to a server of the company with the same name', async () => {
    await desk.connect('ivy');
    await desk.apply({ name: 'own', memory: 'none', tools: [{ mcp: desk.app.url, name: 'notes' }] });
    const names = await tells({ user_id: 'ivy', deployment: 'own' });
    expect(names).not.toContain(read);
    expect(enumOf(0)).not.toContain('notes');
  });

  it('whose sign-in the app revoked is requested again, and the call is repeated afterwards', async () => {
    await desk.connect('jo');
    desk.script(inTurn(calling(write, { text: 'Eggs' }), { text: 'Done.' }));
    const { conversationId, interaction: approval } = await desk.waiting({ user_id: 'jo' });
    for (const grant of desk.app.grants) if (grant.person === 'jo') grant.isOver = true;
    await desk.answer(approval.id, { approve: true, present_user: true });
    const path = `/v1/interactions?conversation_id=${conversationId}&type=connect`;
    const { data } = await desk.until(path, ({ data: rows }) => rows.length === 1);
    expect(data[0]).toMatchObject({ kind: 'connector_auth', summary: 'Connect Notes.', details: { app: 'notes' } });
    expect(desk.app.called).toEqual([]);
    const { body } = await desk.call('GET', '/v1/connections?user_id=jo');
    expect(body.data).toMatchObject([{ status: 'failed' }]);
    await signIn('jo');
    await desk.rest(conversationId);
    expect(desk.app.called).toEqual([{ name: 'write_note', person: 'jo', args: { text: 'Eggs' } }]);
    expect(resultsIn(desk.asked.at(-1))).toEqual([expect.stringContaining('write_note for jo')]);
  });

  it('whose sign-in is over is reported as missing until it is connected again [MCPS-143]', async () => {
    await desk.connect('lou');
    for (const grant of desk.app.grants) grant.isOver = true;
    desk.script(inTurn({ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }));
    const told = async () => {
      const { body } = await desk.call('POST', '/v1/conversations', { body: { user_id: 'lou', message: 'My notes?' } });
      await desk.rest(body.id);
      return desk.asked.at(-1)?.system.join('\n').includes('- `notes`: the person’s sign-in to it is over');
    };
    expect([await told(), await told()]).toEqual([true, true]);
    await desk.connect('lou');
    expect(await told()).toBe(false);
    const { body } = await desk.call('GET', '/v1/events?type=tool_server.away');
    const hers = body.data.filter(({ data }: { data: { user_id: string } }) => data.user_id === 'lou');
    expect(hers.map(({ data }: { data: unknown }) => data)).toMatchObject([
      { id: 'notes', server: 'notes', reason: 'sign_in_over', user_id: 'lou' },
    ]);
  });

  it('is renewed by one of two servers that need it at once', async () => {
    await desk.connect('kim');
    const other = await startTestServer({ env: desk.env, beside: desk });
    try {
      await desk.sql(`UPDATE connections SET token_expires_at = now() WHERE user_key = 'kim'`);
      desk.script(inTurn(calling(read), { text: 'Done.' }));
      const say = (server: typeof other) =>
        server.call('POST', '/v1/conversations', { body: { message: 'Go on', user_id: 'kim' } });
      const made = await Promise.all([say(desk), say(other), say(desk), say(other)]);
      for (const { body } of made) await desk.rest(body.id);
      expect(desk.app.had.filter((entry) => entry === 'POST /token refresh_token')).toHaveLength(1);
      expect(desk.app.called.map(({ person }) => person)).toEqual(['kim', 'kim', 'kim', 'kim']);
    } finally {
      await other.stop();
    }
  });

  it('is never called in a test run', async () => {
    const { body: begun } = await desk.begin();
    desk.app.person = 'company';
    await desk.follow(begun.connect_url);
    expect(await tells({})).toContain(read);
    desk.app.had.length = 0;
    desk.script((request) => (toolNamesIn(request).includes(read) ? calling(read) : { text: 'I have no notes.' }));
    await desk.apply({
      name: 'tested',
      memory: 'none',
      tests: [{ name: 'Notes', ask: 'Read my notes', expect: ['It says what it finds.'] }],
    });
    const { body: run } = await desk.call('POST', '/v1/deployments/tested/test-runs', { body: {} });
    await desk.until(`/v1/test-runs/${run.id}`, ({ status }) => !['queued', 'running'].includes(status));
    expect(desk.asked.length).toBeGreaterThan(0);
    expect(desk.app.had).toEqual([]);
  });

  it('is deleted with its user', async () => {
    await desk.connect('lou');
    await desk.call('DELETE', '/v1/users/lou');
    await desk.until('/v1/connections?user_id=lou', ({ data }) => data.length === 0);
    expect(await desk.sql(`SELECT id FROM connections WHERE user_key = 'lou'`)).toEqual([]);
  });
});

async function signIn(userId: string) {
  desk.app.person = userId;
  const { body: begun } = await desk.begin({ user_id: userId });
  return { begun, page: await desk.follow(begun.connect_url) };
}
