import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Desk, inTurn, paperDesk, startDesk, toolNamesIn } from './interactions.fixture.ts';

let desk: Desk;
let client: OpenAI;
beforeAll(async () => {
  desk = await startDesk();
  await desk.apply(paperDesk, desk.liveKey);
  client = new OpenAI({ apiKey: desk.testKey, baseURL: `${desk.url}/v1/openai`, maxRetries: 0 });
});
afterAll(() => desk.stop());

const model = 'desk';
const user = (content: string) => ({ role: 'user' as const, content });
const newest = async () => (await desk.call('GET', '/v1/conversations?limit=1')).body.data[0];

const person = {
  name: 'savePerson',
  description: 'Saves a person.',
  parameters: {
    type: 'object',
    properties: { name: { type: 'string' }, age: { type: 'integer' } },
    required: ['name', 'age'],
  },
};
/** As Python's libraries write nested models. */
const order = {
  name: 'mcp__shop__order',
  description: 'Orders goods.',
  parameters: {
    type: 'object',
    properties: { line: { $ref: '#/$defs/Line' } },
    required: ['line'],
    $defs: { Line: { type: 'object', properties: { sku: { type: 'string' } }, required: ['sku'] } },
  },
};

type Call = { id: string; name: string; arguments: string };
type Asked = { question: string; functions: readonly (typeof person | typeof order)[]; choice: unknown };

/** The four ways in which OpenAI's package asks, and the calls that each of them returns. */
const ways: [string, (asked: Asked) => Promise<{ calls: Call[]; text: string | null; end: unknown }>][] = [
  ...[false, true].map((isStreamed): (typeof ways)[number] => [
    isStreamed ? 'a streamed chat completion' : 'a chat completion',
    async ({ question, functions, choice }) => {
      const of = {
        model,
        messages: [user(question)],
        tools: functions.map((each) => ({ type: 'function' as const, function: each })),
        tool_choice: choice as OpenAI.Chat.ChatCompletionToolChoiceOption,
      };
      const { choices } = isStreamed
        ? await client.chat.completions.stream(of).finalChatCompletion()
        : await client.chat.completions.create(of);
      const [{ message, finish_reason }] = choices as [OpenAI.Chat.ChatCompletion.Choice];
      const calls = (message.tool_calls ?? []) as OpenAI.Chat.ChatCompletionMessageFunctionToolCall[];
      const shown = calls.map(({ id, function: called }) => ({ id, name: called.name, arguments: called.arguments }));
      return { calls: shown, text: message.content || null, end: finish_reason };
    },
  ]),
  ...[false, true].map((isStreamed): (typeof ways)[number] => [
    isStreamed ? 'a streamed response' : 'a response',
    async ({ question, functions, choice }) => {
      const named = choice as { function?: { name: string } };
      const of = {
        model,
        input: question,
        tools: functions.map((each) => ({ type: 'function' as const, strict: false, ...each })),
        tool_choice: (named.function
          ? { type: 'function', name: named.function.name }
          : choice) as OpenAI.Responses.ToolChoiceFunction,
      };
      const response = isStreamed
        ? await client.responses.stream(of).finalResponse()
        : await client.responses.create(of);
      const calls = response.output.flatMap((item) =>
        item.type === 'function_call' ? [{ id: item.call_id, name: item.name, arguments: item.arguments }] : [],
      );
      return { calls, text: response.output_text || null, end: response.status };
    },
  ]),
];

/** Answers with the second text once the agent was told that the first one does not fit. */
const afterRefusal =
  (first: string, second: string): Parameters<Desk['script']>[0] =>
  ({ messages }) => ({ text: JSON.stringify(messages).includes('does not fit the schema') ? second : first });

const named = (name: string) => ({ type: 'function', function: { name } });

