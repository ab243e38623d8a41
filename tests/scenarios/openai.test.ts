import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { payOrg } from './conversations.fixture.ts';
import { calling, type Desk, inTurn, paperDesk, resultsIn, startDesk } from './interactions.fixture.ts';

let desk: Desk;
let client: OpenAI;
beforeAll(async () => {
  desk = await startDesk();
  await desk.apply(paperDesk, desk.liveKey);
  client = clientOf(desk.testKey);
});
afterAll(() => desk.stop());

const clientOf = (apiKey: string, more: Partial<ConstructorParameters<typeof OpenAI>[0]> = {}) =>
  new OpenAI({ apiKey, baseURL: `${desk.url}/v1/openai`, maxRetries: 0, ...more });

const model = 'desk';
const user = (content: string) => ({ role: 'user' as const, content });
const agent = (content: string | null) => ({ role: 'assistant' as const, content });
const countConversations = async () => (await desk.call('GET', '/v1/conversations?limit=100')).body.data.length;
const newest = async () => (await desk.call('GET', '/v1/conversations?limit=1')).body.data[0];
const lastAsked = () => JSON.stringify(desk.asked.at(-1));
const refusal = (sent: Promise<unknown>) =>
  sent.then(
    () => Promise.reject(new Error('It was not refused.')),
    (error: InstanceType<typeof OpenAI.APIError>) => ({ status: error.status, code: error.code, param: error.param }),
  );

