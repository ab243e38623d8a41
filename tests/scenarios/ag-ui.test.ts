import { type BaseEvent, HttpAgent, type Message } from '@ag-ui/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { calling, type Desk, inTurn, paperDesk, startDesk } from './interactions.fixture.ts';

let desk: Desk;
beforeAll(async () => {
  desk = await startDesk();
  await desk.apply(paperDesk, desk.liveKey);
});
afterAll(() => desk.stop());

type Thread = ReturnType<typeof thread>;

/** The client of the protocol's own authors, which checks each event and their order. */
function thread(threadId: string, { user = 'ada', key = desk.testKey, deployment = 'desk' } = {}) {
  const headers = { authorization: `Bearer ${key}`, 'service-user': user };
  const agent = new HttpAgent({ url: `${desk.url}/v1/agui/${deployment}`, headers, threadId });
  return {
    agent,
    async run(said: string | null, more: Parameters<HttpAgent['runAgent']>[0] = {}) {
      if (said !== null) agent.addMessage({ id: crypto.randomUUID(), role: 'user', content: said });
      const events: BaseEvent[] = [];
      await agent.runAgent(more, { onEvent: ({ event }) => void events.push(event) });
      return { events, types: events.map(({ type }) => String(type)), last: events.at(-1) as BaseEvent };
    },
  };
}

const lastText = ({ agent }: Thread) => agent.messages.findLast(({ role }) => role === 'assistant')?.content;
const conversationOf = ({ agent }: Thread): string => agent.state.vestra.conversation_id;
const textsOf = async (id: string) =>
  (await desk.call('GET', `/v1/conversations/${id}/messages`)).body.data
    .map(({ text }: { text: string }) => text)
    .reverse();

it('answers a run, and a thread is a conversation of its user’s [AGUI-001]', async () => {
  desk.script(() => ({ text: 'Good morning.' }));
  const ada = thread('t-1');
  const first = await ada.run('Hello');
  expect(first.types.filter((type) => type !== 'TEXT_MESSAGE_CONTENT')).toEqual([
    ...['RUN_STARTED', 'STATE_SNAPSHOT', 'TEXT_MESSAGE_START', 'TEXT_MESSAGE_END', 'RUN_FINISHED'],
  ]);
  expect(first.last.outcome).toEqual({ type: 'success' });
  expect((first.last.usage as { outputTokens: number }[])[0]?.outputTokens).toBeGreaterThan(0);
  expect(lastText(ada)).toBe('Good morning.');
  const id = conversationOf(ada);
  await ada.run('And you?');
  expect(conversationOf(ada)).toBe(id);
  expect(await textsOf(id)).toEqual(['Hello', 'Good morning.', 'And you?', 'Good morning.']);
  expect((await desk.call('GET', `/v1/conversations/${id}`)).body.user_id).toBe('ada');

  const eve = thread('t-1', { user: 'eve' });
  await eve.run('Hello');
  expect(conversationOf(eve)).not.toBe(id);
  const other = await desk.call('POST', '/v1/agui/nobody', { body: { threadId: 't', runId: 'r', messages: [] } });
  expect([other.status, other.body.error.code]).toEqual([404, 'deployment_not_found']);
});

it('lets the client call its tools [AGUI-002]', async () => {
  desk.script(inTurn(calling('get_place', { of: 'me' }), { text: 'You are in Oslo.' }));
  const place = thread('t-2');
  const parameters = { type: 'object', properties: { of: { type: 'string' } } };
  const tools = [{ name: 'getPlace', description: 'Where the user is.', parameters }];
  const asked = await place.run('Where am I?', { tools });
  const call = place.agent.messages.findLast(({ role }) => role === 'assistant') as Extract<
    Message,
    { role: 'assistant' }
  >;
  const [made] = call.toolCalls ?? [];
  expect(made?.function).toEqual({ name: 'getPlace', arguments: '{"of":"me"}' });
  expect(asked.last.outcome).toEqual({ type: 'success', pendingToolCallIds: [made?.id] });
  place.agent.addMessage({ id: 'r-1', role: 'tool', toolCallId: made?.id as string, content: 'Oslo' });
  await place.run(null, { tools });
  expect(lastText(place)).toBe('You are in Oslo.');
});

