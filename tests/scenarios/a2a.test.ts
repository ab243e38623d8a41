import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectA2a, type Part, saying, TaskState } from '../../packages/server/src/edges/a2a/client.fixture.ts';
import { door } from './conversations.fixture.ts';
import { asksForSize, calling, type Desk, inTurn, paperDesk, startDesk } from './interactions.fixture.ts';

type Client = Awaited<ReturnType<typeof connectA2a>>;
type Task = Awaited<ReturnType<Client['getTask']>>;

let desk: Desk;
let deploymentId: string;
let client: Client;
beforeAll(async () => {
  desk = await startDesk();
  deploymentId = (await desk.apply(paperDesk, desk.liveKey)).body.id;
  client = await connectA2a(desk.url, deploymentId, desk.testKey);
});
afterAll(() => desk.stop());

const asUser = (userId: string) => connectA2a(desk.url, deploymentId, desk.testKey, { 'service-user': userId });
const work = { metadata: { hand_off: 'always' } };
const getTask = (id: string, historyLength?: number) => client.getTask({ tenant: '', id, historyLength });
const listing = {
  ...{ tenant: '', contextId: '', status: TaskState.TASK_STATE_UNSPECIFIED, pageToken: '' },
  statusTimestampAfter: undefined,
};

async function message(sent: ReturnType<Client['sendMessage']>) {
  const answer = await sent;
  if (!('messageId' in answer)) throw new Error(`A task came: ${JSON.stringify(answer)}`);
  return answer;
}
async function task(sent: ReturnType<Client['sendMessage']>): Promise<Task> {
  const answer = await sent;
  if (!('status' in answer)) throw new Error(`A message came: ${JSON.stringify(answer)}`);
  return answer;
}
const texts = (parts: readonly Part[] = []) =>
  parts.flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : []));
const datas = (parts: readonly Part[] = []) =>
  parts.flatMap(({ content }) => (content?.$case === 'data' ? [content.value] : []));
const links = (parts: readonly Part[] = []) =>
  parts.flatMap(({ content }) => (content?.$case === 'url' ? [content.value] : []));
const resultOf = ({ artifacts }: Task) => artifacts.flatMap(({ parts }) => texts(parts));
/** A function that a message brings along. */
const ownTool = { name: 'find_shelf', description: 'Find.', input_schema: { type: 'object' }, read_only: true };
/** Answers the next pending call of the deployment's function, as the company's code does. */
async function answerCall(of: { task_id?: string }, output: unknown) {
  const query = new URLSearchParams({ type: 'tool_call', ...of });
  const { data } = await desk.until(`/v1/interactions?${query}`, ({ data: open }) => open.length === 1);
  expect((await desk.answer(data[0].id, { output })).status).toBe(200);
}
const show = async (path: string) => (await desk.call('GET', path)).body;

async function heard(stream: ReturnType<Client['sendMessageStream']>) {
  const events = [];
  for await (const { payload } of stream) if (payload) events.push(payload);
  return events;
}
const statesIn = (events: Awaited<ReturnType<typeof heard>>) =>
  events.map((event) =>
    event.$case === 'statusUpdate' || event.$case === 'task' ? event.value.status?.state : event.$case,
  );

