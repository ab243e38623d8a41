import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { makeOtherOrg } from '../support/other-org.ts';
import { isOneProcess } from '../support/server.ts';
import {
  askedFor,
  codeOf,
  desk,
  door,
  heardSince,
  payOrg,
  spoken,
  startTalk,
  type Talk,
  typesOf,
} from './conversations.fixture.ts';

let server: Talk;
beforeAll(async () => {
  server = await startTalk();
});
afterAll(() => server.stop());

const wait = (seconds: number | string) => ({ prefer: `wait=${seconds}` });

/** Answers `Re: <message>`, and nothing before the door is open. */
function answerBehind(gate: { opened: Promise<void> }): void {
  server.script(async (request) => {
    await gate.opened;
    return { text: `Re: ${askedFor(request)}` };
  });
}

describe('PostgreSQL statements of a turn', () => {
  it.runIf(isOneProcess)('are bounded in number and sent in few groups [MSG-040]', async () => {
    server.script(() => ({ text: 'Hello.' }));
    const turn = async () => {
      const { id } = await server.begin({ user_id: 'counted', deployment: 'desk' });
      const { events } = await server.stream('POST', `/v1/conversations/${id}/messages`, {
        body: { message: 'Hi', stream: true },
      });
      await events;
    };
    // The first ones prepare statements and fill caches.
    for (let at = 0; at < 5; at++) await turn();
    const sent = vi.spyOn(pg.Client.prototype, 'query');
    const executed = vi.spyOn(pg.Connection.prototype, 'execute');
    const groups: number[] = [];
    const statements: number[] = [];
    for (let at = 0; at < 21 || (at < 200 && Math.min(...groups) > 4); at++) {
      sent.mockClear();
      executed.mockClear();
      await turn();
      groups.push(sent.mock.calls.length);
      statements.push(executed.mock.calls.length);
    }
    sent.mockRestore();
    executed.mockRestore();
    // Background work of the process only adds to a turn's count, on a busy machine for most turns. Wait for the
    // smallest count: that is the turn's own.
    const [ownGroups, ownStatements] = [Math.min(...groups), Math.min(...statements)];
    expect(ownGroups).toBeGreaterThanOrEqual(3);
    expect(ownGroups).toBeLessThanOrEqual(4);
    expect(ownStatements).toBeGreaterThan(8);
    expect(ownStatements).toBeLessThanOrEqual(12);
  });
});

