import { newId } from '@vestra/contract/ids';
import { findConversationsWithCost } from '@vestra/server/engine/records/conversations';
import { closeDatabase, openDatabase } from '@vestra/server/platform/db/pool';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lastText, resultsIn } from '../support/cast.ts';
import { query } from '../support/database.ts';
import { makeOtherOrg } from '../support/other-org.ts';
import type { ApiResponse } from '../support/server.ts';
import { codeOf, door, startTalk, type Talk, typesOf } from './conversations.fixture.ts';

let server: Talk;
beforeAll(async () => {
  server = await startTalk();
});
afterAll(() => server.stop());

const noCosts = {
  orchestrator: 0,
  intelligence: 0,
  tools: 0,
  compute: 0,
  background: 0,
  voice: 0,
  improvement: 0,
  insight: 0,
};

describe('a conversation', () => {
  it('is created without any field, for the org’s own agent [CONV-001, CONV-002, CONV-012, CONV-024, CONV-027]', async () => {
    const answer = await server.call('POST', '/v1/conversations');
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      object: 'conversation',
      id: expect.stringMatching(/^conv_/),
      user_id: null,
      deployment_id: expect.stringMatching(/^dep_/),
      deployment_version: 1,
      status: 'idle',
      preview: null,
      last_error: null,
      metadata: {},
      created_at: expect.any(String),
      last_active_at: answer.body.created_at,
      open_work: [],
      open_interactions: [],
      pending_tool_calls: [],
      last_event_seq: 0,
      cost_usd: 0,
      cost_breakdown: noCosts,
    });
    expect(await server.show(answer.body.id)).toEqual(answer.body);
  });

  it('creates a user on first use, once [CONV-013]', async () => {
    const made = await Promise.all([1, 2, 3].map(() => server.begin({ user_id: 'new.user@example.com' })));
    expect(made.map(({ user_id }) => user_id)).toEqual(Array(3).fill('new.user@example.com'));
    expect((await server.call('GET', '/v1/users/new.user@example.com')).status).toBe(200);
    const { body } = await server.call('GET', '/v1/events?type=user.created');
    expect(body.data.filter(({ data }: { data: { id: string } }) => data.id === 'new.user@example.com')).toHaveLength(
      1,
    );
  });

  it('starts its first turn with a message and names it [CONV-010, CONV-017, CONV-021, CONV-026]', async () => {
    const gate = door();
    server.script(async () => {
      await gate.opened;
      return { text: 'Good morning.', usage: { inputTokens: 1000, outputTokens: 500 } };
    });
    const made = await server.begin({ message: 'Hi' });
    expect(made).toMatchObject({ status: 'replying', turn_id: expect.stringMatching(/^turn_/) });
    gate.open();
    const after = await server.rest(made.id);
    expect(after).not.toHaveProperty('turn_id');
    expect(after).toMatchObject({ cost_usd: 0.003, cost_breakdown: { ...noCosts, orchestrator: 0.003 } });
    expect((await server.messages(made.id)).map(({ role, text, turn_id }) => [role, text, turn_id])).toEqual([
      ['user', 'Hi', made.turn_id],
      ['agent', 'Good morning.', made.turn_id],
    ]);
  });

  it('has no turn if it has no message [CONV-010]', async () => {
    const made = await server.begin({ message: ' \n ' });
    expect(made).not.toHaveProperty('turn_id');
    expect([made.status, await server.messages(made.id)]).toEqual(['idle', []]);
  });

  it('gives labels back as they were sent and shows them to no model [CONV-005]', async () => {
    const metadata = {
      'order id': 'ORDER-SECRET-77',
      '': undefined,
      empty: '',
      emoji: '🙂',
      ['a'.repeat(64)]: 'b'.repeat(512),
    };
    server.script(() => ({ text: 'Hello.' }));
    const made = await server.begin({ message: 'Hi', metadata });
    await server.rest(made.id);
    const { '': _, ...sent } = metadata;
    expect(made.metadata).toEqual(sent);
    expect((await server.show(made.id)).metadata).toEqual(sent);
    expect(JSON.stringify(server.asked)).not.toContain('ORDER-SECRET-77');
    expect(server.asked).toHaveLength(1);
  });

  it.each([
    ['33 keys', Object.fromEntries(Array.from({ length: 33 }, (_, at) => [`k${at}`, 'v'])), 'metadata'],
    ['a key of 65 characters', { ['k'.repeat(65)]: 'v' }, `metadata.${'k'.repeat(65)}`],
    ['an empty key', { '': 'v' }, 'metadata.'],
    ['a value of 513 characters', { k: 'v'.repeat(513) }, 'metadata.k'],
    ['a number', { k: 1 }, 'metadata.k'],
    ['a list', ['v'], 'metadata'],
  ])('refuses labels with %s [CONV-004]', async (_what, metadata, param) => {
    const answer = await server.call('POST', '/v1/conversations', { body: { metadata } });
    expect(codeOf(answer)).toEqual([400, 'invalid_request']);
    expect(answer.body.error.param).toBe(param);
  });

  it('accepts 32 labels [CONV-004]', async () => {
    const metadata = Object.fromEntries(Array.from({ length: 32 }, (_, at) => [`k${at}`, '✓'.repeat(512)]));
    expect((await server.begin({ metadata })).metadata).toEqual(metadata);
  });

  it('updates its activity when a message is sent and not when it is read [CONV-011]', async () => {
    server.script(() => ({ text: 'Hello.' }));
    const made = await server.begin();
    await server.tell(made.id, 'one');
    const first = (await server.show(made.id)).last_active_at;
    expect(first > made.last_active_at).toBe(true);
    expect((await server.show(made.id)).last_active_at).toBe(first);
    await server.tell(made.id, 'two');
    expect((await server.show(made.id)).last_active_at > first).toBe(true);
  });

  it('emits an event when it is created, with the body that its GET returns [CONV-033]', async () => {
    const made = await server.begin({ user_id: 'ada', metadata: { a: 'b' } });
    const { body } = await server.call('GET', '/v1/events?type=conversation.created&limit=1');
    expect(body.data[0].data).toEqual(made);
  });

  it('returns 404 to callers it does not belong to [CONV-032]', async () => {
    const { id } = await server.begin();
    const otherOrg = await makeOtherOrg(server);
    for (const [key, which] of [
      [server.testKey, newId('conv')],
      [server.liveKey, id],
      [otherOrg, id],
    ] as const) {
      for (const [method, path, body] of [
        ['GET', '', undefined],
        ['POST', '/messages', { message: 'Hi' }],
        ['GET', '/messages', undefined],
        ['GET', '/events', undefined],
        ['GET', '/events?format=json', undefined],
        ['POST', '/stop', undefined],
      ] as const) {
        const answer = await server.call(method, `/v1/conversations/${which}${path}`, { key, body });
        expect([path, ...codeOf(answer)]).toEqual([path, 404, 'conversation_not_found']);
      }
    }
    expect(codeOf(await server.call('GET', '/v1/conversations/conv_1'))).toEqual([400, 'invalid_conversation_id']);
  });

  it('is shown only to its own org, mode and session in concurrent reads [TEN-221]', async () => {
    const { id } = await server.begin({ user_id: 'reader.of.one', metadata: { note: 'private' } });
    const otherOrg = await makeOtherOrg(server);
    const session = async (body: Record<string, unknown>) =>
      (await server.call('POST', '/v1/sessions', { body: { chat: true, ...body } })).body.token as string;
    const own = await session({ conversation_id: id });
    const foreign = await session({ user_id: 'ben' });
    const asking = [otherOrg, server.testKey, server.liveKey, own, foreign, otherOrg, server.liveKey, server.testKey];
    const read = (key: string) => server.call('GET', `/v1/conversations/${id}`, { key });
    const lock = new pg.Client({ connectionString: server.connectionString });
    // Inside the transaction of the lock the first answer would be given again and again.
    const onlooker = new pg.Client({ connectionString: server.connectionString });
    await Promise.all([lock.connect(), onlooker.connect()]);
    // Whatever else the server reads of conversations waits too, so that these are told apart by their words.
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%"c"."id"%'`;
    await lock.query('BEGIN; LOCK TABLE conversations IN ACCESS EXCLUSIVE MODE');
    // The first read waits for the lock, and those that come meanwhile share the next one.
    const first = read(server.testKey);
    let answers: ReturnType<typeof read>[] = [];
    try {
      await expect.poll(() => onlooker.query(waiting).then(({ rowCount }) => rowCount)).toBe(1);
      answers = asking.map(read);
      for (const key of [otherOrg, server.liveKey]) await server.call('GET', '/v1/me', { key });
    } finally {
      await Promise.all([lock.end(), onlooker.end()]);
    }
    const statuses = await Promise.all([first, ...answers].map(async (answer) => codeOf(await answer)));
    const shown = [200, undefined];
    const unknown = [404, 'conversation_not_found'];
    const closed = [403, 'session_scope'];
    expect(statuses).toEqual([shown, unknown, shown, unknown, shown, closed, unknown, unknown, shown]);
  });

  it('is found only for its own tenant in a read of several [TEN-221]', async () => {
    const { id } = await server.begin();
    const { id: other } = await server.begin({}, server.liveKey);
    const own = { orgId: server.orgId, mode: 'test' as const };
    const db = await openDatabase({ connectionString: server.connectionString, max: 1 });
    const found = await findConversationsWithCost(db, [
      { ...own, mode: 'live', id },
      { ...own, id },
      { ...own, orgId: newId('org'), id },
      { ...own, id: other },
      { ...own, mode: 'live', id: other },
    ]);
    await closeDatabase(db);
    expect(found.map((each) => each?.row.id)).toEqual([undefined, id, undefined, undefined, other]);
  });
});

