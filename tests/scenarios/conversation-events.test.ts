import { randomInt } from 'node:crypto';
import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StreamEvent } from '../support/agent.ts';
import { startTestServer } from '../support/server.ts';
import { codeOf, door, startTalk, type Talk, typesOf } from './conversations.fixture.ts';

let server: Talk;
beforeAll(async () => {
  server = await startTalk();
});
afterAll(() => server.stop());

const pathOf = (id: string, search = '') => `/v1/conversations/${id}/events${search}`;
const seqsOf = (events: readonly StreamEvent[]) => events.map(({ seq }) => seq);
const countTo = (last: number, from = 1) => Array.from({ length: last - from + 1 }, (_, at) => from + at);
const isSettled = ({ type }: StreamEvent) => type === 'turn.settled';

/** Follows from some point to the end of the log as it is now. */
async function follow(id: string, options: { search?: string; headers?: Record<string, string>; to: number }) {
  const stream = await server.stream('GET', pathOf(id, options.search), { headers: options.headers ?? {} });
  await stream.waitFor(({ seq }) => seq === options.to);
  stream.close();
  return stream.seen;
}

async function talked(...messages: string[]): Promise<{ id: string; last: number }> {
  server.script(() => ({ text: ['Good ', 'morning', '.'], chunkDelayMs: 1 }));
  const { id } = await server.begin();
  for (const message of messages) await server.tell(id, message);
  return { id, last: (await server.show(id)).last_event_seq };
}

describe('the events of a conversation', () => {
  it('arrive as a stream, each with its seq, its type and the whole event [EVT-001, EVT-006, EVT-009, EVT-010, EVT-012, EVT-023, EVT-024]', async () => {
    const { id, last } = await talked('Hi', 'Again');
    const stream = await server.stream('GET', pathOf(id));
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    await stream.waitFor(({ seq }) => seq === last);
    stream.close();
    expect(seqsOf(stream.seen)).toEqual(countTo(last));
    const { deployment_id } = await server.show(id);
    for (const event of stream.seen) {
      expect(event).toEqual({
        object: 'event',
        id: expect.stringMatching(/^evt_/),
        type: event.type,
        seq: event.seq,
        conversation_id: id,
        task_id: null,
        turn_id: event.type === 'conversation.status' ? null : expect.stringMatching(/^turn_/),
        deployment_id,
        created_at: expect.any(String),
        data: expect.any(Object),
      });
    }
    expect(new Set(stream.seen.map((event) => event.id)).size).toBe(last);
    expect(await server.log(id)).toEqual(stream.seen);
  });

  it('resume after `Last-Event-ID` or `after`, and start from the first without either [EVT-002, EVT-024, EVT-025]', async () => {
    const { id, last } = await talked('Hi');
    const from = (after: number) => countTo(last, after + 1);
    expect(seqsOf(await follow(id, { to: last }))).toEqual(from(0));
    expect(seqsOf(await follow(id, { to: last, headers: { 'last-event-id': '0' } }))).toEqual(from(0));
    expect(seqsOf(await follow(id, { to: last, headers: { 'last-event-id': '3' } }))).toEqual(from(3));
    expect(seqsOf(await follow(id, { to: last, search: '?after=2' }))).toEqual(from(2));
    const both = { to: last, search: '?after=1', headers: { 'last-event-id': '4' } };
    expect(seqsOf(await follow(id, both))).toEqual(from(4));
  });

  it.each(['-1', '1.5', 'x', '01', '1e3', '9'.repeat(16), '0x1'])('do not resume after %j [EVT-003]', async (given) => {
    const { id } = await server.begin();
    const answer = await server.call('GET', pathOf(id), { headers: { 'last-event-id': given } });
    expect(codeOf(answer)).toEqual([400, 'invalid_last_event_id']);
    expect(codeOf(await server.call('GET', pathOf(id, `?after=${given}`)))).toEqual([400, 'invalid_query']);
  });

  it('after the seq that a read has shown miss nothing [CONV-009]', async () => {
    const gate = door();
    server.script(async () => {
      await gate.opened;
      return { text: ['a', 'b', 'c'] };
    });
    const { id } = await server.begin({ message: 'Hi' });
    const { last_event_seq } = await server.show(id);
    expect(last_event_seq).toBe((await server.log(id)).at(-1)?.seq);
    const stream = await server.stream('GET', pathOf(id, `?after=${last_event_seq}`));
    gate.open();
    await stream.waitFor(isSettled);
    await server.rest(id);
    stream.close();
    expect(stream.seen[0]?.seq).toBe(last_event_seq + 1);
  });

  it('are listed as JSON, by pages [EVT-005, EVT-013]', async () => {
    const { id, last } = await talked('Hi', 'Again');
    const all: StreamEvent[] = [];
    let after: number | null = 0;
    let pages = 0;
    while (after !== null) {
      const { body } = await server.call('GET', pathOf(id, `?format=json&limit=3&after=${after}`));
      expect(Object.keys(body)).toEqual(['data', 'next_after']);
      all.push(...body.data);
      after = body.next_after;
      pages += 1;
      if (after !== null) expect(after).toBe(all.at(-1)?.seq);
    }
    expect([seqsOf(all), pages]).toEqual([countTo(last), Math.ceil(last / 3)]);
    const exact = await server.call('GET', pathOf(id, `?format=json&limit=${last}`));
    expect([exact.body.data.length, exact.body.next_after]).toEqual([last, null]);
    const beyond = await server.call('GET', pathOf(id, `?format=json&after=${last}`));
    expect(beyond.body).toEqual({ data: [], next_after: null });
    for (const search of ['?format=json&limit=0', '?format=json&limit=101', '?format=xml', '?after=']) {
      expect((await server.call('GET', pathOf(id, search))).status).toBe(400);
    }
  });

  it('of one task contain no others, on the stream and by pages [EVT-004]', async () => {
    server.script(() => ({ text: 'Done.' }));
    const { id } = await server.begin();
    const turns = [];
    for (const message of ['one', 'two']) turns.push(await server.tell(id, { message, hand_off: 'always' }));
    const [{ task_id }, other] = turns;
    const stream = await server.stream('GET', pathOf(id, `?task_id=${task_id}`));
    await stream.waitFor(({ type }) => type === 'task.completed');
    stream.close();
    expect(new Set(stream.seen.map((event) => event.task_id))).toEqual(new Set([task_id]));
    const { body } = await server.call('GET', pathOf(id, `?format=json&limit=100&task_id=${other.task_id}`));
    expect(new Set(body.data.map((event: StreamEvent) => event.task_id))).toEqual(new Set([other.task_id]));
    expect(typesOf(stream.seen)).toEqual(['task.started', 'reply.delta', 'reply.completed', 'task.completed']);
    const elsewhere = await server.begin();
    for (const [conversation, task, status, code] of [
      [id, 'task_1', 400, 'invalid_task_id'],
      [id, newId('task'), 404, 'task_not_found'],
      [elsewhere.id, task_id, 404, 'task_not_found'],
    ]) {
      for (const search of [`?task_id=${task}`, `?format=json&task_id=${task}`]) {
        expect(codeOf(await server.call('GET', pathOf(conversation, search)))).toEqual([status, code]);
      }
    }
  });
});

