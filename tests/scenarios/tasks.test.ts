import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  calling,
  type Desk,
  inTurn,
  isOver,
  isWaiting,
  paperDesk,
  resultsIn,
  startDesk,
  toolNamesIn,
} from './interactions.fixture.ts';

let desk: Desk;
let deploymentId: string;
beforeAll(async () => {
  desk = await startDesk();
  const { body } = await desk.apply(paperDesk);
  deploymentId = body.id;
});
afterAll(() => desk.stop());

describe('a task', () => {
  it('that the model hands over has its title and its brief, and shows everything [TASK-001, TASK-002, TASK-006, TASK-020, TASK-024, TASK-028]', async () => {
    const brief = { title: 'Count the paper', task: 'Count every sheet of A4.' };
    desk.script((request) =>
      toolNamesIn(request).includes('hand_off_to_work')
        ? { text: 'I am counting.', ...calling('hand_off_to_work', brief) }
        : { text: 'There are 500 sheets.' },
    );
    const conversation = await desk.say({ message: 'How much paper?', user_id: 'ada' });
    const settled = await desk.rest(conversation.id);
    const { body: list } = await desk.call('GET', `/v1/tasks?conversation_id=${conversation.id}`);
    const { body: task } = await desk.call('GET', `/v1/tasks/${list.data[0].id}`);
    expect(task).toEqual({
      object: 'task',
      id: expect.stringMatching(/^task_[0-9a-z]{24}$/),
      user_id: 'ada',
      conversation_id: conversation.id,
      deployment_id: deploymentId,
      deployment_version: 1,
      status: 'done',
      title: 'Count the paper',
      ask: 'How much paper?',
      progress: [],
      result: { text: 'There are 500 sheets.', data: null },
      outcome: null,
      error: null,
      cost_usd: expect.any(Number),
      cost_breakdown: expect.objectContaining({ orchestrator: 0, intelligence: task.cost_usd }),
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect(task.cost_usd).toBeGreaterThan(0);
    expect(JSON.stringify(desk.asked.at(-1)?.messages)).toContain('Count every sheet of A4.');
    const { body: messages } = await desk.call('GET', `/v1/conversations/${conversation.id}/messages`);
    expect(messages.data.map(({ role, text }: Record<string, string>) => [role, text])).toEqual([
      ['work', 'There are 500 sheets.'],
      ['agent', 'I am counting.'],
      ['user', 'How much paper?'],
    ]);
    expect(settled.open_work).toEqual([]);
    const ofTask = (await desk.log(conversation.id)).filter(({ type }) => /^(task|turn)\./.test(type));
    expect(ofTask.map(({ type }) => type)).toEqual(['turn.started', 'task.started', 'task.completed', 'turn.settled']);
    expect(ofTask[1]?.data.task.status).toBe('working');
    const [completed] = await desk.told('task.completed', conversation.id);
    expect(completed).toMatchObject({ id: task.id, status: 'done', result: task.result });
    expect(await desk.told('task.failed', conversation.id)).toEqual([]);
  });

  it('started directly is queued at once, named by its plan, and shows its progress [TASK-002, TASK-004, TASK-005, TASK-024]', async () => {
    const plan = (first: string, second: string) =>
      calling('update_plan', {
        steps: [
          { content: 'Look', status: first },
          { content: 'Count', status: second },
        ],
      });
    const named = calling('update_plan', {
      title: 'Stocktaking',
      steps: [{ content: 'Look', status: 'completed' }],
    });
    const gate = Promise.withResolvers<void>();
    desk.script(async (request) => {
      if (resultsIn(request).length === 0) await gate.promise;
      return await inTurn(plan('in_progress', 'pending'), plan('completed', 'in_progress'), named, { text: 'Done.' })(
        request,
      );
    });
    const { id } = await desk.say({ message: 'Count', hand_off: 'always' });
    const { data } = await desk.until(`/v1/tasks?conversation_id=${id}`, ({ data: rows }) => rows.length === 1);
    expect(data[0]).toMatchObject({ title: 'Count', progress: [], result: { text: null, data: null } });
    expect(['queued', 'working']).toContain(data[0].status);
    gate.resolve();
    await desk.rest(id);
    const { body: task } = await desk.call('GET', `/v1/tasks/${data[0].id}`);
    expect(task).toMatchObject({ title: 'Stocktaking', progress: [{ content: 'Look', status: 'completed' }] });
    const told = (await desk.log(id)).filter(({ type }) => type === 'task.progress').map((event) => event.data);
    expect(told).toEqual([
      {
        title: 'Count',
        progress: [
          { content: 'Look', status: 'in_progress' },
          { content: 'Count', status: 'pending' },
        ],
      },
      {
        title: 'Count',
        progress: [
          { content: 'Look', status: 'completed' },
          { content: 'Count', status: 'in_progress' },
        ],
      },
      { title: 'Stocktaking', progress: task.progress },
    ]);
    expect(await desk.told('task.started', id)).toMatchObject([{ status: 'working' }]);
  });

  it('that waits holds no process and no job, and resumes with the answer [TASK-003, TASK-024]', async () => {
    desk.script(inTurn(calling('ask_question', { question: 'Which?' }), { text: 'Done.' }));
    const task = await desk.work({}, isWaiting);
    expect(task.status).toBe('waiting');
    const { body: conversation } = await desk.call('GET', `/v1/conversations/${task.conversation_id}`);
    expect(conversation).toMatchObject({
      status: 'waiting',
      open_work: [{ task_id: task.id, status: 'waiting' }],
      open_interactions: [{ task_id: task.id, kind: 'ask_question' }],
    });
    expect(await desk.sql('SELECT id FROM runs')).toEqual([]);
    await expect
      .poll(() => desk.sql(`SELECT name FROM jobs WHERE name IN ('task.run', 'turn.run') AND given_up_at IS NULL`))
      .toEqual([]);
    const [interaction] = await desk.open(task.conversation_id);
    await desk.answer(interaction.id, { answers: ['That'] });
    const done = await desk.until(`/v1/tasks/${task.id}`, isOver);
    expect(done).toMatchObject({ status: 'done', result: { text: 'Done.' } });
    expect(desk.asked).toHaveLength(2);
  });

  it('with a long answer shows it whole when read alone and cut in lists [TASK-007, TASK-020]', async () => {
    const long = '😀'.repeat(400);
    desk.script(() => ({ text: long }));
    const task = await desk.work({});
    expect(task.result.text).toBe(long);
    const { body } = await desk.call('GET', `/v1/tasks?conversation_id=${task.conversation_id}`);
    expect([...body.data[0].result.text]).toHaveLength(280);
    expect(body.data[0].result.text).toBe(`${'😀'.repeat(279)}…`);
  });

  it('that ended before its answer was recorded shows the recorded part, cut [TASK-008]', async () => {
    desk.script(() => ({ text: 'Short.' }));
    const task = await desk.work({});
    await desk.sql(`UPDATE tasks SET status = 'failed', result_text = repeat('x', 400) WHERE id = $1`, [task.id]);
    const { body } = await desk.call('GET', `/v1/tasks/${task.id}`);
    expect(body.result.text).toBe(`${'x'.repeat(279)}…`);
  });

  it('fails with its model, and reports the reason [TASK-002, TASK-024, TASK-028]', async () => {
    desk.script(() => ({ fail: 400, failMessage: 'No such thing.' }));
    const task = await desk.work({});
    expect(task).toMatchObject({ status: 'failed', result: { text: null }, error: { code: 'model_error' } });
    expect(await desk.told('task.failed', task.conversation_id)).toMatchObject([{ id: task.id, status: 'failed' }]);
    expect(await desk.told('task.completed', task.conversation_id)).toEqual([]);
    expect((await desk.log(task.conversation_id)).map(({ type }) => type)).toContain('task.failed');
  });

  it('stopped by a person is failed, and its event gives no reason [TASK-025, TASK-030]', async () => {
    desk.script(inTurn(calling('ask_question', { question: 'Which?' }), { text: 'Done.' }));
    const task = await desk.work({}, isWaiting);
    await desk.call('POST', `/v1/conversations/${task.conversation_id}/stop`);
    const { body } = await desk.call('GET', `/v1/tasks/${task.id}`);
    expect(body).toMatchObject({ status: 'failed', error: { code: 'stopped', message: expect.any(String) } });
    const [told] = await desk.told('task.stopped', task.conversation_id);
    expect(told).toMatchObject({ id: task.id });
    expect(Object.keys(told)).not.toEqual(expect.arrayContaining(['reason']));
    expect(Object.keys(told)).not.toEqual(expect.arrayContaining(['message']));
    const event = (await desk.log(task.conversation_id)).find(({ type }) => type === 'task.stopped');
    expect(Object.keys(event?.data)).toEqual(['task']);
    expect(await desk.told('task.failed', task.conversation_id)).toEqual([]);
  });
});

describe('an answer as data', () => {
  const schema = { type: 'object', properties: { sheets: { type: 'integer' } }, required: ['sheets'] };

  it('fits the schema, though the model needs a second try, and is answered alone [TASK-009, TASK-026]', async () => {
    const answers = ['{"sheets":"many"}', '{"sheets":500}'];
    desk.script(() => ({ text: answers[desk.asked.length - 1] ?? '{}' }));
    const task = await desk.work({ output_schema: schema });
    expect(task).toMatchObject({ status: 'done', result: { text: '{"sheets":500}', data: { sheets: 500 } } });
    const data = await desk.call('GET', `/v1/tasks/${task.id}/data`);
    expect([data.status, data.text]).toEqual([200, '{"sheets":500}']);
  });

  it('is null until there is one, and returns `no_output_schema` if none was requested [TASK-026, TASK-027]', async () => {
    desk.script(inTurn(calling('ask_question', { question: 'Which?' }), { text: '{"sheets":1}' }));
    const task = await desk.work({ output_schema: schema }, isWaiting);
    expect((await desk.call('GET', `/v1/tasks/${task.id}/data`)).text).toBe('null');
    const plain = await desk.work({}, isWaiting);
    const refused = await desk.call('GET', `/v1/tasks/${plain.id}/data`);
    expect([refused.status, refused.body.error.code]).toEqual([400, 'no_output_schema']);
  });
});

describe('success criteria', () => {
  const judged = (verdict: string) => {
    desk.script((request) => (request.tools.length === 0 ? { text: verdict } : { text: 'Counted: 500.' }));
    return desk.work({ hand_off: 'auto', success_criteria: 'The sheets are counted.' });
  };
  const verdict = (met: boolean, reason: string) =>
    JSON.stringify({ criteria: [{ text: 'The sheets are counted.', met, reason }], must_never: [] });

  it('are judged by another call, which reads the work as data [TASK-010]', async () => {
    const task = await judged(verdict(true, 'It says 500.'));
    expect(task).toMatchObject({
      status: 'done',
      result: { text: 'Counted: 500.' },
      outcome: { met: true, reason: 'It says 500.', rounds: 1 },
    });
    const asked = JSON.stringify(desk.asked.at(-1));
    expect(asked).toContain('Criterion: The sheets are counted.');
    expect(asked).toContain('Agent: Counted: 500.');
  });

  it('are judged by the calls and their arguments, and truncation is marked [TASK-141, TRUN-144]', async () => {
    const content = 'x'.repeat(5000);
    desk.script((request) => {
      if (request.tools.length === 0) return { text: verdict(true, 'It says 500.') };
      const isDone = request.messages.some(({ role }) => role === 'tool');
      const call = { name: 'save_output', arguments: { filename: 'sheets-of-bob.txt', content } };
      return isDone ? { text: 'Counted: 500.' } : { calls: [call] };
    });
    await desk.work({ hand_off: 'auto', success_criteria: 'The sheets are counted.' });
    const asked = JSON.stringify(desk.asked.at(-1));
    expect(asked).toMatch(/save_output\(\{\\+"filename\\+":\\+"sheets-of-bob\.txt/);
    expect(asked).toMatch(/x{900} \[cut: the first 4000 of 50\d\d characters\]/);
  });

  it('that are not met leave the task completed and give the reason [TASK-010]', async () => {
    const task = await judged(verdict(false, 'Nobody counted.'));
    expect(task).toMatchObject({ status: 'done', outcome: { met: false, reason: 'Nobody counted.', rounds: 3 } });
  });

  it("count as not met if the judge's answer is invalid, and its calls are charged [TASK-010]", async () => {
    const task = await judged('Looks fine to me!');
    expect(task).toMatchObject({
      status: 'done',
      result: { text: 'Counted: 500.' },
      outcome: { met: false, reason: expect.stringMatching(/judge/) },
    });
    const { body: trace } = await desk.call('GET', `/v1/tasks/${task.id}/trace`);
    expect(trace.totals.cost_usd).toBe(task.cost_usd);
    expect(trace.turns).toHaveLength(2);
  });

  it('that were not given have no outcome [TASK-010]', async () => {
    desk.script(() => ({ text: 'Done.' }));
    expect((await desk.work({})).outcome).toBeNull();
  });
});