describe('a message', () => {
  it('is answered by a message, and the exchange is a conversation [A2A-008, A2A-009, A2A-010, A2A-012, A2A-018]', async () => {
    desk.script(() => ({ text: 'Good morning.' }));
    const answer = await message(client.sendMessage(saying('Hello')));
    expect(texts(answer.parts)).toEqual(['Good morning.']);
    expect(await show(`/v1/conversations/${answer.contextId}`)).toMatchObject({
      deployment_id: deploymentId,
      user_id: null,
      status: 'idle',
    });
    const again = await message(client.sendMessage(saying('And you?', { contextId: answer.contextId })));
    expect(again.contextId).toBe(answer.contextId);
    const { data } = await show(`/v1/conversations/${answer.contextId}/messages`);
    expect(data.map(({ text }: { text: string }) => text).reverse()).toEqual([
      ...['Hello', 'Good morning.', 'And you?', 'Good morning.'],
    ]);
    expect(data[0].id).toBe(again.messageId);
  });

  it('acts for the user in `Service-User` and only in that user’s conversations [A2A-009]', async () => {
    desk.script(() => ({ text: 'Hello, Ada.' }));
    const ada = await asUser('ada');
    const { contextId } = await message(ada.sendMessage(saying('Hello')));
    expect((await show(`/v1/conversations/${contextId}`)).user_id).toBe('ada');
    const eve = await asUser('eve');
    await expect(eve.sendMessage(saying('Hello', { contextId }))).rejects.toMatchObject({
      envelopeCode: -32001,
      data: [{ metadata: { code: 'conversation_not_found' } }],
    });
    const badUser = await desk.call('POST', `/v1/a2a/${deploymentId}`, {
      body: {},
      headers: { 'service-user': 'a b' },
    });
    expect([badUser.status, badUser.body.error.param]).toEqual([400, 'Service-User']);
  });

  it('carries data as context and bytes as an upload of the user', async () => {
    desk.script(() => ({ text: 'Read.' }));
    const ada = await asUser('ada');
    const note: Part = {
      content: { $case: 'raw', value: Buffer.from('Buy milk.') },
      filename: 'note.txt',
      mediaType: 'text/plain',
      metadata: undefined,
    };
    const { contextId } = await message(ada.sendMessage(saying(['See here', { data: { shelf: 3 } }, note])));
    const { data } = await show(`/v1/conversations/${contextId}/messages`);
    const asked = data.at(-1);
    expect(asked).toMatchObject({ text: 'See here', context: { shelf: 3 }, attachments: [{ filename: 'note.txt' }] });
    expect(await show(`/v1/files/${asked.attachments[0].file_id}`)).toMatchObject({
      user_id: 'ada',
      source: 'upload',
      size_bytes: 9,
    });
    const link: Part = { ...note, content: { $case: 'url', value: 'http://127.0.0.1/secret' } };
    await expect(ada.sendMessage(saying(link))).rejects.toMatchObject({ envelopeCode: -32005 });
  });

  it('with only a data part sends the data as its text [A2A-022]', async () => {
    desk.script(() => ({ text: 'Read.' }));
    const { contextId } = await message(client.sendMessage(saying({ data: { order: 'A-17' } })));
    const { data } = await show(`/v1/conversations/${contextId}/messages`);
    expect(data.at(-1)).toMatchObject({ text: '{"order":"A-17"}', context: null });
  });

  it('that is sent again runs once; short ids are no proof that it is the same [A2A-023]', async () => {
    desk.script(() => ({ text: 'Once.' }));
    const asked = (messageId: string) => message(client.sendMessage(saying('Refund it', { messageId })));
    const first = await asked('6d1f4bb0-5f4f-4b52-9a35-1c2f0a5d2c11');
    expect(await asked('6d1f4bb0-5f4f-4b52-9a35-1c2f0a5d2c11')).toEqual(first);
    expect((await show(`/v1/conversations/${first.contextId}/messages`)).data).toHaveLength(2);
    expect((await asked('1')).contextId).not.toBe((await asked('1')).contextId);
  });

  it('that fails returns the API’s error code', async () => {
    desk.script(() => ({ fail: 400, failMessage: 'No.' }));
    await expect(client.sendMessage(saying('Hello'))).rejects.toMatchObject({
      envelopeCode: -32603,
      data: [{ metadata: { code: 'model_error' } }],
    });
    await expect(client.sendMessage(saying('   '))).rejects.toMatchObject({
      envelopeCode: -32602,
      data: [{ metadata: { code: 'message_required', request_id: expect.stringMatching(/^req_/) } }],
    });
    await expect(client.sendMessage(saying('a', { metadata: { output_schema: { type: 7 } } }))).rejects.toMatchObject({
      data: [{ metadata: { code: 'output_schema_invalid', param: 'output_schema' } }],
    });
  });
});