describe('the list of conversations', () => {
  it('holds every one of the mode, newest first, by pages, or one user’s [CONV-019, CONV-020]', async () => {
    const made: string[] = [];
    for (const user_id of ['li', undefined, 'li', 'mo', 'li']) made.unshift((await server.begin({ user_id })).id);
    const live = await server.begin({}, server.liveKey);
    const paged: string[] = [];
    for (let cursor = ''; paged.length < 5; ) {
      const { body } = await server.call('GET', `/v1/conversations?limit=2${cursor && `&cursor=${cursor}`}`);
      paged.push(...body.data.map(({ id }: { id: string }) => id));
      cursor = body.next_cursor;
    }
    expect(paged.slice(0, 5)).toEqual(made);
    const idsOf = async (search: string, key = server.testKey) =>
      (await server.call('GET', `/v1/conversations?limit=100${search}`, { key })).body.data.map(
        ({ id }: { id: string }) => id,
      );
    expect(await idsOf('&user_id=li')).toEqual([made[0], made[2], made[4]]);
    expect(await idsOf('&user_id=nobody')).toEqual([]);
    const ofLive = await idsOf('', server.liveKey);
    expect([ofLive[0], ofLive.filter((id: string) => made.includes(id))]).toEqual([live.id, []]);
    expect(await idsOf('')).not.toContain(live.id);
    expect(await idsOf('', await makeOtherOrg(server))).toEqual([]);
  });

  it('shows the open interactions of each', async () => {
    server.script(() => ({ calls: [{ name: 'ask_question', arguments: { question: 'Which one?' } }] }));
    const { id } = await server.begin({ message: 'Help' });
    const shown = await server.until(`/v1/conversations/${id}`, ({ status }) => status === 'waiting');
    const { body } = await server.call('GET', '/v1/conversations?limit=1');
    expect(body.data[0]).toEqual(shown);
    expect(shown.open_interactions).toHaveLength(1);
    await server.call('POST', `/v1/conversations/${id}/stop`);
  });
});