describe('sending a message', () => {
  it('returns the turn at once, with null for missing values [MSG-018, MSG-023, MSG-037]', async () => {
    const gate = door();
    answerBehind(gate);
    const { id } = await server.begin();
    const { status, body, headers } = await server.send(id, { message: 'Hi' });
    expect([status, headers.get('preference-applied')]).toEqual([202, null]);
    expect(body).toEqual({
      object: 'turn',
      id: expect.stringMatching(/^turn_/),
      conversation_id: id,
      status: 'replying',
      reply: null,
      acknowledgement: null,
      task_id: null,
      interactions: [],
      error: null,
      cost_usd: 0,
      created_at: expect.any(String),
      settled_at: null,
    });
    gate.open();
    await server.rest(id);
  });

  it('returns the settled turn to a request that waits for it [MSG-019, MSG-020, MSG-023, MSG-024, MSG-025]', async () => {
    server.script(() => ({ text: ['Good ', 'morning.'], usage: { inputTokens: 1000, outputTokens: 500 } }));
    const { id } = await server.begin();
    const { status, body, headers } = await server.send(id, { message: 'Hi' }, { headers: wait(60) });
    expect([status, headers.get('preference-applied')]).toEqual([200, 'wait=60']);
    expect(body).toMatchObject({
      status: 'settled',
      reply: { text: 'Good morning.', data: null },
      acknowledgement: null,
      error: null,
      cost_usd: 0.003,
      settled_at: expect.any(String),
    });
  });

  it('answers the unsettled turn when the time is over [MSG-023, MSG-024, MSG-025]', async () => {
    const gate = door();
    answerBehind(gate);
    const { id } = await server.begin();
    const { status, body, headers } = await server.send(id, { message: 'Hi' }, { headers: wait(1) });
    expect([status, body.status, headers.get('preference-applied')]).toEqual([202, 'replying', 'wait=1']);
    gate.open();
    await server.rest(id);
  });

  it.each([
    ['wait=0', 'wait=1'],
    ['wait=121', 'wait=120'],
    ['wait=1000', 'wait=120'],
  ])('limits `Prefer: %s` to the allowed range, and reports it [MSG-241]', async (prefer, applied) => {
    server.script(() => ({ text: 'Hello.' }));
    const { id } = await server.begin();
    const { headers } = await server.send(id, { message: 'Hi' }, { headers: { prefer } });
    expect(headers.get('preference-applied')).toBe(applied);
    await server.rest(id);
  });

  it('returns to a waiting request as soon as the turn waits for the user, newest first [MSG-241, MSG-242]', async () => {
    server.script((request) =>
      heardSince(request).length > 0
        ? { text: 'Late answer.' }
        : askedFor(request) === 'Shoes'
          ? { calls: [{ name: 'ask_question', arguments: { question: 'Which size?' } }] }
          : { text: 'At once.' },
    );
    const { id } = await server.begin();
    const { status, body } = await server.send(id, { message: 'Shoes' }, { headers: wait(120) });
    expect([status, body.status, body.interactions.length]).toEqual([202, 'waiting', 1]);
    await server.tell(id, 'And a hat');
    await server.call('POST', `/v1/interactions/${body.interactions[0]}/answer`, { body: { answers: ['43'] } });
    await server.rest(id);
    const texts = (await server.messages(id)).map(({ text }) => text);
    expect(texts).toEqual(['Shoes', 'And a hat', 'At once.', 'Late answer.']);
    const paged: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await server.call('GET', `/v1/conversations/${id}/messages?limit=1${cursor && `&cursor=${cursor}`}`);
      paged.push(...page.body.data.map(({ text }: { text: string }) => text));
      cursor = page.body.next_cursor;
    }
    expect(paged).toEqual(texts.reverse());
  });

  it.each(['wait=-5', 'wait=1.5', 'wait=', 'wait', 'waiting=5', 'xwait=5', 'return=minimal', ''])(
    'treats `Prefer: %s` as no wait [MSG-024]',
    async (prefer) => {
      const gate = door();
      answerBehind(gate);
      const { id } = await server.begin();
      const { status, headers } = await server.send(id, { message: 'Hi' }, { headers: { prefer } });
      expect([status, headers.get('preference-applied')]).toEqual([202, null]);
      gate.open();
      await server.rest(id);
    },
  );

  it.each(['respond-async, wait=30', 'wait=30; foo=bar', 'return=minimal,wait=30', 'Wait=30'])(
    'finds the wish to wait in `Prefer: %s` [MSG-024]',
    async (prefer) => {
      server.script(() => ({ text: 'Hello.' }));
      const { id } = await server.begin();
      const { status, headers } = await server.send(id, { message: 'Hi' }, { headers: { prefer } });
      expect([status, headers.get('preference-applied')]).toEqual([200, 'wait=30']);
    },
  );

  it('returns the failure of a turn to a request that waits for it [MSG-019]', async () => {
    server.script(() => ({ fail: 400, failMessage: 'no such thing' }));
    const { id } = await server.begin();
    const { status, body } = await server.send(id, { message: 'Hi' }, { headers: wait(60) });
    expect([status, body.status, body.reply, body.error?.code]).toEqual([200, 'failed', null, 'model_error']);
    expect((await server.show(id)).status).toBe('idle');
    server.script(() => ({ text: 'Better now.' }));
    expect((await server.tell(id, 'Again')).reply.text).toBe('Better now.');
  });
});

