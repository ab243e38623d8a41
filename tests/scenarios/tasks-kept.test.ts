import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { idOfTime, newId } from '@vestra/contract/ids';
import type { ScriptedAnswer } from '@vestra/models/testing/scripted-answer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeOtherOrg } from '../support/other-org.ts';
import type { ApiResponse } from '../support/server.ts';
import {
  calling,
  type Desk,
  inTurn,
  isOver,
  isWaiting,
  paperDesk,
  resultsIn,
  startDesk,
} from './interactions.fixture.ts';

type Body = ApiResponse['body'];

let desk: Desk;
let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'vestra-tasks-'));
  desk = await startDesk({ VESTRA_DATA_DIR: dataDir });
  await desk.apply(paperDesk);
});
afterAll(async () => {
  await desk.stop();
  await rm(dataDir, { recursive: true, force: true });
});

describe('the trace', () => {
  it('shows each step and each call of the model, and nothing of the input [TASK-011, TASK-012, TASK-013, TASK-014, TASK-015, TASK-016, TASK-023]', async () => {
    const secret = 'sk-live-4242424242424242';
    const usage = { inputTokens: 1000, outputTokens: 100, cacheReadTokens: 50 };
    desk.script(
      (request) =>
        ({
          ...inTurn(
            calling('update_plan', { steps: [{ content: secret, status: 'pending' }] }),
            calling('find_stock', { sku: secret }),
            { text: 'Done.' },
          )(request),
          usage,
        }) as ScriptedAnswer,
    );
    const { id: task_id, conversation_id } = await desk.work({}, isWaiting);
    const trace = async () => (await desk.call('GET', `/v1/tasks/${task_id}/trace`)).body;
    expect((await trace()).steps[1]).toMatchObject({
      name: 'find_stock',
      output_summary: null,
      is_error: false,
      finished_at: null,
      duration_ms: null,
    });
    const [call] = await desk.open(conversation_id);
    await desk.answer(call.id, { output: 'Plenty\nof paper.' });
    await desk.rest(conversation_id);
    const whole = await trace();
    expect(whole).toEqual({
      object: 'task_trace',
      task_id,
      missing_tools: [],
      steps: [
        {
          tool_use_id: expect.stringMatching(/^call_/),
          name: 'update_plan',
          input_summary: 'steps: list of 1',
          output_summary: 'The plan is shown.',
          is_error: false,
          started_at: expect.any(String),
          finished_at: expect.any(String),
          duration_ms: expect.any(Number),
        },
        {
          tool_use_id: call.id,
          name: 'find_stock',
          input_summary: 'sku: text of 24 characters',
          output_summary: 'Plenty of paper.',
          is_error: false,
          started_at: expect.any(String),
          finished_at: expect.any(String),
          duration_ms: expect.any(Number),
        },
      ],
      turns: Array.from({ length: 3 }, () => ({
        turn_id: expect.stringMatching(/^turn_\w+$/),
        model: 'compatible/scripted',
        input_tokens: 1000,
        output_tokens: 100,
        cache_read_tokens: 50,
        cache_write_tokens: 0,
        cache_share: 0.048,
        cost_usd: expect.any(Number),
        duration_ms: expect.any(Number),
        status: 'completed',
        error: null,
        started_at: expect.any(String),
      })),
      totals: { input_tokens: 3000, output_tokens: 300, cost_usd: expect.any(Number) },
    });
    const summed = whole.turns.reduce((sum: number, { cost_usd }: { cost_usd: number }) => sum + cost_usd, 0);
    expect(whole.totals.cost_usd).toBeCloseTo(summed, 5);
    const { body: task } = await desk.call('GET', `/v1/tasks/${task_id}`);
    expect(task.cost_usd).toBe(whole.totals.cost_usd);
    expect(JSON.stringify(whole)).not.toContain(secret);
    const steps = (await desk.log(conversation_id)).filter(({ type }) => type === 'task.step');
    expect(steps.map(({ data }) => data.step)).toEqual(whole.steps);
  });

  it('of a reply shows its steps and calls of the model, without those of the work it handed over [CONV-101, CONV-102]', async () => {
    const usage = { inputTokens: 500, outputTokens: 50, cacheReadTokens: 500 };
    const handOver = calling('hand_off_to_work', { title: 'Stock', task: 'Count the paper.' });
    desk.script((request) => {
      const isReply = request.tools.some(({ name }) => name === 'hand_off_to_work');
      const answer = isReply
        ? inTurn(calling('find_stock', { sku: 'A4' }), handOver, { text: 'On it.' })
        : () => ({ text: 'Counted.' });
      return { ...answer(request), usage } as ScriptedAnswer;
    });
    const { id } = await desk.say({ message: 'Is there paper?' });
    const path = `/v1/conversations/${id}`;
    const [call] = await desk.open(id);
    await desk.answer(call.id, { output: 'Plenty.' });
    await desk.rest(id);
    const settled = (await desk.log(id)).find(({ type }) => type === 'turn.settled')?.data.turn;
    const { body: trace } = await desk.call('GET', `${path}/turns/${settled.id}/trace`);
    expect(trace).toMatchObject({
      object: 'turn_trace',
      conversation_id: id,
      turn_id: settled.id,
      task_id: settled.task_id,
      steps: [
        { tool_use_id: call.id, name: 'find_stock', output_summary: 'Plenty.', is_error: false },
        { name: 'hand_off_to_work' },
      ],
      missing_tools: [],
    });
    expect(trace.turns.length).toBeGreaterThanOrEqual(2);
    expect(trace.turns[0]).toMatchObject({ turn_id: settled.id, cache_read_tokens: 500, cache_share: 0.5 });
    expect(trace.totals.input_tokens).toBe(trace.turns.length * 500);
    const { body: work } = await desk.call('GET', `/v1/tasks/${settled.task_id}/trace`);
    const { body: conversation } = await desk.call('GET', path);
    expect(trace.totals.cost_usd + work.totals.cost_usd).toBeCloseTo(conversation.cost_usd, 5);

    const other = await desk.say({ message: 'And ink?' });
    const foreign = await makeOtherOrg(desk);
    const asked = (of: string, turn: string, key = desk.testKey) =>
      desk.call('GET', `/v1/conversations/${of}/turns/${turn}/trace`, { key });
    expect((await asked(id, 'turn_none')).body.error.code).toBe('turn_not_found');
    expect((await asked(other.id, settled.id)).body.error.code).toBe('turn_not_found');
    for (const key of [foreign, desk.liveKey]) {
      expect((await asked(id, settled.id, key)).body.error.code).toBe('conversation_not_found');
    }
  });

  it.each([
    [400, /refused the request \(400/],
    [401, /did not accept the key \(401.*check OPENAI_COMPATIBLE_API_KEY/],
    [500, /failed \(500/],
  ])(
    'shows a model call that the provider answered with %i, of a reply and of a task [CONV-651]',
    async (fail, sentence) => {
      // Providers repeat keys and requests in their own words.
      desk.script(() => ({
        fail,
        failMessage: 'Bad key sk-live-4242424242424242.',
        headers: { 'retry-after-ms': '1' },
      }));
      const { id, turn_id } = await desk.say({ message: 'Is there paper?' });
      await desk.rest(id);
      const task = await desk.work({});
      const ofReply = await desk.call('GET', `/v1/conversations/${id}/turns/${turn_id}/trace`);
      const ofTask = await desk.call('GET', `/v1/tasks/${task.id}/trace`);
      for (const { body, text } of [ofReply, ofTask]) {
        expect(body.turns).toMatchObject([
          { model: 'compatible/scripted', status: 'failed', error: expect.stringMatching(sentence), cost_usd: 0 },
        ]);
        expect(text).not.toContain('sk-live');
      }
      const { body: turn } = await desk.call('GET', `/v1/conversations/${id}/turns/${turn_id}`);
      expect([turn.status, turn.error]).toEqual([
        'failed',
        { code: 'model_error', message: ofReply.body.turns[0].error },
      ]);
    },
  );

  it('shows a failed call between the answer that was cut off and its judge [CONV-651]', async () => {
    const met = { text: 'There is a part.', met: true, reason: 'It is there.' };
    desk.script((request) => {
      if (request.tools.length === 0) return { text: JSON.stringify({ criteria: [met], must_never: [] }) };
      return request.messages.some(({ role }) => role === 'agent')
        ? { fail: 400 }
        : { text: 'Part one', stop: 'length' };
    });
    const task = await desk.work({ success_criteria: met.text });
    expect([task.status, task.result.text, task.outcome]).toEqual([
      'done',
      'Part one',
      { met: true, reason: met.reason, rounds: 1 },
    ]);
    const { body } = await desk.call('GET', `/v1/tasks/${task.id}/trace`);
    expect(body.turns.map(({ status, error }: Body) => [status, error === null])).toEqual([
      ['completed', true],
      ['failed', false],
      ['judged', true],
    ]);
  });

  it('shows a call that was refused, as the stream did [TASK-012]', async () => {
    desk.script(inTurn(calling('find_stock', { sku: 7 }), { text: 'Done.' }));
    const task = await desk.work({});
    const { body } = await desk.call('GET', `/v1/tasks/${task.id}/trace`);
    expect(body.steps).toMatchObject([{ name: 'find_stock', input_summary: 'sku: a number', is_error: true }]);
    const told = (await desk.log(task.conversation_id)).find(({ type }) => type === 'task.step');
    expect(told?.data.step).toMatchObject({ input_summary: 'sku: a number', is_error: true });
  });
});

it('an output needs one plain file name [TASK-012]', async () => {
  const given = { filename: '../report.md', content: 'A' };
  desk.script(inTurn(calling('save_output', given), { text: 'Done.' }));
  const task = await desk.work({});
  expect(resultsIn(desk.asked.at(-1))[0]).toContain('one plain file name');
  expect(await desk.told('file.created', task.conversation_id)).toEqual([]);
});

describe('a turn', () => {
  it('is read by its id, while it runs and after it ended, only in its own conversation [CONV-650]', async () => {
    desk.script(inTurn(calling('find_stock', { sku: 'A4' }), { text: 'Plenty.' }));
    const { id, turn_id } = await desk.say({ message: 'Is there paper?' });
    const read = (of: string, turn: string, key = desk.testKey) =>
      desk.call('GET', `/v1/conversations/${of}/turns/${turn}`, { key });
    const [call] = await desk.open(id);
    expect((await read(id, turn_id)).body).toMatchObject({ status: 'waiting', interactions: [call.id], reply: null });
    await desk.answer(call.id, { output: 'Plenty.' });
    await desk.rest(id);
    const settled = (await desk.log(id)).find(({ type }) => type === 'turn.settled')?.data.turn;
    expect((await read(id, turn_id)).body).toEqual(settled);
    expect(settled).toMatchObject({ status: 'settled', reply: { text: 'Plenty.' }, error: null });

    const other = await desk.say({ message: 'And ink?' });
    expect((await read(id, 'turn_none')).body.error.code).toBe('turn_not_found');
    expect((await read(other.id, turn_id)).body.error.code).toBe('turn_not_found');
    for (const key of [await makeOtherOrg(desk), desk.liveKey]) {
      expect((await read(id, turn_id, key)).body.error.code).toBe('conversation_not_found');
    }
    const session = await desk.call('POST', '/v1/sessions', { body: { chat: true, user_id: 'ada' } });
    const { token, conversation_id } = session.body;
    const { body: sent } = await desk.call('POST', `/v1/conversations/${conversation_id}/messages`, {
      key: token,
      body: { message: 'Hello' },
    });
    const { body: seen } = await read(conversation_id, sent.id, token);
    expect(seen).toMatchObject({ object: 'turn', id: sent.id });
    expect(seen).not.toHaveProperty('cost_usd');
    for (const [of, turn] of [
      [conversation_id, `${sent.id}/trace`],
      [id, turn_id],
    ]) {
      expect((await read(of, turn, token)).body.error.code).toBe('session_scope');
    }
  });
});

describe('the list of tasks', () => {
  it('filters by status, user, deployment, conversation and time, by pages, newest first [TASK-017, TASK-018, TASK-019, REC-720]', async () => {
    await desk.apply({ name: 'other', memory: 'none' });
    desk.script(() => ({ text: 'Done.' }));
    const first = await desk.work({ user_id: 'lea' });
    const second = await desk.work({ user_id: 'lea', deployment: 'other' });
    desk.script(() => ({ fail: 400 }));
    const third = await desk.work({ user_id: 'lea' });
    const ids = async (filter: string) =>
      (await desk.call('GET', `/v1/tasks?user_id=lea&${filter}`)).body.data.map(({ id }: { id: string }) => id);
    expect(await ids('')).toEqual([third.id, second.id, first.id]);
    expect(await ids('status=done')).toEqual([second.id, first.id]);
    expect(await ids('status=failed')).toEqual([third.id]);
    expect(await ids(`deployment_id=${second.deployment_id}`)).toEqual([second.id]);
    expect(await ids('deployment_id=other')).toEqual([second.id]);
    expect(await ids('deployment_id=unknown')).toEqual([]);
    expect(await ids(`conversation_id=${first.conversation_id}`)).toEqual([first.id]);
    expect((await desk.call('GET', '/v1/tasks?user_id=nobody')).body.data).toEqual([]);

    // Ids start with the time, so both move into the past.
    const movedTo = async ({ id }: { id: string }, moment: string) => {
      const moved = `${idOfTime('task', Date.parse(moment))}${id.slice(-14)}`;
      await desk.sql('UPDATE tasks SET created_at = $2, id = $3 WHERE id = $1', [id, moment, moved]);
      return moved;
    };
    const [one, two] = [await movedTo(first, '2001-01-02T03:04:05Z'), await movedTo(second, '2001-01-03T00:00:00Z')];
    expect(await ids('created_before=2001-01-02T04:04:06%2B01:00')).toEqual([one]);
    expect(await ids('created_after=2001-01-02T03:04:05Z&created_before=2001-01-03')).toEqual([one]);
    expect(await ids('created_after=2001-01-02T03:04:06Z&created_before=2001-02-01')).toEqual([two]);
    expect(await ids('created_after=2001-01-02')).toEqual([third.id, two, one]);
    // Written at the end of an outage, a quarter of an hour after its id was created.
    await desk.sql(`UPDATE tasks SET created_at = '2001-01-03T00:15:00Z' WHERE id = $1`, [two]);
    expect(await ids('created_after=2001-01-03T00:15:00Z&created_before=2001-02-01')).toEqual([two]);
    for (const time of ['yesterday', '978404645', '2001-13-01', '2001-01-02T03:04:05']) {
      const { status, body } = await desk.call('GET', `/v1/tasks?created_after=${time}`);
      expect([time, status, body.error.code]).toEqual([time, 400, 'invalid_query']);
    }

    const page = (await desk.call('GET', '/v1/tasks?user_id=lea&limit=2')).body;
    expect(page.data.map(({ id }: { id: string }) => id)).toEqual([third.id, two]);
    const next = (await desk.call('GET', `/v1/tasks?user_id=lea&limit=2&cursor=${page.next_cursor}`)).body;
    expect([next.data.map(({ id }: { id: string }) => id), next.next_cursor]).toEqual([[one], null]);
  });
});

describe('deleting a task', () => {
  const filesOnDisk = async () =>
    (await readdir(dataDir, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map(({ name }) => name);

  it('removes it, its trace, its interactions and its outputs, also from the disk [TASK-021, TASK-039]', async () => {
    const save = calling('save_output', { filename: 'report.md', content: 'The report of this very test.' });
    desk.script(inTurn(save, calling('ask_question', { question: 'Which?' }), { text: 'Done.' }));
    const waiting = await desk.work({}, isWaiting);
    const [interaction] = await desk.open(waiting.conversation_id);
    await desk.answer(interaction.id, { answers: ['That'] });
    const task = await desk.until(`/v1/tasks/${waiting.id}`, isOver);
    const [file] = (await desk.told('file.created', task.conversation_id)) as { id: string; filename: string }[];
    expect(file?.filename).toBe('report.md');
    const [{ sha256 }] = (await desk.sql('SELECT sha256 FROM files WHERE id = $1', [file?.id])) as [{ sha256: string }];
    expect(await filesOnDisk()).toContain(sha256);

    const { body } = await desk.call('DELETE', `/v1/tasks/${task.id}`);
    expect(body).toEqual({ object: 'task', id: task.id, deleted: true });
    for (const path of ['', '/trace', '/data']) {
      const gone = await desk.call('GET', `/v1/tasks/${task.id}${path}`);
      expect([gone.status, gone.body.error.code]).toEqual([404, 'task_not_found']);
    }
    const again = await desk.call('DELETE', `/v1/tasks/${task.id}`);
    expect([again.status, again.body.error.code]).toEqual([404, 'task_not_found']);
    expect((await desk.call('GET', `/v1/files/${file?.id}`)).status).toBe(404);
    expect((await desk.call('GET', `/v1/interactions/${interaction.id}`)).status).toBe(404);
    expect(await filesOnDisk()).not.toContain(sha256);
    expect(await desk.sql('SELECT FROM run_steps WHERE run_id = $1', [task.id])).toEqual([]);
    expect(await desk.sql('SELECT FROM run_calls WHERE run_id = $1', [task.id])).toEqual([]);
    const { body: messages } = await desk.call('GET', `/v1/conversations/${task.conversation_id}/messages`);
    expect(messages.data.map(({ role }: { role: string }) => role)).toEqual(['work', 'agent', 'user']);
    const { body: audit } = await desk.call('GET', '/v1/audit-log?action=task.deleted&limit=1');
    expect(audit.data).toMatchObject([{ target: { type: 'task', id: task.id } }]);
  });

  it('keeps bytes that an output shares with another file [TASK-021]', async () => {
    desk.script(inTurn(calling('save_output', { filename: 'same.md', content: 'Twice the same.' }), { text: 'Done.' }));
    const [first, second] = [await desk.work({}), await desk.work({})];
    await desk.call('DELETE', `/v1/tasks/${first.id}`);
    const [file] = (await desk.told('file.created', second.conversation_id)) as { id: string }[];
    const { body } = await desk.call('GET', `/v1/files/${file?.id}`);
    expect(await (await fetch(new URL(body.download_url, desk.url))).text()).toBe('Twice the same.');
  });

  it('that waits cancels its interactions [TASK-022]', async () => {
    desk.script(inTurn(calling('ask_question', { question: 'Which?' }), { text: 'Done.' }));
    const task = await desk.work({}, isWaiting);
    const [interaction] = await desk.open(task.conversation_id);
    await desk.call('DELETE', `/v1/tasks/${task.id}`);
    await desk.rest(task.conversation_id);
    expect((await desk.answer(interaction.id, { answers: ['That'] })).body.error.code).toBe('interaction_not_found');
    expect(await desk.told('interaction.resolved', task.conversation_id)).toMatchObject([
      { id: interaction.id, status: 'cancelled' },
    ]);
  });

  it('that runs stops it first, in the middle of its call [TASK-022]', async () => {
    const gate = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    desk.script(async () => {
      begun.resolve();
      await gate.promise;
      return { text: 'Too late.' };
    });
    const task = await desk.work({}, ({ status }) => status === 'working');
    await begun.promise;
    expect((await desk.call('DELETE', `/v1/tasks/${task.id}`)).status).toBe(200);
    const conversation = await desk.rest(task.conversation_id);
    expect(conversation.open_work).toEqual([]);
    gate.resolve();
    const types = (await desk.log(task.conversation_id)).map(({ type }) => type);
    expect(types.slice(-4)).toEqual(['task.stopped', 'turn.settled', 'task.deleted', 'conversation.status']);
    expect(await desk.sql('SELECT FROM runs WHERE id = $1', [task.id])).toEqual([]);
    expect(await desk.told('task.completed', task.conversation_id)).toEqual([]);
    desk.script(() => ({ text: 'And on.' }));
    const next = await desk.call('POST', `/v1/conversations/${task.conversation_id}/messages`, {
      body: { message: 'Go on' },
      headers: { Prefer: 'wait=30' },
    });
    expect(next.body.reply.text).toBe('And on.');
    expect(await desk.sql('SELECT FROM tasks WHERE id = $1', [task.id])).toEqual([]);
  });
});

describe('an unknown task', () => {
  it('or is another’s, or of the other mode, is not found; a bad id is refused [TASK-039]', async () => {
    desk.script(() => ({ text: 'Done.' }));
    const task = await desk.work({});
    const keys = [await makeOtherOrg(desk), desk.liveKey];
    for (const path of ['', '/trace', '/data']) {
      const unknown = await desk.call('GET', `/v1/tasks/${newId('task')}${path}`);
      expect([unknown.status, unknown.body.error.code]).toEqual([404, 'task_not_found']);
      for (const key of keys) {
        const foreign = await desk.call('GET', `/v1/tasks/${task.id}${path}`, { key });
        expect([foreign.status, foreign.body.error.code]).toEqual([404, 'task_not_found']);
      }
      const bad = await desk.call('GET', `/v1/tasks/task_1${path}`);
      expect([bad.status, bad.body.error.code]).toEqual([400, 'invalid_task_id']);
    }
    for (const key of keys) {
      expect((await desk.call('DELETE', `/v1/tasks/${task.id}`, { key })).status).toBe(404);
      expect((await desk.call('GET', '/v1/tasks', { key })).body.data).toEqual([]);
    }
    expect((await desk.call('GET', `/v1/tasks/${task.id}`)).status).toBe(200);
  });
});