const weather = {
  type: 'function' as const,
  function: {
    name: 'getWeather',
    description: 'The weather of a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};

describe('a chat completion', () => {
  it('answers for a deployment, and continues its conversation when the messages are sent back [OAI-001, OAI-002]', async () => {
    desk.script(() => ({ text: 'Good morning.' }));
    const first = await client.chat.completions.create({ model, messages: [user('Hello')], temperature: 0.2 });
    expect(first.choices[0]).toMatchObject({
      message: { role: 'assistant', content: 'Good morning.' },
      finish_reason: 'stop',
    });
    expect([first.object, first.model]).toEqual(['chat.completion', 'desk']);
    expect(first.usage?.total_tokens).toBeGreaterThan(0);
    const { id } = await newest();

    const said = [user('Hello'), agent(' Good morning.\n'), user('And you?')];
    await client.chat.completions.create({ model, messages: [{ role: 'system', content: 'Be brief.' }, ...said] });
    expect((await newest()).id).toBe(id);
    const { data } = (await desk.call('GET', `/v1/conversations/${id}/messages`)).body;
    expect(data.map(({ text }: { text: string }) => text).reverse()).toEqual([
      ...['Hello', 'Good morning.', 'And you?', 'Good morning.'],
    ]);
    expect(data[1].context).toEqual({ from_the_application: 'Be brief.' });

    // The second message was edited: another talk, which knows what came before it.
    await client.chat.completions.create({ model, messages: [...said.slice(0, 2), user('And she?')] });
    const other = await newest();
    expect(other.id).not.toBe(id);
    expect(lastAsked()).toContain('Good morning.');
    expect(lastAsked()).toContain('And she?');
    expect(lastAsked()).not.toContain('And you?');
  });

  it('is the user’s own, and of no other user, deployment or mode [OAI-003]', async () => {
    desk.script(() => ({ text: 'Hello, Ada.' }));
    const messages = [user('It is me')];
    await client.chat.completions.create({ model, messages, user: 'ada' });
    const { id, user_id } = await newest();
    expect(user_id).toBe('ada');
    const back = [...messages, agent('Hello, Ada.'), user('What did I say?')];
    await client.chat.completions.create({ model, messages: back, user: 'eve' });
    expect(await newest()).toMatchObject({ user_id: 'eve' });
    await desk.apply({ name: 'other', memory: 'none' });
    await client.chat.completions.create({ model: 'other', messages: back, user: 'ada' });
    expect((await newest()).id).not.toBe(id);
    const before = await countConversations();
    expect(await refusal(client.responses.create({ model, input: 'x', conversation: id, user: 'eve' }))).toMatchObject({
      status: 400,
      code: 'conversation_user_mismatch',
    });
    expect(await refusal(client.responses.create({ model: 'other', input: 'x', conversation: id }))).toMatchObject({
      code: 'invalid_deployment',
      param: 'model',
    });
    const live = clientOf(desk.liveKey);
    expect(await refusal(live.responses.create({ model, input: 'x', conversation: id }))).toMatchObject({
      status: 404,
      code: 'conversation_not_found',
    });
    expect(await countConversations()).toBe(before);
  });

  it('is streamed in chunks [OAI-004]', async () => {
    desk.script(() => ({ text: 'One two three.' }));
    const messages = [user('Count')];
    const stream = client.chat.completions.stream({ model, messages, stream_options: { include_usage: true } });
    const roles: unknown[] = [];
    for await (const { choices } of stream) roles.push(choices[0]?.delta.role);
    const final = await stream.finalChatCompletion();
    expect(roles[0]).toBe('assistant');
    expect(final.choices[0]).toMatchObject({ message: { content: 'One two three.' }, finish_reason: 'stop' });
    expect(final.usage?.completion_tokens).toBeGreaterThan(0);
    const { id } = await newest();
    await client.chat.completions.create({ model, messages: [...messages, agent('One two three.'), user('On')] });
    expect((await newest()).id).toBe(id);
  });

  it.each([false, true])(
    'calls functions of the client’s under their own names; streamed: %s [OAI-005]',
    async (isStreamed) => {
      const look = (city: string) => ({ name: 'get_weather', arguments: { city } });
      desk.script(
        inTurn(
          { text: 'Let me look.', calls: [look('Oslo'), look('Rome')] },
          { text: 'Oslo is cold and Rome is warm.' },
        ),
      );
      const talk: OpenAI.Chat.ChatCompletionMessageParam[] = [user(`The weather? ${isStreamed}`)];
      const send = async () => {
        const of = { model, messages: talk, tools: [weather] };
        const { choices } = isStreamed
          ? await client.chat.completions.stream(of).finalChatCompletion()
          : await client.chat.completions.create(of);
        const [{ message, finish_reason }] = choices as [OpenAI.Chat.ChatCompletion.Choice];
        talk.push(message);
        return { message, finish_reason };
      };
      const called: unknown[] = [];
      let answer = await send();
      expect(answer.message.content).toBe('Let me look.');
      const { id } = await newest();
      while (answer.finish_reason === 'tool_calls') {
        for (const call of answer.message.tool_calls as OpenAI.Chat.ChatCompletionMessageFunctionToolCall[]) {
          const { city } = JSON.parse(call.function.arguments);
          called.push([call.function.name, city]);
          talk.push({ role: 'tool', tool_call_id: call.id, content: `${city}: ok` });
        }
        answer = await send();
      }
      expect(called).toEqual([
        ['getWeather', 'Oslo'],
        ['getWeather', 'Rome'],
      ]);
      expect(answer).toMatchObject({ message: { content: 'Oslo is cold and Rome is warm.' }, finish_reason: 'stop' });
      expect(resultsIn(desk.asked.at(-1))).toEqual([
        expect.stringContaining('Oslo: ok'),
        expect.stringContaining('Rome: ok'),
      ]);
      const answeredAgain = client.chat.completions.create({ model, messages: talk.slice(0, -1), tools: [weather] });
      expect(await refusal(answeredAgain)).toMatchObject({ status: 409, code: 'already_answered' });
      talk.push(user('Thanks'));
      await send();
      expect((await newest()).id).toBe(id);
    },
  );

  it('leaves calls of the company’s own functions to the company [OAI-005]', async () => {
    desk.script(inTurn(calling('find_stock', { sku: 'A4' }), { text: 'Three are left.' }));
    const messages = [user('How many?')];
    const coming = client.chat.completions.create({ model, messages, tools: [weather], user: 'stock' });
    const { data } = await desk.until('/v1/interactions?user_id=stock', ({ data: rows }) => rows.length === 1);
    await desk.answer(data[0].id, { output: 3 });
    expect((await coming).choices[0]?.message.content).toBe('Three are left.');
  });

  it('refuses a function whose name here is one of the company’s [OAI-005]', async () => {
    const tools = [{ ...weather, function: { ...weather.function, name: 'findStock' } }];
    const asked = client.chat.completions.create({ model, messages: [user('How many?')], tools, user: 'namesake' });
    await expect(asked).rejects.toMatchObject({ status: 400, code: 'duplicate_name', param: 'tools.0.name' });
  });

  it('in live mode is billed there, and is not found by a test key [OAI-001, OAI-003]', async () => {
    await payOrg(desk, desk.orgId);
    desk.script(() => ({ text: 'Live.' }));
    const live = clientOf(desk.liveKey);
    const messages = [user('Are you there?')];
    await live.chat.completions.create({ model, messages });
    const back = [...messages, agent('Live.'), user('Still?')];
    await live.chat.completions.create({ model, messages: back });
    const list = async (key: string) => (await desk.call('GET', '/v1/conversations?limit=1', { key })).body.data[0];
    const ours = await list(desk.liveKey);
    expect(ours.cost_usd).toBeGreaterThan(0);
    expect(
      (await desk.call('GET', `/v1/conversations/${ours.id}/messages`, { key: desk.liveKey })).body.data,
    ).toHaveLength(4);
    const before = await list(desk.testKey);
    await client.chat.completions.create({ model, messages: back });
    expect((await list(desk.testKey)).id).not.toBe(before.id);
    expect((await list(desk.liveKey)).id).toBe(ours.id);
  });

  it('answers in the format that is asked for [OAI-006]', async () => {
    desk.script(inTurn(calling('give_answer', { city: 'Oslo' }), { text: '{"city":"Oslo"}' }));
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    const { choices } = await client.chat.completions.create({
      model,
      messages: [user('Which city?')],
      response_format: { type: 'json_schema', json_schema: { name: 'city', schema } },
    });
    expect(JSON.parse(choices[0]?.message.content ?? '')).toEqual({ city: 'Oslo' });
  });

  it('describes in text what waits for a person [OAI-007]', async () => {
    desk.script(inTurn(calling('ask_question', { question: 'Which size?', options: ['S', 'M'] }), { text: 'Thanks.' }));
    const asked = await client.chat.completions.create({ model, messages: [user('A shirt')] });
    expect(asked.choices[0]).toMatchObject({ message: { content: 'Which size?\n- S\n- M' }, finish_reason: 'stop' });
    desk.script(inTurn(calling('order_paper', { sheets: 5 }), { text: 'Ordered.' }));
    const approval = await client.chat.completions.create({ model, messages: [user('Order paper')] });
    expect(approval.choices[0]?.message.content).toMatch(/interaction int_\w+, answered by POST/);
  });

  it('reads files that are sent along, and fetches no address [OAI-008]', async () => {
    desk.script(() => ({ text: 'I see.' }));
    const dataUrl = `data:text/plain;base64,${Buffer.from('The code is 4711.').toString('base64')}`;
    const content = [
      { type: 'text' as const, text: 'Read this' },
      { type: 'file' as const, file: { filename: 'note.txt', file_data: dataUrl } },
    ];
    await client.chat.completions.create({ model, messages: [{ role: 'user', content }], user: 'ada' });
    expect(lastAsked()).toContain('The code is 4711.');
    const image = { type: 'image_url' as const, image_url: { url: 'http://127.0.0.1/secret.png' } };
    const sent = client.chat.completions.create({ model, messages: [{ role: 'user', content: [image] }] });
    expect(await refusal(sent)).toMatchObject({ status: 400, code: 'invalid_request' });
  });

  it('names the unsupported field in its refusal [OAI-013]', async () => {
    const messages = [user('Hi')];
    const send = (more: object) => refusal(client.chat.completions.create({ model, messages, ...more }));
    for (const [more, param] of [
      [{ n: 2 }, 'n'],
      [{ logprobs: true }, 'logprobs'],
      [{ modalities: ['text', 'audio'] }, 'modalities.1'],
      [{ tool_choice: { type: 'web_search' }, tools: [weather] }, 'tool_choice'],
      [{ tools: [{ type: 'web_search' }] }, 'tools.0.type'],
      [{ functions: [] }, 'functions'],
      [{ messages: [agent('I begin')] }, 'messages'],
    ] as const) {
      expect(await send(more)).toMatchObject({ status: 400, param: expect.stringContaining(param) });
    }
    expect(await send({ model: 'nobody' })).toMatchObject({ param: 'model', code: 'model_not_found' });
    await expect(client.chat.completions.create({ model: 'nobody', messages })).rejects.toThrow('/v1/openai/models');
    const raw = await desk.call('POST', '/v1/openai/chat/completions', { body: { model, messages }, key: 'vk_wrong' });
    expect([raw.status, raw.body.error.type]).toEqual([401, 'authentication_error']);
    expect(Object.keys(raw.body.error).sort()).toEqual(['code', 'message', 'param', 'request_id', 'type']);
  });

  it('runs once however often a client sends it by itself [OAI-014]', async () => {
    desk.script(() => ({ text: 'Once.' }));
    const before = await countConversations();
    const cut = { isCut: false };
    const flaky = clientOf(desk.testKey, {
      maxRetries: 2,
      fetch: async (url, init) => {
        const answer = await fetch(url, init);
        if (cut.isCut) return answer;
        await answer.text();
        cut.isCut = true;
        throw new TypeError('The connection was lost.');
      },
    });
    const { choices } = await flaky.chat.completions.create({ model, messages: [user('Only once, please')] });
    expect(choices[0]?.message.content).toBe('Once.');
    expect(await countConversations()).toBe(before + 1);
    const key = { headers: { 'idempotency-key': 'openai-once' } };
    const [one, two] = [
      await client.chat.completions.create({ model, messages: [user('Keyed')] }, key),
      await client.chat.completions.create({ model, messages: [user('Keyed')] }, key),
    ];
    expect(one.id).toBe(two.id);
    expect(await countConversations()).toBe(before + 2);
    await client.chat.completions.create({ model, messages: [user('Keyed')] });
    expect(await countConversations()).toBe(before + 3);
  });

  it('that fails returns the same error every time [OAI-015]', async () => {
    desk.script(() => ({ status: 400, body: { error: { message: 'No.' } } }) as never);
    let sent = 0;
    const eager = clientOf(desk.testKey, {
      maxRetries: 2,
      fetch: (url, init) => {
        sent++;
        return fetch(url, init);
      },
    });
    const failed = await refusal(eager.chat.completions.create({ model, messages: [user('Fail')] }));
    expect(failed.status).toBeGreaterThanOrEqual(400);
    expect(failed.code).toEqual(expect.any(String));
    expect(sent).toBe(1);
    const reading = async () => {
      const stream = await eager.chat.completions.create({ model, messages: [user('Fail')], stream: true });
      for await (const _ of stream);
    };
    await expect(reading()).rejects.toMatchObject({ code: failed.code });
  });
});

describe('a response', () => {
  it('continues the previous response, or a conversation that is named [OAI-009]', async () => {
    desk.script(() => ({ text: 'Noted.' }));
    const first = await client.responses.create({ model, input: 'My name is Ada', instructions: 'Be kind.' });
    expect([first.output_text, first.status]).toEqual(['Noted.', 'completed']);
    expect(first.usage?.output_tokens).toBeGreaterThan(0);
    const second = await client.responses.create({ model, input: 'Who am I?', previous_response_id: first.id });
    expect(second.conversation?.id).toBe(first.conversation?.id);
    expect([first.previous_response_id, second.previous_response_id]).toEqual([null, first.id]);
    expect((await client.responses.retrieve(second.id)).previous_response_id).toBe(first.id);
    expect(lastAsked()).toContain('My name is Ada');
    const branched = client.responses.create({ model, input: 'x', previous_response_id: first.id });
    expect(await refusal(branched)).toMatchObject({ status: 400, param: 'previous_response_id' });
    const unknown = client.responses.create({ model, input: 'x', previous_response_id: 'resp_nothing' });
    expect(await refusal(unknown)).toMatchObject({ status: 404, code: 'response_not_found' });

    const { id } = await client.conversations.create({ metadata: { model, user: 'grace' } });
    const third = await client.responses.create({ input: 'Hello', conversation: id });
    expect(third.conversation?.id).toBe(id);
    expect((await client.conversations.retrieve(id)).metadata).toMatchObject({ user: 'grace' });
    expect((await desk.call('GET', `/v1/conversations/${id}`)).body.user_id).toBe('grace');
  });

  it('in a conversation of another deployment gets an error that names it and how to start a new one [OAI-531]', async () => {
    await desk.apply({ name: 'other', instructions: 'Help.' });
    const { id } = await client.conversations.create({ metadata: { model } });
    const elsewhere = client.responses.create({ model: 'other', input: 'Hello', conversation: id });
    await expect(elsewhere).rejects.toMatchObject({
      param: 'model',
      message: expect.stringMatching(/began with the deployment `desk`.*`metadata\.model`/),
    });
  });

  it('is streamed in OpenAI’s events, and followed again after any of them [OAI-010, OAI-005]', async () => {
    desk.script(
      inTurn(
        { text: 'One moment.', calls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] },
        { text: 'It is cold.' },
      ),
    );
    const { function: of } = weather;
    const tools = [{ type: 'function' as const, strict: false, ...of }];
    const stream = client.responses.stream({ model, input: 'Weather?', tools });
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    for await (const event of stream) events.push(event);
    const response = await stream.finalResponse();
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at));
    expect(events.map(({ type }) => type).filter((type) => !type.endsWith('.delta'))).toEqual([
      ...['response.created', 'response.in_progress', 'response.output_item.added', 'response.content_part.added'],
      ...['response.output_text.done', 'response.content_part.done', 'response.output_item.done'],
      ...['response.output_item.added', 'response.function_call_arguments.done', 'response.output_item.done'],
      'response.completed',
    ]);
    const call = response.output.find(
      ({ type }) => type === 'function_call',
    ) as OpenAI.Responses.ResponseFunctionToolCall;
    expect([call.name, call.arguments]).toEqual(['getWeather', '{"city":"Oslo"}']);

    const output = { type: 'function_call_output' as const, call_id: call.call_id, output: '-3' };
    const done = await client.responses.create({ model, tools, input: [output], previous_response_id: response.id });
    expect([done.output_text, done.output.length]).toEqual(['It is cold.', 1]);
    expect(done.id).not.toBe(response.id);

    const again = await client.responses.retrieve(response.id);
    expect(again.output.map(({ type }) => type)).toEqual(['message', 'function_call']);
    const half = events[4] as OpenAI.Responses.ResponseStreamEvent;
    const rest: OpenAI.Responses.ResponseStreamEvent[] = [];
    const followed = await client.responses.retrieve(response.id, {
      stream: true,
      starting_after: half.sequence_number,
    });
    for await (const event of followed) rest.push(event);
    expect(rest.map(({ type }) => type)).toEqual(events.slice(5).map(({ type }) => type));
    const unkept = await client.responses.create({ model, input: 'Hush', store: false });
    expect(await refusal(client.responses.retrieve(unkept.id))).toMatchObject({ code: 'response_not_found' });
    expect(await refusal(clientOf(desk.liveKey).responses.retrieve(response.id))).toMatchObject({
      code: 'response_not_found',
    });
  });

  it('in the background is looked at later, and can be cancelled [OAI-011]', async () => {
    desk.script(inTurn(calling('find_stock', { sku: 'A4' }), { text: 'Three.' }));
    const begun = await client.responses.create({ model, input: 'How many?', background: true });
    expect(begun).toMatchObject({ status: 'in_progress', background: true });
    const { data } = await desk.until(
      `/v1/interactions?conversation_id=${begun.conversation?.id}`,
      ({ data: rows }) => rows.length === 1,
    );
    expect((await client.responses.retrieve(begun.id)).status).toBe('in_progress');
    await desk.answer(data[0].id, { output: 3 });
    await desk.rest(begun.conversation?.id as string);
    expect(await client.responses.retrieve(begun.id)).toMatchObject({ status: 'completed', output_text: 'Three.' });

    desk.script(inTurn(calling('find_stock', { sku: 'A4' }), { text: 'Three.' }));
    const other = await client.responses.create({ model, input: 'How many?', background: true });
    await desk.open(other.conversation?.id as string);
    expect((await client.responses.cancel(other.id)).status).toBe('cancelled');
  });

  it('asks for an approval, and accepts the approval of a person [OAI-012]', async () => {
    desk.script(inTurn(calling('order_paper', { sheets: 5 }), { text: 'Ordered.' }));
    const asked = await client.responses.create({ model, input: 'Order paper', user: 'paul' });
    const request = asked.output.find(
      ({ type }) => type === 'mcp_approval_request',
    ) as OpenAI.Responses.ResponseOutputItem.McpApprovalRequest;
    expect(request).toMatchObject({ name: 'order_paper', id: expect.stringMatching(/^int_/) });
    const input = [{ type: 'mcp_approval_response' as const, approval_request_id: request.id, approve: true }];
    expect(await refusal(client.responses.create({ model, input }))).toMatchObject({ code: 'present_user_required' });
    const going = client.responses.create({ model, input, metadata: { present_user: 'true' } });
    const calls = `/v1/interactions?type=tool_call&conversation_id=${asked.conversation?.id}`;
    const { data } = await desk.until(calls, ({ data: rows }) => rows.length === 1);
    await desk.answer(data[0].id, { output: 'ok' });
    expect((await going).output_text).toBe('Ordered.');
  });
});