describe.each(ways)('the forced call of %s', (_, ask) => {
  it('is a call of the named function with arguments that fit [OAI-700]', async () => {
    // The first answer has no age, so the agent must answer again.
    desk.script(afterRefusal('{"name":"Ann"}', '{"name":"Ann","age":30}'));
    const { calls, text, end } = await ask({
      question: 'Ann is thirty.',
      functions: [order, person],
      choice: named('savePerson'),
    });
    expect(calls).toEqual([{ id: expect.any(String), name: 'savePerson', arguments: '{"name":"Ann","age":30}' }]);
    expect(text).toBeNull();
    expect(['tool_calls', 'completed']).toContain(end);
    expect(JSON.stringify(desk.asked.at(-1))).toContain('Saves a person.');
  });

  it('is a call of one of the functions if one is required [OAI-700]', async () => {
    const call = { function: 'mcp__shop__order', arguments: { line: { sku: 'A4' } } };
    const misfit = { call: { ...call, arguments: { line: {} } } };
    desk.script(afterRefusal(JSON.stringify(misfit), JSON.stringify({ call })));
    const { calls } = await ask({ question: 'Paper, please.', functions: [person, order], choice: 'required' });
    expect(calls).toEqual([{ id: expect.any(String), name: 'mcp__shop__order', arguments: '{"line":{"sku":"A4"}}' }]);
  });

  it('is refused if the choice cannot be met [OAI-700]', async () => {
    const refused = (asked: Omit<Asked, 'question'>) =>
      ask({ question: 'Hi', ...asked }).then(
        () => Promise.reject(new Error('It was not refused.')),
        ({ status, param }: InstanceType<typeof OpenAI.APIError>) => [status, param],
      );
    expect(await refused({ functions: [person], choice: named('other') })).toEqual([400, 'tool_choice']);
    expect(await refused({ functions: [], choice: 'required' })).toEqual([400, 'tool_choice']);
    expect(await refused({ functions: [person], choice: 'sometimes' })).toEqual([400, 'tool_choice']);
  });
});

it('a required call works with functions whose schemas exceed the limits of an output schema [OAI-700]', async () => {
  const fields = (count: number, schema: object) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`field_${at}`, schema]));
  const described = { type: 'string', description: 'A long explanation of the field. '.repeat(4) };
  for (const properties of [fields(600, { type: 'string' }), fields(300, described)]) {
    const functions = [person, { ...person, name: 'fill', parameters: { type: 'object', properties } }];
    const call = { function: 'fill', arguments: { field_1: 'x' } };
    desk.script(() => ({ text: JSON.stringify({ call }) }));
    const { choices } = await client.chat.completions.create({
      model,
      messages: [user('Fill it')],
      tools: functions.map((each) => ({ type: 'function' as const, function: each })),
      tool_choice: 'required',
    });
    expect(choices[0]?.message.tool_calls).toMatchObject([
      { function: { name: 'fill', arguments: '{"field_1":"x"}' } },
    ]);
  }
});

