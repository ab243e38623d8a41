import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { calling, type Desk, inTurn, resultsIn, startDesk } from './interactions.fixture.ts';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

type Question = { headers: IncomingHttpHeaders; text: string };

let desk: Desk;
let hook: Server;
const questions: Question[] = [];
/** Null: no answer at all. */
let verdict: unknown = { allow: true };
beforeAll(async () => {
  hook = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    questions.push({ headers: request.headers, text: Buffer.concat(chunks).toString() });
    if (verdict !== null) response.end(JSON.stringify(verdict));
  });
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
  desk = await startDesk({
    VESTRA_POLICY_HOOK_URL: `http://127.0.0.1:${(hook.address() as AddressInfo).port}/policy`,
    VESTRA_POLICY_HOOK_SECRET: secret,
  });
  await desk.apply({
    name: 'desk',
    memory: 'none',
    tools: [
      { function: 'print_menu', description: 'Prints the menu.', input: { day: 'string?' }, run_without_asking: true },
      { function: 'order_paper', description: 'Orders paper.' },
      { function: 'list_guests', description: 'Lists the guests.', read_only: true },
    ],
  });
});
afterAll(async () => {
  await desk.stop();
  hook.closeAllConnections();
  await new Promise((resolve) => hook.close(resolve));
});

async function limited(name: string, limits: Record<string, number>): Promise<string> {
  await desk.apply({ name, memory: 'none', limits });
  return name;
}

const plan = calling('update_plan', { steps: [{ content: 'On and on', status: 'in_progress' }] });
const question = calling('ask_question', { question: 'Go on?' });
/** At 1 dollar for a million tokens. */
const costing = (usd: number) => ({ usage: { inputTokens: usd * 1_000_000, outputTokens: 0 } });

/** The task of a message that goes straight to work, once it is over; and what was told of its end. */
async function stopped(conversationId: string) {
  await desk.rest(conversationId);
  const { body } = await desk.call('GET', `/v1/tasks?conversation_id=${conversationId}`);
  const events = (await desk.log(conversationId)).filter(({ type }) => type === 'task.stopped');
  return { task: body.data[0], told: await desk.told('task.stopped', conversationId), events };
}

async function expectStop(conversationId: string, reason: string, message: unknown) {
  const { task, told, events } = await stopped(conversationId);
  expect(task).toMatchObject({ status: 'failed', error: { code: reason } });
  expect(told).toEqual([expect.objectContaining({ id: task.id, status: 'failed', reason, message })]);
  expect(events.map(({ data }) => [data.reason, data.task.id])).toEqual([[reason, task.id]]);
  expect(await desk.told('task.failed', conversationId)).toEqual([]);
  expect(await desk.told('task.completed', conversationId)).toEqual([]);
  return task;
}