describe('the content of events', () => {
  it('of a reply: its turn, its text as it is typed, and the message [CONV-018, EVT-007, EVT-014, EVT-015]', async () => {
    const gate = door();
    server.script(async () => {
      await gate.opened;
      return { text: ['Good ', 'morn', 'ing', '.'], chunkDelayMs: 60 };
    });
    const opening = server.stream('POST', '/v1/conversations', { body: { message: 'Hi', stream: true } });
    gate.open();
    const stream = await opening;
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    const events = await stream.events;
    const deltas = events.filter(({ type }) => type === 'reply.delta');
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.map(({ data }) => data.text).join('')).toBe('Good morning.');
    const { conversation_id } = events[0] as StreamEvent;
    const [, message] = await server.messages(conversation_id);
    expect(events[0]).toMatchObject({ type: 'turn.started', data: { turn: { status: 'replying', reply: null } } });
    expect(events.at(-2)).toMatchObject({ type: 'reply.completed', data: { message } });
    expect(new Set(deltas.map(({ data }) => data.message_id))).toEqual(new Set([message.id]));
    expect(events.at(-1)).toMatchObject({
      type: 'turn.settled',
      data: { turn: { id: message.turn_id, status: 'settled', reply: { text: 'Good morning.', data: null } } },
    });
  });

  it('of work: its start, plan, steps, files, answer and one end [EVT-007, EVT-016, EVT-017, EVT-020]', async () => {
    const steps = [{ content: 'Write', status: 'in_progress' }];
    server.script(({ messages }) => {
      const results = messages.filter(({ role }) => role === 'tool').length;
      if (results === 0) return { calls: [{ name: 'update_plan', arguments: { title: 'Report', steps } }] };
      if (results === 1) return { calls: [{ name: 'save_output', arguments: { filename: 'r.md', content: '# R' } }] };
      return { text: 'Here it is.' };
    });
    const { id } = await server.begin();
    const turn = await server.tell(id, { message: 'Write', hand_off: 'always' });
    const ofTask = (await server.log(id)).filter(({ task_id }) => task_id === turn.task_id);
    expect(typesOf(ofTask)).toEqual([
      'task.started',
      'task.progress',
      'task.step',
      'file.created',
      'task.step',
      'reply.delta',
      'reply.completed',
      'task.completed',
    ]);
    const [started, progress, , file, step, , , completed] = ofTask.map(({ data }) => data);
    expect(started.task).toMatchObject({ id: turn.task_id, status: 'working' });
    expect(progress).toMatchObject({ title: 'Report', progress: steps });
    expect(file.file).toMatchObject({ filename: 'r.md', task_id: turn.task_id, source: 'output' });
    const trace = (await server.call('GET', `/v1/tasks/${turn.task_id}/trace`)).body;
    expect(step.step).toEqual(trace.steps[1]);
    expect(completed.task).toMatchObject({ status: 'done', result: { text: 'Here it is.' } });
  });

  it('of work that fails, and of work that a limit stops, the one end each [EVT-017]', async () => {
    await server.apply({ name: 'limited', memory: 'none', limits: { max_steps: 1 } });
    const ends: Record<string, string[]> = {};
    for (const deployment of ['desk', 'limited']) {
      server.script(() =>
        deployment === 'desk'
          ? { fail: 400 }
          : { calls: [{ name: 'save_output', arguments: { filename: 'r.md', content: '# R' } }] },
      );
      const { id } = await server.begin({ deployment });
      await server.tell(id, { message: 'Write', hand_off: 'always' });
      ends[deployment] = typesOf(await server.log(id)).filter((type) =>
        /^task\.(completed|failed|stopped)$/.test(type),
      );
    }
    expect(ends).toEqual({ desk: ['task.failed'], limited: ['task.stopped'] });
  });

  it('of waiting: that it began and how it ended [EVT-018]', async () => {
    server.script(({ messages }) =>
      messages.some(({ role }) => role === 'tool')
        ? { text: 'Thanks.' }
        : { calls: [{ name: 'ask_question', arguments: { question: 'Which one?' } }] },
    );
    const { id } = await server.begin({ message: 'Help' });
    const stream = await server.stream('GET', pathOf(id));
    const { data } = await stream.waitFor(({ type }) => type === 'interaction.created');
    const shown = (await server.call('GET', `/v1/interactions/${data.interaction.id}`)).body;
    expect(data.interaction).toEqual(shown);
    await server.call('POST', `/v1/interactions/${shown.id}/answer`, { body: { answers: ['This.'] } });
    const resolved = await stream.waitFor(({ type }) => type === 'interaction.resolved');
    expect(resolved.data.interaction).toMatchObject({
      id: shown.id,
      status: 'resolved',
      outcome: { answers: ['This.'] },
    });
    await stream.waitFor(isSettled);
    stream.close();
  });
});