describe('the result of a forced call', () => {
  const tools = [{ type: 'function' as const, function: person }];

  it('continues the conversation of a chat completion [OAI-701]', async () => {
    desk.script(() => ({ text: '{"name":"Ann","age":30}' }));
    const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [user('Ann is thirty. Save her.')];
    const tool_choice = named('savePerson') as OpenAI.Chat.ChatCompletionNamedToolChoice;
    const first = await client.chat.completions.create({ model, messages, tools, tool_choice });
    const { message } = first.choices[0] as OpenAI.Chat.ChatCompletion.Choice;
    const { id } = await newest();
    desk.script(() => ({ text: 'Ann is saved.' }));
    const result = { role: 'tool' as const, tool_call_id: message.tool_calls?.[0]?.id ?? '', content: 'number 4711' };
    const back = { model, tools, messages: [...messages, message, result] };
    const second = await client.chat.completions.create(back);
    expect(second.choices[0]?.message.content).toBe('Ann is saved.');
    expect((await newest()).id).toBe(id);
    expect(JSON.stringify(desk.asked.at(-1))).toContain('number 4711');
    expect(toolNamesIn(desk.asked.at(-1))).toContain('save_person');
    await expect(client.chat.completions.create(back)).rejects.toMatchObject({ status: 409, code: 'already_answered' });
    const later = [...back.messages, { role: 'assistant' as const, content: 'Ann is saved.' }, user('Thanks')];
    await client.chat.completions.create({ ...back, messages: later });
    expect((await newest()).id).toBe(id);
  });

  it('continues a response, and the next call can be forced again [OAI-701]', async () => {
    desk.script(() => ({ text: '{"name":"Ann","age":30}' }));
    const of = { model, tools: [{ type: 'function' as const, strict: false, ...person }] };
    const tool_choice = 'required' as const;
    const first = await client.responses.create({ ...of, input: 'Ann is thirty.', tool_choice });
    const callOf = ({ output }: OpenAI.Responses.Response) =>
      output.find(({ type }) => type === 'function_call') as OpenAI.Responses.ResponseFunctionToolCall;
    expect((await client.responses.retrieve(first.id)).output).toEqual(first.output);
    const resultOf = (response: OpenAI.Responses.Response) => ({
      input: [{ type: 'function_call_output' as const, call_id: callOf(response).call_id, output: 'saved' }],
      previous_response_id: response.id,
    });
    desk.script(() => ({ text: '{"name":"Bob","age":31}' }));
    const second = await client.responses.create({ ...of, ...resultOf(first), tool_choice });
    expect([callOf(second).name, callOf(second).arguments]).toEqual(['savePerson', '{"name":"Bob","age":31}']);
    desk.script(() => ({ text: 'Both are saved.' }));
    const third = await client.responses.create({ ...of, ...resultOf(second) });
    expect(third.output_text).toBe('Both are saved.');
    expect(third.conversation?.id).toBe(first.conversation?.id);
  });

  it('of another org or mode is not found [OAI-701]', async () => {
    const input = [{ type: 'function_call_output' as const, call_id: 'call_for_resp_none', output: 'x' }];
    await expect(client.responses.create({ model, input })).rejects.toMatchObject({
      status: 404,
      code: 'interaction_not_found',
    });
  });
});

describe('functions of a client', () => {
  const functionsOf = (count: number, more: object = {}) =>
    Array.from({ length: count }, (_, at) => ({
      type: 'function' as const,
      function: { name: `mcp__server__tool_${at}`, parameters: { type: 'object', properties: {} }, ...more },
    }));
  const calling = (name: string) => inTurn({ calls: [{ name, arguments: {} }] }, { text: 'Done.' });

  it('may be 128, with the names of MCP tools and long descriptions [OAI-601, OAI-702]', async () => {
    desk.script(calling('f_mcp__server__tool_3'));
    const description = `${'Reads the issue. '.repeat(150)}The end.`;
    const of = { model, messages: [user('Read it')], tools: functionsOf(128, { description }) };
    const { choices } = await client.chat.completions.create(of);
    expect(choices[0]?.message.tool_calls).toMatchObject([{ function: { name: 'mcp__server__tool_3' } }]);
    // Vendors accept 128 tools in all, with those of the agent itself.
    expect(toolNamesIn(desk.asked.at(-1))).toHaveLength(128);
    expect(toolNamesIn(desk.asked.at(-1))).toEqual(expect.arrayContaining(['find_stock', 'ask_question']));
    expect(JSON.stringify(desk.asked.at(-1))).toContain(description);
    const { id } = await newest();
    const { data } = (await desk.call('GET', `/v1/conversations/${id}/messages`)).body;
    const trace = await desk.call('GET', `/v1/conversations/${id}/turns/${data[0].turn_id}/trace`);
    expect(trace.body.missing_tools).toEqual([
      { server: 'message', reason: 'too_many_tools', message: expect.stringContaining('of the 128 functions') },
    ]);
    await expect(client.chat.completions.create({ ...of, tools: functionsOf(129) })).rejects.toMatchObject({
      status: 400,
      param: 'tools',
      message: expect.stringContaining('At most 128 tools.'),
    });
  });

  it('stay 32 with short descriptions in a message of the API itself [OAI-601]', async () => {
    const tool = (at: number, description = 'Reads.') => ({ name: `read_${at}`, description });
    const send = (tools: object[]) => desk.call('POST', '/v1/conversations', { body: { message: 'Hi', tools } });
    const many = await send(Array.from({ length: 33 }, (_, at) => tool(at)));
    expect([many.status, many.body.error.message]).toEqual([400, 'At most 32 tools.']);
    expect((await send([tool(1, 'x'.repeat(1025))])).body.error.param).toBe('tools.0.description');
  });

  it('are limited to those that the choice allows [OAI-702]', async () => {
    desk.script(() => ({ text: 'Hello.' }));
    const allowed = { mode: 'auto' as const, tools: [{ type: 'function', function: { name: 'mcp__server__tool_1' } }] };
    await client.chat.completions.create({
      model,
      messages: [user('Hi')],
      tools: functionsOf(3),
      tool_choice: { type: 'allowed_tools', allowed_tools: allowed },
    });
    expect(toolNamesIn(desk.asked.at(-1)).filter((name) => name.startsWith('f_mcp'))).toEqual([
      'f_mcp__server__tool_1',
    ]);
  });
});