describe('messages sent during a reply', () => {
  it('are answered after it, in order, each with all that came before [MSG-026]', async () => {
    const gate = door();
    answerBehind(gate);
    const { id } = await server.begin({ message: 'zero' });
    const words = ['one', 'two', 'three', 'four', 'five'];
    const sent = await Promise.all(
      words.map(async (message) => ({ message, turn: (await server.send(id, { message })).body })),
    );
    expect(sent.map(({ turn }) => turn.status)).toEqual(Array(5).fill('replying'));
    expect(server.asked.length).toBeLessThanOrEqual(1);
    gate.open();
    await server.rest(id);
    // Five at once come in any order; each was given its place when it was taken.
    const inOrder = [
      'zero',
      ...sent.toSorted((a, b) => (a.turn.id < b.turn.id ? -1 : 1)).map(({ message }) => message),
    ];
    expect(server.asked.map(askedFor)).toEqual(inOrder);
    for (const [at, request] of server.asked.entries()) {
      expect(spoken(request)).toEqual([...inOrder.slice(0, at).flatMap((word) => [word, `Re: ${word}`]), inOrder[at]]);
    }
    const settled = (await server.log(id)).filter(({ type }) => type === 'turn.settled');
    expect(settled.map(({ data }) => data.turn.reply.text)).toEqual(inOrder.map((word) => `Re: ${word}`));
    // All were sent before the first answer came.
    expect((await server.messages(id)).map(({ text }) => text)).toEqual([
      ...inOrder,
      ...inOrder.map((word) => `Re: ${word}`),
    ]);
  });

  it('are streamed from the start of their own turn [MSG-015, MSG-026]', async () => {
    const gate = door();
    answerBehind(gate);
    const { id } = await server.begin({ message: 'first' });
    const stream = await server.stream('POST', `/v1/conversations/${id}/messages`, {
      body: { message: 'second', stream: true },
    });
    gate.open();
    const events = await stream.events;
    expect(new Set(events.map(({ turn_id }) => turn_id)).size).toBe(1);
    expect([events[0]?.type, events.at(-1)?.type]).toEqual(['turn.started', 'turn.settled']);
    expect(events.at(-1)?.data.turn.reply.text).toBe('Re: second');
  });

  it('are processed after a reply that failed [MSG-026]', async () => {
    const gate = door();
    server.script(async (request) => {
      await gate.opened;
      return askedFor(request) === 'break' ? { fail: 400 } : { text: 'Fine.' };
    });
    const { id, turn_id } = await server.begin({ message: 'break' });
    const next = server.send(id, { message: 'next' }, { headers: wait(60) });
    gate.open();
    expect((await next).body).toMatchObject({ status: 'settled', reply: { text: 'Fine.' } });
    const settled = (await server.log(id)).filter(({ type }) => type === 'turn.settled');
    expect(settled.map(({ turn_id: of, data }) => [of === turn_id, data.turn.status])).toEqual([
      [true, 'failed'],
      [false, 'settled'],
    ]);
  });
});