it('lists deployments as models [OAI-016]', async () => {
  await desk.apply({ name: 'draft', memory: 'none' });
  const slugs = async (key: string) => (await clientOf(key).models.list()).data.map(({ id }) => id);
  expect(await slugs(desk.testKey)).toEqual(expect.arrayContaining(['desk', 'draft']));
  expect(await slugs(desk.liveKey)).toEqual(['desk']);
  expect(await client.models.retrieve('desk')).toMatchObject({ id: 'desk', object: 'model' });
  expect(await refusal(client.models.retrieve('nobody'))).toMatchObject({ status: 404 });
});

it('names what it does not offer in OpenAI’s error format, and the base URL to callers with a wrong one [OAI-531]', async () => {
  const missing = client.embeddings.create({ model, input: 'x' });
  await expect(missing).rejects.toMatchObject({
    status: 404,
    type: 'invalid_request_error',
    param: null,
    code: 'route_not_found',
    message: expect.stringContaining('`POST embeddings` of OpenAI’s API is not offered here'),
  });
  const { id } = await client.responses.create({ model, input: 'Hello' });
  await expect(client.responses.delete(id)).rejects.toMatchObject({ status: 405, type: 'invalid_request_error' });
  const elsewhere = clientOf(desk.testKey, { baseURL: `${desk.url}/v1` });
  const sent = elsewhere.chat.completions.create({ model, messages: [user('Hi')] });
  await expect(sent).rejects.toMatchObject({ status: 404, message: expect.stringContaining('/v1/openai') });
});