describe('a reader whose connection is cut', () => {
  it('gets every event once, even if it is cut while replies stream [EVT-008]', async () => {
    server.script(() => ({ text: Array.from({ length: 60 }, (_, at) => `${at} `), chunkDelayMs: 4 }));
    const { id } = await server.begin({ message: 'one' });
    const queued = await server.send(id, { message: 'two' });
    const got: StreamEvent[] = [];
    const isOver = () => got.some((event) => isSettled(event) && event.turn_id === queued.body.id);
    while (!isOver()) {
      const headers: Record<string, string> = got.length === 0 ? {} : { 'last-event-id': String(got.at(-1)?.seq) };
      const stream = await server.stream('GET', pathOf(id), { headers });
      const most = randomInt(1, 9);
      await stream.waitFor(() => stream.seen.length >= most || stream.seen.some(isSettled));
      stream.close();
      await stream.events;
      got.push(...stream.seen);
    }
    expect(seqsOf(got)).toEqual(countTo(got.length));
    const said = got.filter(({ type }) => type === 'reply.delta').map(({ data }) => data.text);
    expect(said.join('')).toBe(Array.from({ length: 120 }, (_, at) => `${at % 60} `).join(''));
    await server.rest(id);
    expect((await server.log(id)).slice(0, got.length)).toEqual(got);
  });

  it('and one that never was read the same log as many at once [EVT-008]', async () => {
    const gate = door();
    server.script(async () => {
      await gate.opened;
      return { text: Array.from({ length: 30 }, (_, at) => `${at} `), chunkDelayMs: 2 };
    });
    const { id } = await server.begin({ message: 'Hi' });
    const streams = await Promise.all(Array.from({ length: 20 }, () => server.stream('GET', pathOf(id))));
    gate.open();
    await server.rest(id);
    const log = await server.log(id);
    for (const stream of streams) {
      await stream.waitFor(({ seq }) => seq === log.length);
      stream.close();
      expect(stream.seen).toEqual(log);
    }
  });
});