describe('the user of a request', () => {
  const userOf = async (given: object) => {
    desk.script(() => ({ text: 'Hello.' }));
    await client.chat.completions.create({ model, messages: [user('Hello')], ...given });
    return (await newest()).user_id as string | null;
  };

  it('is absent if the text is empty, and derived from text that is no id [OAI-703]', async () => {
    expect(await userOf({ user: '' })).toBeNull();
    expect(await userOf({ user: '', safety_identifier: 'ada' })).toBe('ada');
    expect(await userOf({ user: 'ada@example.com' })).toBe('ada@example.com');
    const ann = await userOf({ user: 'Ann Lee' });
    expect(ann).toMatch(/^Ann-Lee-[0-9a-f]{16}$/);
    expect(await userOf({ user: 'Ann Lee' })).toBe(ann);
    expect(await userOf({ user: 'Ann-Lee' })).toBe('Ann-Lee');
    expect(await userOf({ user: 'Ann  Lee' })).not.toBe(ann);
    expect(await userOf({ user: '李雷' })).toMatch(/^user-[0-9a-f]{16}$/);
    const { id } = await client.conversations.create({ metadata: { model, user: 'Ann Lee' } });
    expect((await desk.call('GET', `/v1/conversations/${id}`)).body.user_id).toBe(ann);
    const response = await client.responses.create({ model, input: 'Hi', conversation: id, user: 'Ann Lee' });
    expect(response.conversation?.id).toBe(id);
  });
});

it('an unknown model is 404 `model_not_found`, which OpenAI’s package throws as NotFoundError [OAI-704]', async () => {
  const refused = { status: 404, code: 'model_not_found', param: 'model', type: 'invalid_request_error' };
  for (const model of ['nobody', 'desk@99']) {
    for (const sent of [
      () => client.chat.completions.create({ model, messages: [user('Hi')] }),
      () => client.chat.completions.create({ model, messages: [user('Hi')], stream: true }),
      () => client.responses.create({ model, input: 'Hi' }),
      () => client.conversations.create({ metadata: { model } }),
      () => client.models.retrieve(model),
    ] as (() => Promise<unknown>)[]) {
      const error = await sent().then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expect([model, String(sent), error]).toEqual([model, String(sent), expect.any(OpenAI.NotFoundError)]);
      expect(error).toMatchObject(refused);
    }
  }
});