it('ends in an interrupt if it waits for a person, and resumes with the answer [AGUI-003]', async () => {
  desk.script(inTurn(calling('ask_question', { question: 'Which size?', options: ['S', 'M'] }), { text: 'M it is.' }));
  const shop = thread('t-3');
  const asked = await shop.run('A shirt');
  const [question] = (asked.last.outcome as { interrupts: { id: string; reason: string; message: string }[] })
    .interrupts;
  expect(question).toMatchObject({
    reason: 'question',
    message: 'Which size?\n- S\n- M',
    responseSchema: { required: ['answers'] },
  });
  const resume = [{ interruptId: question?.id as string, status: 'resolved' as const, payload: { answers: ['M'] } }];
  const resumed = await shop.run(null, { resume });
  expect([resumed.last.outcome, lastText(shop)]).toEqual([{ type: 'success' }, 'M it is.']);

  desk.script(inTurn(calling('order_paper', { sheets: 5 }), { text: 'Not ordered.' }));
  const approval = await shop.run('Order paper');
  const [wanted] = (approval.last.outcome as { interrupts: { id: string; reason: string }[] }).interrupts;
  expect(wanted?.reason).toBe('approval');
  const answer = (payload: unknown) => [{ interruptId: wanted?.id as string, status: 'resolved' as const, payload }];
  await expect(shop.run(null, { resume: answer({ approve: true }) })).rejects.toThrow(/present_user/);
  await shop.run(null, { resume: answer(false) });
  expect(lastText(shop)).toBe('Not ordered.');
});

it('shows a task while it runs [AGUI-004]', async () => {
  desk.script(({ tools }) =>
    tools.some(({ name }) => name === 'hand_off_to_work')
      ? {
          text: 'I am on it.',
          calls: [{ name: 'hand_off_to_work', arguments: { title: 'Count', task: 'Count the paper.' } }],
        }
      : { text: 'There are 12.' },
  );
  const counting = thread('t-4');
  const { types, events } = await counting.run('Count the paper');
  expect(types).toContain('ACTIVITY_SNAPSHOT');
  expect(events.find(({ type }) => String(type) === 'ACTIVITY_SNAPSHOT')).toMatchObject({ activityType: 'WORK' });
  expect(lastText(counting)).toContain('There are 12.');
});

it('runs once per run id, creates one conversation for concurrent runs, and reports failures [AGUI-001, AGUI-005]', async () => {
  desk.script(() => ({ text: 'Once.' }));
  const body = { threadId: 't-5', runId: 'r-5', messages: [{ id: 'm', role: 'user', content: 'Hi' }] };
  const raw = async () => {
    const headers = { authorization: `Bearer ${desk.testKey}`, 'content-type': 'application/json' };
    const answer = await fetch(`${desk.url}/v1/agui/desk`, { method: 'POST', headers, body: JSON.stringify(body) });
    return answer.text();
  };
  const count = async () => (await desk.call('GET', '/v1/conversations?limit=100')).body.data.length;
  const before = await count();
  const [one, two] = await Promise.all([raw(), raw()]);
  expect(one).toBe(two);
  expect(await raw()).toBe(one);
  expect(await count()).toBe(before + 1);

  const runs = [thread('t-7'), thread('t-7')];
  await Promise.all(runs.map((each, at) => each.run(`Question ${at}`)));
  const [id, ...others] = new Set(runs.map(conversationOf));
  expect([others, await count()]).toEqual([[], before + 2]);
  expect((await textsOf(id as string)).filter((text: string) => text !== 'Once.').sort()).toEqual([
    ...['Question 0', 'Question 1'],
  ]);

  desk.script(() => ({ status: 400, body: { error: { message: 'No.' } } }) as never);
  const failing = thread('t-6');
  const types: string[] = [];
  failing.agent.addMessage({ id: 'm', role: 'user', content: 'Fail' });
  await failing.agent.runAgent({}, { onEvent: ({ event }) => void types.push(String(event.type)) }).catch(() => {});
  expect(types.at(-1)).toBe('RUN_ERROR');
});

it('sends a slow reader every event, even long after the turn ended [AGUI-531]', async () => {
  const words = Array.from({ length: 10_000 }, (_, at) => String(at % 10));
  desk.script(() => ({ text: words }));
  const answer = await fetch(`${desk.url}/v1/agui/desk`, {
    method: 'POST',
    headers: { authorization: `Bearer ${desk.testKey}`, 'service-user': 'slow', 'content-type': 'application/json' },
    body: JSON.stringify({ threadId: 't-8', runId: 'r-8', messages: [{ id: 'm', role: 'user', content: 'Count' }] }),
  });
  await desk.until('/v1/conversations?user_id=slow', ({ data }) => data[0]?.status === 'idle');
  const events = [...(await answer.text()).matchAll(/^data: (.+)$/gm)].map(([, data]) => JSON.parse(data as string));
  expect(events.map(({ delta = '' }) => delta).join('')).toBe(words.join(''));
  expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
});