describe('the status', () => {
  it('changes from idle to replying, working, waiting and idle, and each change emits an event [CONV-006, CONV-007, CONV-026, CONV-028, CONV-029, CONV-030, EVT-021]', async () => {
    const gate = door();
    server.script(async ({ tools, messages }) => {
      if (tools.some(({ name }) => name === 'hand_off_to_work')) {
        return {
          text: 'On it.',
          calls: [{ name: 'hand_off_to_work', arguments: { title: 'Report', task: 'Write it' } }],
        };
      }
      if (messages.some(({ role }) => role === 'tool')) return { text: 'Done.' };
      await gate.opened;
      return { calls: [{ name: 'ask_question', arguments: { question: 'Which one?' } }] };
    });
    const made = await server.begin({ message: 'Write a report' });
    const working = await server.until(
      `/v1/conversations/${made.id}`,
      ({ open_work: [work] }) => work?.status === 'working',
    );
    expect(working).toMatchObject({
      status: 'working',
      open_work: [{ task_id: expect.stringMatching(/^task_/), title: 'Report', status: 'working' }],
      open_interactions: [],
    });
    gate.open();
    const waiting = await server.until(`/v1/conversations/${made.id}`, ({ status }) => status === 'waiting');
    const [{ task_id }] = working.open_work;
    expect(waiting).toMatchObject({
      open_work: [{ task_id, title: 'Report', status: 'waiting' }],
      open_interactions: [{ interaction_id: expect.stringMatching(/^int_/), task_id, kind: 'ask_question' }],
      pending_tool_calls: [],
    });
    const [{ interaction_id }] = waiting.open_interactions;
    await server.call('POST', `/v1/interactions/${interaction_id}/answer`, { body: { answers: ['The first.'] } });
    const after = await server.rest(made.id);
    expect(after).toMatchObject({ open_work: [], open_interactions: [] });
    const statuses = (await server.log(made.id)).filter(({ type }) => type === 'conversation.status');
    expect(statuses.map(({ data }) => data.status)).toEqual(['replying', 'working', 'waiting', 'working', 'idle']);
  });

  it('lists work that has no name yet by its message, oldest first [CONV-006]', async () => {
    const gate = door();
    server.script(async () => {
      await gate.opened;
      return { text: 'Done.' };
    });
    const { id } = await server.begin();
    const turns = [];
    for (const message of ['one', 'two']) {
      turns.push((await server.send(id, { message, hand_off: 'always' })).body);
    }
    const { open_work } = await server.show(id);
    expect(open_work.map(({ task_id, title }: { task_id: string; title: string }) => [task_id, title])).toEqual([
      [turns[0].task_id, 'one'],
      [turns[1].task_id, 'two'],
    ]);
    gate.open();
    await server.rest(id);
  });
});