describe('a limit', () => {
  it('of steps stops the work with `max_turns` [TASK-025, TASK-029, TASK-031, TASK-032]', async () => {
    desk.script(() => plan);
    const deployment = await limited('short', { max_steps: 3 });
    const { id } = await desk.say({ message: 'Work', deployment, hand_off: 'always' });
    await expectStop(id, 'max_turns', 'The limit of 3 steps was reached.');
    expect(desk.asked).toHaveLength(3);
  });

  it('of minutes counts work and not waiting, and stops with `max_turns` [TASK-029, TASK-031, TASK-032]', async () => {
    const deployment = await limited('brisk', { max_minutes: 1 });
    desk.script(inTurn(question, { text: 'Done.' }));
    const patient = await desk.say({ message: 'Work', deployment, hand_off: 'always' });
    const [waited] = await desk.open(patient.id);
    await desk.sql(
      `UPDATE tasks SET created_at = now() - interval '1 day', updated_at = now() - interval '1 day' WHERE id = $1`,
      [waited.task_id],
    );
    await desk.answer(waited.id, { answers: ['Yes'] });
    await desk.rest(patient.id);
    expect((await desk.call('GET', `/v1/tasks/${waited.task_id}`)).body.status).toBe('done');

    const slow = await desk.say({ message: 'Work', deployment, hand_off: 'always' });
    const [interaction] = await desk.open(slow.id);
    await desk.sql('UPDATE tasks SET active_ms = 60000 WHERE id = $1', [interaction.task_id]);
    await desk.answer(interaction.id, { answers: ['Yes'] });
    await expectStop(slow.id, 'max_turns', 'The limit of 1 minute was reached.');
  });

  it('of money for a task stops with `max_budget`, and shows as an interaction that can only be read [TASK-029, TASK-031, TASK-033, INT-003, INT-015, INT-037, ANS-032]', async () => {
    desk.script(() => ({ ...plan, ...costing(0.02) }));
    const deployment = await limited('thrifty', { per_task_usd: 0.03 });
    const { id } = await desk.say({ message: 'Work', deployment, hand_off: 'always' });
    const task = await expectStop(id, 'max_budget', "The task's limit of 0.03 US dollars was reached.");
    expect(task.cost_usd).toBe(0.04);

    const { body } = await desk.call('GET', `/v1/interactions?conversation_id=${id}&status=resolved`);
    const [limit] = body.data;
    expect(limit).toMatchObject({ kind: 'plan_limit', type: 'approval', task_id: task.id, expires_at: null });
    expect(limit.details).toMatchObject({ reason: 'max_budget' });
    expect(await desk.told('interaction.created', id)).toEqual([limit]);
    const bodies = [
      { approve: true, present_user: true },
      { approve: false },
      { answers: [] },
      { output: 1 },
      undefined,
    ];
    for (const each of bodies) {
      const answer = await desk.answer(limit.id, each);
      expect([answer.status, answer.body.error.code]).toEqual([409, 'already_answered']);
    }
    expect((await desk.call('POST', `/v1/interactions/${limit.id}/cancel`)).status).toBe(409);
    expect((await desk.call('GET', `/v1/interactions/${limit.id}`)).body).toEqual(limit);
  });

  it('of money for a turn counts the reply that handed the work over [TASK-033]', async () => {
    desk.script((request) =>
      request.tools.some(({ name }) => name === 'hand_off_to_work')
        ? { ...calling('hand_off_to_work', { title: 'Work', task: 'Work.' }), ...costing(0.02) }
        : { text: 'Done.' },
    );
    const deployment = await limited('sparing', { per_turn_usd: 0.02 });
    const { id } = await desk.say({ message: 'Work', deployment });
    await expectStop(id, 'max_budget', "The turn's limit of 0.02 US dollars was reached.");
    expect(desk.asked).toHaveLength(1);
  });

  it('that is a cap of the user stops work under way [TASK-033]', async () => {
    desk.script(inTurn(question, { text: 'Done.' }));
    const { id } = await desk.say({ message: 'Work', hand_off: 'always', user_id: 'ada' });
    const [interaction] = await desk.open(id);
    await desk.call('PATCH', '/v1/users/ada', { body: { spend_cap_usd: 0 } });
    await desk.answer(interaction.id, { answers: ['Yes'] });
    await expectStop(id, 'max_budget', expect.any(String));
    const { body } = await desk.call('GET', `/v1/interactions?conversation_id=${id}&kind=plan_limit&status=resolved`);
    expect(body.data).toHaveLength(1);
  });
});

