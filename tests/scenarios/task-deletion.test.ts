import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { NormalisedRequest } from '@vestra/models/testing/scripted-answer';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rowsWith } from '../support/marked-rows.ts';
import type { ApiResponse } from '../support/server.ts';
import { calling, type Desk, inTurn, isWaiting, paperDesk, startDesk } from './interactions.fixture.ts';

type Body = ApiResponse['body'];

const line = 'The task and its result were deleted.';

let desk: Desk;
let marker: string;
let count = 0;
const delivered: string[] = [];
const receiver = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  delivered.push(Buffer.concat(chunks).toString());
  // Every delivery is retried, so that the server still has them to send.
  response.writeHead(500).end();
});
beforeAll(async () => {
  desk = await startDesk();
  await desk.apply(paperDesk);
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const endpoint = await desk.call('POST', '/v1/webhooks', { body: { url, events: ['*'] } });
  expect(endpoint.status).toBe(201);
});
beforeEach(() => {
  marker = `quince-lagoon-${count++}`;
});
afterAll(async () => {
  await desk.stop();
  receiver.closeAllConnections();
  receiver.close();
});

async function done(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Body> {
  const answer = await desk.call(method, path, { headers, ...(body !== undefined && { body }) });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`);
  return answer.body;
}

const promptOf = (request: NormalisedRequest | undefined) => JSON.stringify([request?.messages, request?.system]);

/** The last prompt says that the task was deleted, and nothing else of it. */
function expectLineAlone(): void {
  const prompt = promptOf(desk.asked.at(-1));
  expect([line, marker, 'is done'].filter((text) => prompt.includes(text))).toEqual([line]);
}

/** Leaves the marker in every part of a task. */
function script(last: () => ReturnType<typeof calling> = () => ({ text: `${marker} result` })): void {
  desk.script((request) => {
    if (request.tools.some(({ name }) => name === 'hand_off_to_work')) {
      return JSON.stringify(request.messages.at(-1)).includes('Start.')
        ? {
            text: 'On it.',
            calls: [{ name: 'hand_off_to_work', arguments: { title: marker, task: `Find ${marker}.` } }],
          }
        : { text: 'Next.' };
    }
    return inTurn(
      {
        ...calling('update_plan', { steps: [{ content: marker, status: 'pending' }] }),
        thinking: marker,
        text: marker,
      },
      calling('save_output', { filename: `${marker}.md`, content: marker }),
      calling('ask_question', { question: `Is it ${marker}?`, options: [marker, 'Other'] }),
      last(),
    )(request);
  });
}

async function begin(): Promise<{ task: Body; path: string; question: Body }> {
  const { id } = await done('POST', '/v1/conversations', { user_id: 'ann', message: 'Start.' });
  const [question] = await desk.open(id);
  const task = await desk.until(`/v1/tasks/${question.task_id}`, isWaiting);
  return { task, path: `/v1/conversations/${id}`, question };
}

async function finish(): Promise<{ task: Body; path: string; question: Body }> {
  const begun = await begin();
  const { body } = await desk.call('POST', `/v1/interactions/${begun.question.id}/answer`, {
    body: { answers: [marker] },
    headers: { 'idempotency-key': marker },
  });
  expect(body.status).toBe('resolved');
  await desk.rest(begun.task.conversation_id);
  return begun;
}

const say = (path: string, message: string) => done('POST', `${path}/messages`, { message }, { prefer: 'wait=60' });

describe('the deletion of a task', () => {
  it('empties its events and leaves nothing of it in any table, prompt or delivery [DEL-700, DEL-701]', async () => {
    script();
    const { task, path, question } = await finish();
    const { data: messages } = await done('GET', `${path}/messages`);
    const result = messages.find(({ role }: Body) => role === 'work');
    await done('POST', `/v1/messages/${result.id}/feedback`, { rating: 'bad', note: marker });
    const before = await desk.log(task.conversation_id);
    const session = await done('POST', '/v1/sessions', {
      user_id: 'ann',
      conversation_id: task.conversation_id,
      chat: true,
    });
    const stream = await desk.stream('GET', `${path}/events`);
    expect(Object.keys(await rowsWith(desk, marker)).sort()).toEqual(
      expect.arrayContaining(['conversation_events', 'events', 'files', 'messages', 'run_calls', 'tasks', 'turns']),
    );
    await expect.poll(() => delivered.some((each) => each.includes(marker))).toBe(true);

    await done('DELETE', `/v1/tasks/${task.id}`);

    const { audit_entries: _audited, ...left } = await rowsWith(desk, marker);
    expect(left).toEqual({});
    const after = await desk.log(task.conversation_id);
    expect(after.slice(0, before.length).map(({ seq, id, task_id }) => [seq, id, task_id])).toEqual(
      before.map(({ seq, id, task_id }) => [seq, id, task_id]),
    );
    const ofTask = after.filter(({ task_id }) => task_id === task.id);
    expect(ofTask.length).toBeGreaterThan(8);
    for (const { type, data } of ofTask) expect([type, data]).toEqual(['task.deleted', {}]);
    expect(after.find(({ type }) => type === 'turn.settled')?.data.turn).toMatchObject({
      status: 'settled',
      reply: null,
      task_id: task.id,
    });
    const { data: seen } = (await desk.call('GET', `${path}/events?format=json&limit=100`, { key: session.token }))
      .body;
    expect(seen.map(({ seq }: Body) => seq)).toEqual(after.map(({ seq }) => seq));
    expect((await done('GET', `${path}/messages`)).data[0]).toMatchObject({
      role: 'work',
      text: line,
      task_id: task.id,
    });
    expect((await desk.call('GET', `/v1/interactions/${question.id}`)).status).toBe(404);
    expect(await desk.told('task.completed', task.conversation_id)).toEqual([]);
    // A client that follows the conversation hears of it at once, and one that comes late reads no more.
    desk.script(() => ({ text: 'Gone.' }));
    await say(path, 'What came of it?');
    expectLineAlone();
    await stream.waitFor(({ type }) => type === 'task.deleted');
    stream.close();
    const late = await desk.stream('GET', `${path}/events?after=0`);
    await late.waitFor(({ seq }) => seq === after.at(-1)?.seq);
    expect(JSON.stringify(late.seen)).not.toContain(marker);
    late.close();
    // The retries of its deliveries have nothing to send any more.
    const sent = delivered.length;
    const orphans = 'event_id NOT IN (SELECT id FROM events)';
    await desk.sql(`UPDATE webhook_deliveries_pending SET due_at = '-infinity' WHERE ${orphans}`);
    await desk.sql(`SELECT pg_notify('webhook_deliveries', '')`);
    const waiting = () => desk.sql(`SELECT event_type FROM webhook_deliveries_pending WHERE ${orphans}`);
    await expect.poll(waiting, { timeout: 30_000 }).toEqual([]);
    expect(delivered.slice(sent).join()).not.toContain(marker);
  });

  it('that waits or runs reports its stop without content, and the agent knows [DEL-702]', async () => {
    script();
    const { task, path, question } = await begin();
    const since = delivered.length;
    await done('DELETE', `/v1/tasks/${task.id}`);
    const types = (await desk.log(task.conversation_id)).map(({ type }) => type);
    expect(types.slice(-4)).toEqual(['task.stopped', 'turn.settled', 'task.deleted', 'conversation.status']);
    const { audit_entries: _audited, ...left } = await rowsWith(desk, marker);
    expect(left).toEqual({});
    expect(await desk.told('task.stopped', task.conversation_id)).toMatchObject([
      { id: task.id, title: 'Task', ask: '' },
    ]);
    expect(await desk.told('interaction.resolved', task.conversation_id)).toMatchObject([{ id: question.id }]);
    await expect.poll(() => delivered.slice(since).some((each) => each.includes('task.stopped'))).toBe(true);
    expect(
      delivered
        .slice(since)
        .filter((each) => each.includes('task.stopped'))
        .join(),
    ).not.toContain(marker);
    desk.script(() => ({ text: 'Gone.' }));
    await say(path, 'What came of it?');
    expectLineAlone();
  });

  it('answers a repeated message with its turn, and does not send it again [DEL-703]', async () => {
    desk.script(() => ({ text: `${marker} result` }));
    const { id } = await done('POST', '/v1/conversations', { user_id: 'ann' });
    const path = `/v1/conversations/${id}`;
    const send = () =>
      done('POST', `${path}/messages`, { message: 'Do it.', hand_off: 'always' }, { 'idempotency-key': marker });
    const turn = await send();
    await desk.rest(id);
    const { task_id } = await done('GET', `${path}/turns/${turn.id}`);
    await done('DELETE', `/v1/tasks/${task_id}`);
    expect((await send()).id).toBe(turn.id);
    expect((await done('GET', `${path}/messages`)).data).toHaveLength(3);
  });

  /** The first request is rejected as too long, and every summary has the marker. */
  function scriptCompaction(onSummary: () => Promise<void> = async () => {}): void {
    let refusals = 1;
    desk.script(async (request) => {
      if (request.tools.length === 0) {
        await onSummary();
        return { text: `They found ${marker}.` };
      }
      if (refusals-- > 0) return { fail: 400, failCode: 'context_length_exceeded', failMessage: 'too long' };
      return { text: 'Fits now.' };
    });
  }

  it('removes it from summaries, also from one that is being written [DEL-704]', async () => {
    const padding = 'word '.repeat(4_000);
    script();
    const { task, path } = await finish();
    for (let at = 0; at < 4; at++) await say(path, `And? ${padding}`);
    scriptCompaction();
    await say(path, 'And now?');
    expect(Object.keys(await rowsWith(desk, `They found ${marker}`))).toEqual(
      expect.arrayContaining(['conversations', 'run_steps']),
    );
    await done('DELETE', `/v1/tasks/${task.id}`);
    expect(await rowsWith(desk, `They found ${marker}`)).toEqual({});
    desk.script(() => ({ text: 'Gone.' }));
    await say(path, 'And then?');
    expectLineAlone();

    script();
    const other = await finish();
    for (let at = 0; at < 4; at++) await say(other.path, `And? ${padding}`);
    scriptCompaction(() => done('DELETE', `/v1/tasks/${other.task.id}`));
    await say(other.path, 'And now?');
    const { audit_entries: _audited, ...left } = await rowsWith(desk, marker);
    expect(left).toEqual({});
  });
});