describe('stopping', () => {
  it('ends a reply whose model hangs, keeps its text, stops queued messages, and the conversation continues [CONV-022, CONV-023, CONV-031]', async () => {
    server.script(() => ({ text: ['Half a ', 'sentence'], fail: 'hang' }));
    const { id, turn_id } = await server.begin({ message: 'Hi' });
    const stream = await server.stream('GET', `/v1/conversations/${id}/events`);
    const queued = (await server.send(id, { message: 'And this' })).body;
    expect(queued.status).toBe('replying');
    await server.until(`/v1/conversations/${id}/events?format=json`, ({ data }) => {
      const text = data.filter(({ type }: { type: string }) => type === 'reply.delta');
      return text.map((event: { data: { text: string } }) => event.data.text).join('') === 'Half a sentence';
    });
    const stopped = await server.call('POST', `/v1/conversations/${id}/stop`);
    expect(stopped.status).toBe(200);
    expect(stopped.body).toMatchObject({ id, status: 'idle', open_work: [] });
    await stream.waitFor(({ type, turn_id: of }) => type === 'turn.settled' && of === queued.id);
    stream.close();
    const settled = stream.seen.filter(({ type }) => type === 'turn.settled').map(({ data }) => data.turn);
    expect(settled.map(({ id: of, status, reply, error }) => [of, status, reply, error])).toEqual([
      [turn_id, 'stopped', null, null],
      [queued.id, 'stopped', null, null],
    ]);
    server.script(() => ({ text: 'Here again.' }));
    expect((await server.tell(id, 'Hello?')).reply.text).toBe('Here again.');
    expect((await server.messages(id)).map(({ role, text }) => [role, text])).toEqual([
      ['user', 'Hi'],
      ['user', 'And this'],
      ['agent', 'Half a sentence'],
      ['user', 'Hello?'],
      ['agent', 'Here again.'],
    ]);
  });

  it('opens and closes every turn on the stream, also one that never began [EVT-014]', async () => {
    server.script(() => ({ fail: 'hang' }));
    const { id } = await server.begin({ message: 'one' });
    const queued = (await server.send(id, { message: 'two' })).body;
    await server.call('POST', `/v1/conversations/${id}/stop`);
    const ofQueued = (await server.log(id)).filter(({ turn_id }) => turn_id === queued.id);
    expect(typesOf(ofQueued)).toEqual(['turn.started', 'turn.settled']);
  });

  it('ends every task with its questions, in every state [CONV-022, EVT-017, EVT-018]', async () => {
    server.script(({ messages }) =>
      JSON.stringify(messages).includes('ask me')
        ? { calls: [{ name: 'ask_question', arguments: { question: 'Which one?' } }] }
        : { fail: 'hang' },
    );
    const { id } = await server.begin();
    const turns = [];
    for (const message of ['hang', 'ask me']) {
      turns.push((await server.send(id, { message, hand_off: 'always' })).body);
    }
    await server.until(`/v1/conversations/${id}`, ({ open_work }) => {
      const statuses = open_work.map(({ status }: { status: string }) => status);
      return statuses.join() === 'working,waiting';
    });
    const { body } = await server.call('POST', `/v1/conversations/${id}/stop`);
    expect(body).toMatchObject({ status: 'idle', open_work: [], open_interactions: [] });
    const log = await server.log(id);
    for (const { task_id } of turns) {
      const task = (await server.call('GET', `/v1/tasks/${task_id}`)).body;
      expect([task.status, task.error.code]).toEqual(['failed', 'stopped']);
      const ends = log.filter(
        (event) => event.task_id === task_id && /^task\.(completed|failed|stopped)$/.test(event.type),
      );
      expect(ends.map(({ type, data }) => [type, 'reason' in data])).toEqual([['task.stopped', false]]);
    }
    const resolved = log.filter(({ type }) => type === 'interaction.resolved');
    expect(resolved.map(({ data }) => data.interaction.status)).toEqual(['cancelled']);
  });

  it('of an idle conversation changes nothing', async () => {
    server.script(() => ({ text: 'Hello.' }));
    const { id } = await server.begin({ message: 'Hi' });
    const before = await server.rest(id);
    const { status, body } = await server.call('POST', `/v1/conversations/${id}/stop`);
    expect([status, body]).toEqual([200, before]);
  });
});