describe('a message that a task handles', () => {
  it('is acknowledged, and settles when the work ends with the work’s answer [MSG-020, MSG-021, MSG-036]', async () => {
    const gate = door();
    server.script(async ({ tools }) => {
      if (tools.some(({ name }) => name === 'hand_off_to_work')) {
        return {
          text: 'I look it up.',
          calls: [{ name: 'hand_off_to_work', arguments: { title: 'Look', task: 'Up' } }],
        };
      }
      await gate.opened;
      return { text: 'It is 42.' };
    });
    const { id } = await server.begin();
    const { status, body: early } = await server.send(id, { message: 'How much?' }, { headers: wait(1) });
    expect([status, early]).toMatchObject([
      202,
      { status: 'working', reply: null, acknowledgement: 'I look it up.', task_id: expect.stringMatching(/^task_/) },
    ]);
    gate.open();
    await server.rest(id);
    const { data } = (await server.log(id)).findLast(({ type }) => type === 'turn.settled') ?? { data: null };
    expect(data.turn).toMatchObject({
      id: early.id,
      status: 'settled',
      reply: { text: 'It is 42.', data: null },
      acknowledgement: 'I look it up.',
      task_id: early.task_id,
    });
    expect((await server.messages(id)).map(({ role, text, task_id }) => [role, text, task_id])).toEqual([
      ['user', 'How much?', null],
      ['agent', 'I look it up.', null],
      ['work', 'It is 42.', early.task_id],
    ]);
  });

  it('holds up nothing: the next is answered at once, by an agent that knows of the work [MSG-027, MSG-028]', async () => {
    const gate = door();
    const isReply = ({ tools }: (typeof server.asked)[number]) => tools.some(({ name }) => name === 'hand_off_to_work');
    server.script(async (request) => {
      const { messages } = request;
      if (!isReply(request)) {
        await gate.opened;
        return { text: 'Flown.' };
      }
      return messages.length === 1
        ? { text: 'On it.', calls: [{ name: 'hand_off_to_work', arguments: { title: 'Fly to Mars', task: 'Fly' } }] }
        : { text: 'Still flying.' };
    });
    const { id, turn_id } = await server.begin({ message: 'Fly to Mars' });
    await server.until(`/v1/conversations/${id}`, ({ open_work: [work] }) => work?.status === 'working');
    const answered = await server.tell(id, 'How does it go?');
    expect(answered).toMatchObject({ status: 'settled', reply: { text: 'Still flying.' } });
    // The work itself may ask the model after the reply did.
    expect(server.asked.findLast(isReply)?.passing).toMatch(/of="open work">\n- Work 1, Fly to Mars: working/);
    expect((await server.show(id)).status).toBe('working');
    gate.open();
    await server.rest(id);
    expect(server.asked.filter(({ passing }) => /Fly to Mars/.test(passing))).toHaveLength(1);
    const settled = (await server.log(id)).filter(({ type }) => type === 'turn.settled').map((event) => event.turn_id);
    expect(settled).toEqual([answered.id, turn_id]);
  });

  it('lists the ids of its pending interactions [MSG-019, MSG-022]', async () => {
    server.script(({ messages }) =>
      messages.some(({ role }) => role === 'tool')
        ? { text: 'Thank you.' }
        : { calls: [{ name: 'ask_question', arguments: { question: 'Which one?' } }] },
    );
    const { id } = await server.begin();
    const { status, body } = await server.send(id, { message: 'Help' }, { headers: wait(1) });
    const { open_interactions } = await server.show(id);
    expect([status, body.status]).toEqual([202, 'waiting']);
    expect(body.interactions).toEqual(open_interactions.map((each: { interaction_id: string }) => each.interaction_id));
    expect(body.interactions).toHaveLength(1);
    await server.call('POST', `/v1/interactions/${body.interactions[0]}/answer`, { body: { answers: ['That.'] } });
    await server.rest(id);
  });
});