describe('the policy hook', () => {
  const asked = () => questions.map(({ text }) => JSON.parse(text));

  it('is asked before each changing call, signed, and not before one that reads [TASK-035, TASK-038]', async () => {
    questions.length = 0;
    const save = calling('save_output', { filename: 'a.md', content: 'A' });
    desk.script(inTurn(calling('list_guests'), save, calling('print_menu', { day: 'Monday' }), { text: 'Done.' }));
    const { id, deployment_id } = await desk.say({ message: 'Work', hand_off: 'always', user_id: 'bob' });
    const [reading] = await desk.open(id);
    expect(questions).toEqual([]);
    await desk.answer(reading.id, { output: 'None.' });
    const printing = await desk.until(`/v1/interactions?conversation_id=${id}`, ({ data }) =>
      data.some(({ details }: { details: { tool_name: string } }) => details.tool_name === 'print_menu'),
    );
    const of = {
      org_id: desk.orgId,
      mode: 'test',
      user_id: 'bob',
      conversation_id: id,
      task_id: reading.task_id,
      deployment_id,
      deployment_version: 1,
    };
    expect(asked()).toEqual([
      { ...of, tool: { name: 'save_output', server: null }, arguments: { filename: 'a.md', content: 'A' } },
      { ...of, tool: { name: 'print_menu', server: null }, arguments: { day: 'Monday' } },
    ]);
    for (const { headers, text } of questions) {
      const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`;
      const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
      const signature = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
      expect([headers['webhook-signature'], headers['service-signature']]).toEqual([signature, signature]);
    }
    await desk.answer(printing.data[0].id, { output: 'ok' });
    await desk.rest(id);
    expect(questions).toHaveLength(2);
  });

  it('that denies stops the task before the call, with its message [TASK-029, TASK-031, TASK-036]', async () => {
    verdict = { allow: false, message: 'Not on a Sunday.' };
    desk.script(inTurn(calling('print_menu'), { text: 'Done.' }));
    const { id } = await desk.say({ message: 'Work', hand_off: 'always' });
    await expectStop(id, 'hook_blocked', 'Not on a Sunday.');
    expect(await desk.told('interaction.created', id)).toEqual([]);
    verdict = { allow: true };
  });

  it('that denies stops it after the person’s approval too, and without a message if it gave none [TASK-029, TASK-036]', async () => {
    verdict = { allow: false };
    desk.script(inTurn(calling('order_paper'), { text: 'Done.' }));
    const { id } = await desk.say({ message: 'Work', hand_off: 'always' });
    const [interaction] = await desk.open(id);
    await desk.answer(interaction.id, { approve: true, present_user: true });
    await expectStop(id, 'hook_blocked', null);
    verdict = { allow: true };
  });

  it('that does not answer within two seconds counts as a denial [TASK-037]', async () => {
    verdict = null;
    desk.script(inTurn(calling('print_menu'), { text: 'Done.' }));
    const { id } = await desk.say({ message: 'Work', hand_off: 'always' });
    await expectStop(id, 'hook_blocked', expect.stringContaining('no answer in 2 seconds'));
    verdict = { allow: true };
  });

  it('that denies in a reply stops its turn [TASK-036]', async () => {
    verdict = { allow: false, message: 'Not on a Sunday.' };
    desk.script(inTurn(calling('print_menu'), { text: 'Done.' }));
    const { id } = await desk.say({});
    const { body } = await desk.call('POST', `/v1/conversations/${id}/messages`, {
      body: { message: 'Print' },
      headers: { Prefer: 'wait=30' },
    });
    expect(body).toMatchObject({ status: 'stopped', error: { code: 'hook_blocked', message: 'Not on a Sunday.' } });
    verdict = { allow: true };
  });
});

describe('an empty wallet', () => {
  it('stops running tasks with `credits_exhausted`, and lets none start [TASK-029, TASK-031, TASK-034]', async () => {
    await desk.call('PATCH', '/v1/limits', {
      body: { caps: { max_org_daily_usd: 1000, org_daily_usd: 1000, user_daily_usd: 1000 } },
    });
    desk.script(inTurn({ ...plan, ...costing(150) }, { text: 'Done.' }));
    const { id } = await desk.say({ message: 'Work', hand_off: 'always' });
    await expectStop(id, 'credits_exhausted', expect.any(String));
    expect(resultsIn(desk.asked.at(-1))).toEqual([]);
    const { status, body } = await desk.call('POST', '/v1/conversations', { body: { message: 'More' } });
    expect([status, body.error.code]).toEqual([402, 'wallet_empty']);
  });
});