describe('feedback on an answer', () => {
  it('counts once per rater and for the version that answered, and is deleted with the user [CONV-400, CONV-401, CONV-402]', async () => {
    const { id } = await server.begin({ user_id: 'rater', message: 'Hi' });
    const { deployment_id } = await server.rest(id);
    const [question, answer] = await server.messages(id);
    const path = (message: { id: string }) => `/v1/messages/${message.id}/feedback`;
    const rate = (body: unknown, key = server.testKey, to = path(answer)) => server.call('POST', to, { key, body });
    const refusal = async (call: Promise<ApiResponse>) => codeOf(await call)[1];
    const sessionOf = async (conversation_id: string) =>
      (await server.call('POST', '/v1/sessions', { body: { chat: true, conversation_id } })).body.token as string;
    const [token, renewed] = [await sessionOf(id), await sessionOf(id)];

    const first = await rate({ rating: 'bad', note: 'Too short.' });
    expect(first).toMatchObject({
      status: 200,
      body: { rating: 'bad', note: 'Too short.', deployment_version: 1, rater: { type: 'key' } },
    });
    const byUser = await rate({ rating: 'bad', note: 'Rude.' }, token);
    expect(byUser.body).not.toHaveProperty('rater');
    // The last word counts, also out of another session of the same user.
    const again = await Promise.all([rate({ rating: 'good' }, renewed), rate({ rating: 'good' }, token)]);
    expect(again.map(({ body }) => [body.id, body.rating, body.note])).toEqual(
      Array(2).fill([byUser.body.id, 'good', null]),
    );
    const list = async (key: string, of = `/v1/conversations/${id}/feedback`) =>
      (await server.call('GET', of, { key })).body.data;
    expect(await list(token)).toMatchObject([{ id: byUser.body.id, rating: 'good' }]);
    expect(await list(server.testKey)).toHaveLength(2);

    const ofDeployment = `/v1/deployments/${deployment_id}/feedback`;
    const counts = async (key: string) => (await server.call('GET', `${ofDeployment}/counts`, { key })).body.data;
    expect(await counts(server.testKey)).toEqual([{ version: 1, good: 1, bad: 1 }]);
    expect(await list(server.testKey, `${ofDeployment}?rating=bad&version=1`)).toMatchObject([{ id: first.body.id }]);
    expect(await counts(server.liveKey)).toEqual([]);
    const told = (await server.call('GET', '/v1/events?type=message.feedback')).body.data;
    expect(told[0].data).toMatchObject({ id: byUser.body.id, rating: 'good', rater: { type: 'user', id: 'rater' } });
    // The same word said twice is told once.
    const ofThis = told.filter(({ data }: { data: { conversation_id: string } }) => data.conversation_id === id);
    expect(ofThis).toHaveLength(3);

    // Not what the user said, nor an answer elsewhere, nor from another conversation, mode or org.
    const other = await server.begin({ user_id: 'rater' });
    const stranger = await makeOtherOrg(server);
    expect(await refusal(rate({ rating: 'good' }, server.testKey, path(question)))).toBe('message_not_found');
    expect(await refusal(rate({ rating: 'good' }, server.testKey, path({ id: newId('msg') })))).toBe(
      'message_not_found',
    );
    expect(await refusal(rate({ rating: 'good' }, await sessionOf(other.id)))).toBe('session_scope');
    expect(
      await refusal(server.call('GET', `/v1/conversations/${id}/feedback`, { key: await sessionOf(other.id) })),
    ).toBe('session_scope');
    for (const key of [server.liveKey, stranger]) {
      expect(await refusal(rate({ rating: 'good' }, key))).toBe('message_not_found');
      expect(await refusal(server.call('GET', `/v1/conversations/${id}/feedback`, { key }))).toBe(
        'conversation_not_found',
      );
    }
    expect(await refusal(rate({ rating: 'fine' }))).toBe('invalid_request');

    await server.call('DELETE', '/v1/users/rater');
    await server.until(`${ofDeployment}/counts`, ({ data }) => data.length === 0);
    const left = (await server.call('GET', '/v1/events?type=message.feedback')).body.data;
    expect(left.filter(({ data }: { data: { conversation_id: string } }) => data.conversation_id === id)).toEqual([]);
  });
});