describe('writers at once', () => {
  it('leave no gap in the seqs: messages, work, replies, answers and a stop on one conversation [EVT-006, EVT-012]', async () => {
    server.script(({ messages }) => {
      const isAsked = /ask/.test(JSON.stringify(messages.at(-1)));
      if (isAsked) return { calls: [{ name: 'ask_question', arguments: { question: 'Which one?' } }] };
      return { text: ['a', 'b', 'c', 'd'], chunkDelayMs: 2 };
    });
    const { id } = await server.begin();
    const sends = Array.from({ length: 24 }, (_, at) =>
      server.send(id, { message: at % 4 === 0 ? 'ask' : 'say', hand_off: at % 3 === 0 ? 'always' : 'auto' }),
    );
    const turns = (await Promise.all(sends)).map(({ body }) => body.id);
    await server.until(pathOf(id, '?format=json&limit=100'), ({ data }) => data.length >= 60);
    await server.call('POST', `/v1/conversations/${id}/stop`);
    const { last_event_seq } = await server.rest(id);
    const log = await server.log(id);
    expect(seqsOf(log)).toEqual(countTo(last_event_seq));
    for (const turn of turns) {
      const own = typesOf(log.filter(({ turn_id }) => turn_id === turn));
      expect([own[0], own.at(-1)]).toEqual(['turn.started', 'turn.settled']);
      expect(own.filter((type) => type === 'turn.settled')).toHaveLength(1);
    }
  });
});

describe('an open stream', () => {
  it('ends when its key is revoked, and others continue', async () => {
    const { body: made } = await server.call('POST', '/v1/keys', { body: { name: 'short', scopes: ['runtime'] } });
    const { id } = await server.begin();
    const [own, other] = await Promise.all([
      server.stream('GET', pathOf(id), { key: made.key }),
      server.stream('GET', pathOf(id)),
    ]);
    expect((await server.call('DELETE', `/v1/keys/${made.id}`)).status).toBe(200);
    expect(await own.events).toEqual([]);
    server.script(() => ({ text: 'Hello.' }));
    await server.tell(id, 'Hi');
    await other.waitFor(isSettled);
    other.close();
  });

  it('ends with `stream.closed` when the time of a stopping server is over, as does a call that waits for its turn [EVT-670]', async () => {
    const beside = await startTestServer({
      beside: server,
      env: {
        VESTRA_ROLE: 'api',
        VESTRA_STOP_SECONDS: '2',
        OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:9',
        OPENAI_COMPATIBLE_MODELS: 'scripted',
        VESTRA_DEFAULT_MODEL: 'compatible/scripted',
      },
    });
    const gate = door();
    server.script(async () => {
      await gate.opened;
      return { text: 'Hello.' };
    });
    const { id } = await server.begin({ message: 'one' });
    const stream = await fetch(`${beside.url}${pathOf(id)}`, {
      headers: { authorization: `Bearer ${server.testKey}`, connection: 'close' },
    });
    const waiting = beside.call('POST', `/v1/conversations/${id}/messages`, {
      body: { message: 'two' },
      headers: { prefer: 'wait=120', connection: 'close' },
    });
    await server.until(`/v1/conversations/${id}/messages`, ({ data }) => data.length === 2);
    const stopped = beside.stop();
    expect(await stream.text()).toMatch(/event: turn\.started[\s\S]+event: stream\.closed\n.+\n\n$/);
    expect((await waiting).status).toBe(202);
    await stopped;
    gate.open();
    await server.rest(id);
  });
});