describe('work', () => {
  it('is a task with its result, its data and its files [A2A-010, A2A-012, A2A-014, A2A-018]', async () => {
    desk.script((request) =>
      request.tools.some(({ name }) => name === 'save_output')
        ? inTurn(calling('save_output', { filename: 'list.md', content: '# Milk' }), { text: '{"count": 1}' })(request)
        : { text: '{"count": 1}' },
    );
    const schema = { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] };
    const done = await task(
      client.sendMessage(saying('Write the list', { metadata: { hand_off: 'always', output_schema: schema } })),
    );
    expect(done.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(await show(`/v1/tasks/${done.id}`)).toMatchObject({ status: 'done', conversation_id: done.contextId });
    expect(done.artifacts.flatMap(({ parts }) => datas(parts))).toEqual([{ count: 1 }]);
    const [link] = done.artifacts.flatMap(({ parts }) => links(parts));
    expect(await (await fetch(link as string)).text()).toBe('# Milk');
    const read = await getTask(done.id, 5);
    expect(read.artifacts.map(({ name }) => name)).toEqual(done.artifacts.map(({ name }) => name));
    expect(read.history.map(({ parts }) => texts(parts)[0])).toContain('Write the list');
    expect((await getTask(done.id, 1)).history).toHaveLength(1);
    expect((await getTask(done.id)).history).toEqual([]);
    await expect(client.sendMessage(saying('More', { taskId: done.id }))).rejects.toMatchObject({
      envelopeCode: -32004,
    });
  });

  it('that the agent hands off itself is a task too [A2A-010]', async () => {
    desk.script((request) =>
      request.tools.some(({ name }) => name === 'hand_off_to_work')
        ? { text: 'On it.', calls: [{ name: 'hand_off_to_work', arguments: { title: 'Tidy', task: 'Tidy up.' } }] }
        : { text: 'Tidied.' },
    );
    const done = await task(client.sendMessage(saying('Tidy up')));
    expect(resultOf(done)).toEqual(['Tidied.']);
  });

  it('that waits for a person requires input; a message in that task answers [A2A-019]', async () => {
    desk.script(asksForSize);
    const waiting = await task(client.sendMessage(saying('A shirt', work)));
    expect(waiting.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    expect(texts(waiting.status?.message?.parts)).toEqual(['Which size? (S, M)']);
    const [asked] = datas(waiting.status?.message?.parts);
    expect(asked).toMatchObject({ type: 'question', interaction_id: expect.stringMatching(/^int_/) });
    const done = await task(client.sendMessage(saying('M', { taskId: waiting.id })));
    expect([done.id, done.status?.state]).toEqual([waiting.id, TaskState.TASK_STATE_COMPLETED]);
    expect(resultOf(done)).toEqual(['Thanks.']);
    expect((await show(`/v1/interactions/${asked.interaction_id}`)).outcome.answers).toEqual(['M']);
  });

  it('that waits for approval accepts it as data from a person who is present [A2A-019]', async () => {
    desk.script(inTurn(calling('order_paper', { sheets: 5 }), { text: 'Ordered.' }));
    const waiting = await task(client.sendMessage(saying('Order paper', work)));
    const about = { taskId: waiting.id, contextId: waiting.contextId };
    const answers = [
      [saying('yes', about), 'answer_mismatch'],
      [saying({ data: { approve: true } }, about), 'present_user_required'],
      [saying({ data: { interaction_id: 'int_0', approve: true } }, about), 'interaction_not_found'],
      [saying({ data: 'yes' }, about), 'answer_mismatch'],
    ] as const;
    for (const [answer, code] of answers) {
      await expect(client.sendMessage(answer), code).rejects.toMatchObject({ data: [{ metadata: { code } }] });
    }
    await expect(
      client.sendMessage(saying('a', { ...about, contextId: 'conv_000000000000000000000000' })),
    ).rejects.toMatchObject({ envelopeCode: -32602 });
    const [{ interaction_id }] = datas(waiting.status?.message?.parts);
    const yes = { interaction_id, approve: true, present_user: true };
    // The approval lets the call through, which the company's code answers.
    const done = task(client.sendMessage(saying({ data: yes }, about)));
    await answerCall({ task_id: waiting.id }, 'Sent.');
    expect(resultOf(await done)).toEqual(['Ordered.']);
  });

  it('that waits for several answers resumes with the last of them [A2A-019]', async () => {
    const find = (shelf: string) => ({ name: 'find_shelf', arguments: { shelf } });
    desk.script(inTurn({ calls: [find('A4'), find('A5')] }, { text: 'Both are there.' }));
    const metadata = { ...work.metadata, tools: [ownTool] };
    const { id } = await task(client.sendMessage(saying('Is there paper?', { metadata })));
    const asked = async () => datas((await getTask(id)).status?.message?.parts).map((each) => each.interaction_id);
    await desk.until(`/v1/interactions?task_id=${id}`, ({ data }) => data.length === 2);
    const [first, second] = await asked();
    await expect(client.sendMessage(saying({ data: { output: 'Yes.' } }, { taskId: id }))).rejects.toMatchObject({
      data: [{ metadata: { code: 'invalid_request', param: 'interaction_id' } }],
    });
    const yes = (interaction_id: string) => saying({ data: { interaction_id, output: 'Yes.' } }, { taskId: id });
    const half = await task(client.sendMessage(yes(first)));
    expect(half.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    expect(await asked()).toEqual([second]);
    expect(resultOf(await task(client.sendMessage(yes(second))))).toEqual(['Both are there.']);
  });

  it('calls functions of the deployment without asking the client for anything [A2A-660]', async () => {
    desk.script(inTurn(calling('find_stock', { sku: 'A4' }), calling('find_stock', { sku: 'A5' }), { text: 'Found.' }));
    const begun = await task(client.sendMessage(saying('Paper?', work, { returnImmediately: true })));
    const states = client.resubscribeTask({ tenant: '', id: begun.id });
    const told = heard(states);
    for (const sku of ['A4', 'A5']) {
      await desk.until(
        `/v1/interactions?task_id=${begun.id}`,
        ({ data }) => data.length === 1 && data[0].summary.includes(sku),
      );
      expect((await getTask(begun.id)).status).toMatchObject({ state: TaskState.TASK_STATE_WORKING });
      await answerCall({ task_id: begun.id }, 7);
    }
    const seen = statesIn(await told);
    expect(seen).not.toContain(TaskState.TASK_STATE_INPUT_REQUIRED);
    expect(seen.at(-1)).toBe(TaskState.TASK_STATE_COMPLETED);

    const streamed = heard(client.sendMessageStream(saying('Paper?', work)));
    for (const _ of ['A4', 'A5']) await answerCall({}, 7);
    expect(statesIn(await streamed).at(-1)).toBe(TaskState.TASK_STATE_COMPLETED);
  });

  it('that waits for a connection requires authentication [A2A-019]', async () => {
    desk.script(inTurn(calling('connect_app', { app: 'notion' }), { text: 'Done.' }));
    const { id, contextId } = await task(client.sendMessage(saying('What is on my list?', work)));
    expect((await getTask(id)).status?.state).toBe(TaskState.TASK_STATE_AUTH_REQUIRED);
    await expect(client.sendMessage(saying('done', { taskId: id }))).rejects.toMatchObject({
      data: [{ metadata: { code: 'connect_app_instead' } }],
    });
    const { tasks } = await client.listTasks({ ...listing, contextId, status: TaskState.TASK_STATE_AUTH_REQUIRED });
    expect(tasks.map((each) => each.id)).toEqual([id]);
    await client.cancelTask({ tenant: '', id, metadata: undefined });
  });

  it('is stopped by a cancel, there and here [A2A-016, A2A-020]', async () => {
    desk.script(asksForSize);
    const { id } = await task(client.sendMessage(saying('A shirt', work)));
    const cancelled = await client.cancelTask({ tenant: '', id, metadata: undefined });
    expect(cancelled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    expect(await show(`/v1/tasks/${id}`)).toMatchObject({ status: 'failed', error: { code: 'stopped' } });
    expect((await getTask(id)).status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    await expect(client.cancelTask({ tenant: '', id, metadata: undefined })).rejects.toMatchObject({
      envelopeCode: -32002,
    });
  });

  it('is returned at once if the client does not wait, and leaves the conversation idle', async () => {
    const held = door();
    desk.script(async ({ tools }) => {
      if (!tools.some(({ name }) => name === 'hand_off_to_work')) await held.opened;
      return { text: 'There.' };
    });
    const begun = await task(client.sendMessage(saying('Slowly', work, { returnImmediately: true })));
    expect([TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING]).toContain(begun.status?.state);
    const meanwhile = await message(client.sendMessage(saying('Still there?', { taskId: begun.id })));
    expect([texts(meanwhile.parts), meanwhile.contextId]).toEqual([['There.'], begun.contextId]);
    held.open();
    await desk.rest(begun.contextId);
    expect((await getTask(begun.id)).status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  });
});

describe('a reply that waits', () => {
  it('is a task that requires input, and a message in that task completes it [REC-710]', async () => {
    desk.script(asksForSize);
    const asking = await task(client.sendMessage(saying('A shirt')));
    expect(asking.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    expect(texts(asking.status?.message?.parts)).toEqual(['Which size? (S, M)']);
    expect(datas(asking.status?.message?.parts)).toMatchObject([{ type: 'question', task_id: null }]);
    expect(await getTask(asking.id)).toEqual(asking);
    const done = await task(client.sendMessage(saying('S', { taskId: asking.id, contextId: asking.contextId })));
    expect([done.id, done.status?.state, resultOf(done)]).toEqual([
      asking.id,
      TaskState.TASK_STATE_COMPLETED,
      ['Thanks.'],
    ]);
    expect(await getTask(asking.id)).toEqual(done);
    await expect(client.sendMessage(saying('M', { taskId: asking.id }))).rejects.toThrow(/waits for nothing/);
  });

  it('is answered by the next message in its context too [REC-710]', async () => {
    desk.script(asksForSize);
    const asking = await task(client.sendMessage(saying('A shirt')));
    const answer = await message(client.sendMessage(saying('S', { contextId: asking.contextId })));
    expect(texts(answer.parts)).toEqual(['Thanks.']);
    expect((await getTask(asking.id)).status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  });

  it('is streamed up to its question, and on from the answer to its end [REC-710]', async () => {
    desk.script(asksForSize);
    const [asking, ...none] = await heard(client.sendMessageStream(saying('A shirt')));
    expect(none).toEqual([]);
    if (asking?.$case !== 'task') throw new Error(`No task came: ${JSON.stringify(asking)}`);
    expect(asking.value.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const { id: taskId } = asking.value;
    const subscription = client.resubscribeTask({ tenant: '', id: taskId });
    await subscription.next();
    const events = await heard(client.sendMessageStream(saying('M', { taskId })));
    expect(events.map(({ $case }) => $case)).toEqual(['task', 'artifactUpdate', 'statusUpdate']);
    expect(statesIn(events).at(-1)).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(statesIn(await heard(subscription)).at(-1)).toBe(TaskState.TASK_STATE_COMPLETED);
  });

  it('is canceled by a cancel, and not there for another org, user or context [REC-710]', async () => {
    desk.script(asksForSize);
    const asking = await task((await asUser('ida')).sendMessage(saying('A shirt')));
    const other = await asUser('jan');
    await expect(other.getTask({ tenant: '', id: asking.id })).rejects.toThrow();
    await expect(other.sendMessage(saying('S', { taskId: asking.id }))).rejects.toThrow();
    const elsewhere = await connectA2a(desk.url, deploymentId, desk.liveKey);
    await expect(elsewhere.getTask({ tenant: '', id: asking.id })).rejects.toThrow();
    await expect(
      client.sendMessage(saying('S', { taskId: asking.id, contextId: 'conv_000000000000000000000000' })),
    ).rejects.toThrow(/contextId/);
    const canceled = await client.cancelTask({ tenant: '', id: asking.id, metadata: undefined });
    expect(canceled).toMatchObject({ id: asking.id, status: { state: TaskState.TASK_STATE_CANCELED } });
    await expect(client.cancelTask({ tenant: '', id: asking.id, metadata: undefined })).rejects.toThrow(/ended/);
  });
});

describe('a reply that calls a function', () => {
  it('of the deployment includes the result of the company’s code [A2A-660]', async () => {
    desk.script(inTurn(calling('find_stock', { sku: 'A4' }), { text: 'Found.' }));
    const answer = message(client.sendMessage(saying('Paper?')));
    await answerCall({}, 7);
    expect(texts((await answer).parts)).toEqual(['Found.']);
    const streamed = heard(client.sendMessageStream(saying('Paper?')));
    await answerCall({}, 7);
    expect((await streamed).map(({ $case }) => $case)).toEqual(['message']);
  });

  it('of the message asks the client for its result [A2A-660]', async () => {
    desk.script(inTurn(calling('find_shelf', { shelf: 'A4' }), { text: 'Found.' }));
    const asking = await task(client.sendMessage(saying('Paper?', { metadata: { tools: [ownTool] } })));
    expect(datas(asking.status?.message?.parts)).toMatchObject([
      { type: 'tool_call', details: { tool_name: 'find_shelf' } },
    ]);
    const { contextId } = asking;
    const answer = await message(client.sendMessage(saying({ data: { output: 'Shelf 1' } }, { contextId })));
    expect(texts(answer.parts)).toEqual(['Found.']);
  });
});

describe('a stream', () => {
  it('of a direct reply is one message [A2A-013]', async () => {
    desk.script(() => ({ text: ['One ', 'two.'], chunkDelayMs: 30 }));
    const events = await heard(client.sendMessageStream(saying('Count')));
    expect(events.map(({ $case }) => $case)).toEqual(['message']);
    expect(events[0]?.$case === 'message' && texts(events[0].value.parts)).toEqual(['One two.']);
  });

  it('of work is its task and every change up to the wait, and on from the answer to the end [A2A-013, A2A-017]', async () => {
    desk.script(
      inTurn(
        calling('save_output', { filename: 'size.md', content: 'M?' }),
        calling('ask_question', { question: 'Which size?', options: ['S', 'M'] }),
        { text: 'Thanks.' },
      ),
    );
    const first = await heard(client.sendMessageStream(saying('A shirt', work)));
    expect(first[0]?.$case).toBe('task');
    expect(statesIn(first)).toEqual([expect.any(Number), 'artifactUpdate', TaskState.TASK_STATE_INPUT_REQUIRED]);
    const { id } = (first[0] as { value: Task }).value;

    const subscription = client.resubscribeTask({ tenant: '', id });
    const { value: now } = await subscription.next();
    expect(now?.payload).toMatchObject({ $case: 'task', value: { id } });
    const rest = heard(subscription);
    const second = await heard(client.sendMessageStream(saying('M', { taskId: id })));
    expect(second[0]?.$case).toBe('task');
    expect(statesIn(second).slice(-2)).toEqual(['artifactUpdate', TaskState.TASK_STATE_COMPLETED]);
    expect(statesIn(await rest).slice(-2)).toEqual(['artifactUpdate', TaskState.TASK_STATE_COMPLETED]);
    await expect(heard(client.resubscribeTask({ tenant: '', id }))).rejects.toMatchObject({ envelopeCode: -32004 });
  });

  it('that cannot start is refused in plain JSON [A2A-013]', async () => {
    await expect(heard(client.sendMessageStream(saying('a', { contextId: 'nowhere' })))).rejects.toMatchObject({
      envelopeCode: -32001,
    });
  });

  it('ends with the key that opened it', async () => {
    const { body: key } = await desk.call('POST', '/v1/keys', { body: { name: 'brief', scopes: ['runtime'] } });
    const brief = await connectA2a(desk.url, deploymentId, key.key);
    desk.script(asksForSize);
    const { id } = await task(brief.sendMessage(saying('A shirt', work)));
    const stream = brief.resubscribeTask({ tenant: '', id });
    await stream.next();
    const rest = heard(stream);
    await desk.call('DELETE', `/v1/keys/${key.id}`);
    expect(await rest).toEqual([]);
  });

  it('that is left leaves the work alone [A2A-017]', async () => {
    const held = door();
    desk.script(async () => {
      await held.opened;
      return { text: 'Done.' };
    });
    const stream = client.sendMessageStream(saying('Go', work));
    const { value } = await stream.next();
    // The client cancels a stream of Node, which may answer only with the next data. A client that leaves does not wait.
    const left = stream.return();
    held.open();
    if (value?.payload?.$case !== 'task') throw new Error('No task came.');
    const { id } = value.payload.value;
    const { status } = await desk.until(`/v1/tasks/${id}`, (body) => body.status === 'done');
    expect(status).toBe('done');
    await left;
  });
});

describe('tasks', () => {
  it('are listed by context and state, page by page, newest first [A2A-015]', async () => {
    const own = (await desk.apply({ ...paperDesk, name: 'lister' }, desk.liveKey)).body.id;
    const lister = await connectA2a(desk.url, own, desk.testKey, { 'service-user': 'lena' });
    desk.script(() => ({ text: 'Done.' }));
    const first = await task(lister.sendMessage(saying('One', work)));
    const second = await task(lister.sendMessage(saying('Two', { ...work, contextId: first.contextId })));
    const third = await task(lister.sendMessage(saying('Three', work)));
    const ids = async (filter: Partial<Parameters<Client['listTasks']>[0]>, of = lister) =>
      (await of.listTasks({ ...listing, ...filter })).tasks.map(({ id }) => id);
    expect(await ids({})).toEqual([third.id, second.id, first.id]);
    expect(await ids({ contextId: first.contextId })).toEqual([second.id, first.id]);
    expect(await ids({ status: TaskState.TASK_STATE_WORKING })).toEqual([]);
    expect(await ids({ status: TaskState.TASK_STATE_COMPLETED })).toHaveLength(3);
    expect(await ids({ status: TaskState.TASK_STATE_REJECTED })).toEqual([]);
    expect(await ids({ statusTimestampAfter: new Date(Date.now() + 60_000).toISOString() })).toEqual([]);
    const page = await lister.listTasks({ ...listing, pageSize: 2 });
    expect([page.tasks.length, page.pageSize, page.totalSize]).toEqual([2, 2, 3]);
    expect(page.tasks[0]?.artifacts).toEqual([]);
    expect(await ids({ pageSize: 2, pageToken: page.nextPageToken })).toEqual([first.id]);
    const [full] = (await lister.listTasks({ ...listing, includeArtifacts: true })).tasks;
    expect(full && resultOf(full)).toEqual(['Done.']);
    expect(await ids({}, await connectA2a(desk.url, own, desk.testKey, { 'service-user': 'max' }))).toEqual([]);
    await expect(ids({ pageSize: 101 })).rejects.toMatchObject({ envelopeCode: -32602 });
    await expect(ids({ pageToken: 'forged' })).rejects.toMatchObject({
      data: [{ metadata: { code: 'invalid_cursor' } }],
    });
    // Of another deployment they are not there.
    await expect(getTask(first.id)).rejects.toMatchObject({ envelopeCode: -32001 });
    await expect(client.cancelTask({ tenant: '', id: first.id, metadata: undefined })).rejects.toMatchObject({
      envelopeCode: -32001,
    });
  });
});