describe('a hidden conversation', () => {
  it('is in no list and emits no webhook event', async () => {
    const { id } = await server.begin();
    await query(server.connectionString, 'UPDATE conversations SET is_hidden = true WHERE id = $1', [id]);
    // Events of others may come at any time.
    const told = async () =>
      (await server.call('GET', '/v1/events?limit=100')).body.data.filter((event: unknown) =>
        JSON.stringify(event).includes(id),
      );
    const before = await told();
    server.script(({ tools }) =>
      tools.some(({ name }) => name === 'hand_off_to_work')
        ? { calls: [{ name: 'hand_off_to_work', arguments: { title: 'Work', task: 'Do it' } }] }
        : { calls: [{ name: 'ask_question', arguments: { question: 'Which one?' } }] },
    );
    const turn = (await server.send(id, { message: 'Hi' })).body;
    const waiting = await server.until(`/v1/conversations/${id}`, ({ status }) => status === 'waiting');
    const [{ interaction_id, task_id }] = waiting.open_interactions;
    const listed = await Promise.all(
      ['conversations', 'tasks', 'interactions'].map((name) => server.call('GET', `/v1/${name}?limit=100`)),
    );
    const ids = listed.flatMap(({ body }) => body.data.map((row: { id: string }) => row.id));
    for (const hidden of [id, interaction_id, task_id]) expect(ids).not.toContain(hidden);
    await server.call('POST', `/v1/conversations/${id}/stop`);
    expect(await told()).toEqual(before);
    expect((await server.log(id)).filter(({ turn_id }) => turn_id === turn.id).at(-1)?.type).toBe('turn.settled');
  });
});