describe('a message sent twice with one key', () => {
  const keyed = () => ({ 'idempotency-key': randomUUID() });

  it('is one turn and one call of the model, one after the other or at once', async () => {
    server.script(() => ({ text: 'Once.' }));
    const { id } = await server.begin();
    const headers = keyed();
    const all = await Promise.all([1, 2, 3, 4].map(() => server.send(id, { message: 'Hi' }, { headers })));
    await server.rest(id);
    all.push(await server.send(id, { message: 'Hi' }, { headers }));
    expect(new Set(all.map(({ text }) => text)).size).toBe(1);
    expect(all.map((each) => each.headers.get('idempotent-replayed')).filter((each) => each === 'true')).toHaveLength(
      4,
    );
    expect(server.asked).toHaveLength(1);
    expect(await server.messages(id)).toHaveLength(2);
    expect(codeOf(await server.send(id, { message: 'Other' }, { headers }))).toEqual([409, 'idempotency_key_reused']);
  });

  it('waits for that turn and answers it as it has become', async () => {
    server.script(() => ({ text: 'Once.' }));
    const { id } = await server.begin();
    const headers = keyed();
    const first = await server.send(id, { message: 'Hi' }, { headers });
    const again = await server.send(id, { message: 'Hi' }, { headers: { ...headers, ...wait(60) } });
    expect([first.status, again.status, again.body.id]).toEqual([202, 200, first.body.id]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(server.asked).toHaveLength(1);
  });

  it.each(['/v1/conversations', 'messages'])(
    'streams that turn again: %s [CONV-018, MSG-015, IDEM-017]',
    async (route) => {
      const gate = door();
      server.script(async () => {
        await gate.opened;
        return { text: ['On', 'ce', '.'], chunkDelayMs: 1 };
      });
      const path = route === 'messages' ? `/v1/conversations/${(await server.begin()).id}/messages` : route;
      const options = { body: { message: 'Hi', stream: true }, headers: keyed() };
      const streams = await Promise.all([1, 2].map(() => server.stream('POST', path, options)));
      gate.open();
      const seen = await Promise.all(streams.map(({ events }) => events));
      const later = await server.stream('POST', path, options);
      seen.push(await later.events);
      expect(later.headers.get('idempotent-replayed')).toBe('true');
      for (const events of seen) {
        expect(events).toEqual(seen[0]);
        expect([events[0]?.type, events.at(-1)?.type]).toEqual(['turn.started', 'turn.settled']);
      }
      expect(typesOf(seen[0] ?? [])).toContain('reply.completed');
      expect(server.asked).toHaveLength(1);
    },
  );

  it('creates one conversation', async () => {
    server.script(() => ({ text: 'Once.' }));
    const headers = keyed();
    const body = { message: 'Hi', user_id: 'twice' };
    const all = await Promise.all([1, 2, 3].map(() => server.call('POST', '/v1/conversations', { body, headers })));
    expect(new Set(all.map(({ body: { id } }) => id)).size).toBe(1);
    const { body: list } = await server.call('GET', '/v1/conversations?user_id=twice');
    expect(list.data).toHaveLength(1);
    await server.rest(list.data[0].id);
    expect(server.asked).toHaveLength(1);
  });

  it('has no effect if it was refused', async () => {
    server.script(() => ({ text: 'Now.' }));
    const { id } = await server.begin({ user_id: 'late' });
    const headers = keyed();
    await server.call('PATCH', '/v1/users/late', { body: { status: 'disabled' } });
    expect(codeOf(await server.send(id, { message: 'Hi' }, { headers }))).toEqual([403, 'user_disabled']);
    await server.call('PATCH', '/v1/users/late', { body: { status: 'active' } });
    const { body } = await server.send(id, { message: 'Hi' }, { headers: { ...headers, ...wait(60) } });
    expect(body.reply.text).toBe('Now.');
  });
});

it.runIf(isOneProcess)('many tasks of one user leave room for another org’s [JOB-241]', async () => {
  const gate = door();
  server.script(async (request) => {
    if (JSON.stringify(request.messages).includes('Take your time')) await gate.opened;
    return { text: 'Done.' };
  });
  // More than a process works on at once.
  const much = { user_id: 'busy', deployment: 'desk', message: 'Take your time', hand_off: 'always' };
  await Promise.all(Array.from({ length: 110 }, () => server.begin(much)));
  const key = await makeOtherOrg(server);
  const { body: org } = await server.call('GET', '/v1/org', { key });
  await payOrg(server, org.id);
  await server.apply(desk, key);
  const quick = await server.begin({ deployment: 'desk', message: 'Quick', hand_off: 'always' }, key);
  await server.until(`/v1/conversations/${quick.id}`, ({ status }) => status === 'idle', key);
  const { body: tasks } = await server.call('GET', `/v1/tasks?conversation_id=${quick.id}`, { key });
  expect(tasks.data).toMatchObject([{ status: 'done', result: { text: 'Done.' } }]);
  const working = await server.call('GET', '/v1/tasks?user_id=busy&status=working&limit=100');
  expect(working.body.data).toHaveLength(32);
  gate.open();
  await server.until('/v1/tasks?user_id=busy&status=queued', ({ data }) => data.length === 0);
  await server.until('/v1/tasks?user_id=busy&status=working', ({ data }) => data.length === 0);
});