describe('a message that interrupts', () => {
  const interrupting = (message: string) => ({ message, when_busy: 'interrupt' });

  it('replaces the current reply and the queued messages, in both modes [CONV-541]', async () => {
    for (const key of [server.testKey, server.liveKey]) {
      server.script(() => ({ text: ['Half a ', 'sentence'], fail: 'hang' }));
      const { id, turn_id } = await server.begin({ message: 'Hi' }, key);
      const queued = (await server.send(id, { message: 'And this' }, { key })).body;
      await server.until(
        `/v1/conversations/${id}/events?format=json`,
        ({ data }) => JSON.stringify(data).includes('sentence'),
        key,
      );
      server.script(({ messages }) => ({ text: JSON.stringify(messages).includes('And this') ? 'Both.' : 'One.' }));
      const turn = await server.tell(id, interrupting('Rather this'), key);
      expect([turn.status, turn.reply.text]).toEqual(['settled', 'Both.']);
      const { body } = await server.call('GET', `/v1/conversations/${id}/events?format=json&limit=100`, { key });
      const settled = body.data.filter(({ type }: { type: string }) => type === 'turn.settled');
      expect(settled.map((event: ApiResponse['body']) => [event.turn_id, event.data.turn.status])).toEqual([
        [turn_id, 'stopped'],
        [queued.id, 'stopped'],
        [turn.id, 'settled'],
      ]);
      expect(await server.show(id, key)).toMatchObject({ status: 'idle' });
    }
  });

  it('stops only the current reply: tasks and open questions continue [CONV-542]', async () => {
    server.script((request) => {
      const text = lastText(request);
      if (resultsIn(request).length > 0 || text.includes('By the way')) return { text: 'Noted.' };
      if (!text.includes('Ask me')) return { fail: 'hang' };
      return { calls: [{ name: 'ask_question', arguments: { question: 'Which one?' } }] };
    });
    const { id } = await server.begin();
    await server.send(id, { message: 'Work', hand_off: 'always' });
    const asking = (await server.send(id, { message: 'Ask me' })).body;
    const path = `/v1/conversations/${id}`;
    const open = await server.until(path, ({ open_interactions: [asked] }) => asked !== undefined);
    const hanging = (await server.send(id, { message: 'Hang on' })).body;
    const turn = await server.tell(id, interrupting('By the way'));
    expect(turn.reply.text).toBe('Noted.');
    const stopped = (await server.log(id)).filter(({ data }) => data.turn?.status === 'stopped');
    expect(stopped.map(({ turn_id }) => turn_id)).toEqual([hanging.id]);
    expect(await server.show(id)).toMatchObject({
      open_work: [{ status: 'working' }],
      open_interactions: open.open_interactions,
    });
    const answer = { body: { answers: ['The red one'] } };
    await server.call('POST', `/v1/interactions/${open.open_interactions[0].interaction_id}/answer`, answer);
    const log = await server.until(`${path}/events?format=json&limit=100`, ({ data }) =>
      data.some((event: ApiResponse['body']) => event.type === 'turn.settled' && event.turn_id === asking.id),
    );
    expect(log.data.filter(({ type }: { type: string }) => type === 'task.stopped')).toEqual([]);
    await server.call('POST', `${path}/stop`);
  });

  it('interrupts nothing when it is refused, and only once when it is sent twice [CONV-543]', async () => {
    server.script(() => ({ text: ['Slow'], fail: 'hang' }));
    const { id, turn_id } = await server.begin({ message: 'Hi' });
    const path = `/v1/conversations/${id}`;
    for (const [body, code] of [
      [{ message: 'x', when_busy: 'push' }, 'invalid_request'],
      [{ when_busy: 'interrupt' }, 'message_required'],
      [{ ...interrupting('x'), output_schema: { type: 'nothing' } }, 'output_schema_invalid'],
    ] as const) {
      expect(codeOf(await server.send(id, body))[1]).toBe(code);
    }
    expect((await server.log(id)).filter(({ type }) => type === 'turn.settled')).toEqual([]);
    server.script(() => ({ fail: 'hang' }));
    const headers = { 'idempotency-key': 'one interruption' };
    const sent = await Promise.all([1, 2].map(() => server.send(id, interrupting('Now'), { headers })));
    const taken = sent.filter(({ status }) => status === 202).map(({ body }) => body.id);
    expect(new Set(taken).size).toBe(1);
    const settled = (await server.log(id)).filter(({ type }) => type === 'turn.settled');
    expect(settled.map((event) => event.turn_id)).toEqual([turn_id]);
    const messages = (await server.messages(id)).filter(({ role }) => role === 'user');
    expect(messages.map(({ text }) => text)).toEqual(['Hi', 'Now']);
    await server.call('POST', `${path}/stop`);
  });

  it('is answered as the last of many that interrupt each other, and all of them settle [CONV-544]', async () => {
    server.script(() => ({ text: 'Hello.' }));
    const { id } = await server.begin();
    const sent = await Promise.all(
      Array.from({ length: 12 }, (_, at) => server.send(id, interrupting(`Message ${at}`))),
    );
    expect(sent.map(({ status }) => status)).toEqual(sent.map(() => 202));
    await server.rest(id);
    const log = await server.log(id);
    const ends = log.filter(({ type }) => type === 'turn.settled');
    expect(new Set(ends.map((event) => event.turn_id)).size).toBe(12);
    expect(ends).toHaveLength(12);
    expect(ends.at(-1)?.data.turn).toMatchObject({ status: 'settled', reply: { text: 'Hello.' } });
  });

  it('may be sent by a session [CONV-545, SES-102]', async () => {
    server.script((request) => (lastText(request).includes('Wait') ? { text: 'Yes?' } : { fail: 'hang' }));
    const { body: session } = await server.call('POST', '/v1/sessions', { body: { user_id: 'ivy', chat: true } });
    const id = session.conversation_id;
    const first = (await server.send(id, { message: 'Hi' }, { key: session.token })).body;
    const turn = await server.tell(id, interrupting('Wait'), session.token);
    expect(turn.reply.text).toBe('Yes?');
    const ends = (await server.log(id)).filter(({ type }) => type === 'turn.settled');
    expect(ends.map(({ data }) => [data.turn.id, data.turn.status])).toEqual([
      [first.id, 'stopped'],
      [turn.id, 'settled'],
    ]);
  });
});
