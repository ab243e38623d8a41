import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeOtherOrg } from '../support/other-org.ts';
import { codeOf, heardSince, startTalk, type Talk, typesOf } from './conversations.fixture.ts';

let server: Talk;
beforeAll(async () => {
  server = await startTalk();
});
afterAll(() => server.stop());

const weather = {
  name: 'weather',
  description: 'The weather of a city.',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  read_only: true,
};

/** The model calls these until each has an answer, and then says what it heard. */
function callEach(...calls: { name: string; arguments: unknown }[]): void {
  server.script((request) => {
    const heard = heardSince(request);
    if (heard.length === 0) return { text: 'Let me see.', calls };
    return { text: `Heard: ${heard.map(({ output }) => output).join(' | ')}` };
  });
}

async function waiting(id: string, calls = 1) {
  const shown = await server.until(
    `/v1/conversations/${id}`,
    ({ status, pending_tool_calls }) => status === 'waiting' && pending_tool_calls.length === calls,
  );
  return shown.pending_tool_calls;
}

async function openCall(): Promise<{ id: string; call_id: string; turn_id: string }> {
  callEach({ name: 'weather', arguments: { city: 'Oslo' } });
  const { id, turn_id } = await server.begin({ message: 'Weather?', tools: [weather] });
  const [{ call_id }] = await waiting(id);
  return { id, call_id, turn_id };
}

describe('a tool of a message', () => {
  it('is offered for that message, called, waited for and answered [CONV-008, MSG-010, MSG-012, MSG-014, MSG-030, EVT-019]', async () => {
    callEach({ name: 'weather', arguments: { city: 'Oslo' } });
    const { id } = await server.begin();
    const turn = (await server.send(id, { message: 'Weather?', tools: [weather] })).body;
    const calls = await waiting(id);
    expect(calls).toEqual([
      { call_id: expect.stringMatching(/^call_/), name: 'weather', arguments: { city: 'Oslo' }, task_id: null },
    ]);
    expect(server.asked[0]?.tools.find(({ name }) => name === 'weather')).toMatchObject({
      description: weather.description,
      inputSchema: weather.input_schema,
    });
    const answered = await server.send(
      id,
      { tool_results: [{ call_id: calls[0].call_id, output: { sky: 'clear' } }] },
      { headers: { prefer: 'wait=60' } },
    );
    expect([answered.status, answered.body.id, answered.body.status]).toEqual([200, turn.id, 'settled']);
    expect(answered.body.reply.text).toMatch(/^Let me see\.\n\nHeard: [\s\S]*\{"sky":"clear"\}/);
    const types = typesOf(await server.log(id));
    for (const type of ['interaction.created', 'tool_call.created', 'interaction.resolved']) {
      expect(types.filter((each) => each === type)).toHaveLength(1);
    }
    server.script(() => ({ text: 'No tools now.' }));
    await server.tell(id, 'And you?');
    expect(server.asked[0]?.tools.map(({ name }) => name)).not.toContain('weather');
  });

  it('of work carries its task [CONV-008, MSG-012]', async () => {
    callEach({ name: 'weather', arguments: { city: 'Oslo' } });
    const { id } = await server.begin();
    const { body } = await server.send(id, { message: 'Weather?', tools: [weather], hand_off: 'always' });
    const [call] = await waiting(id);
    expect(call.task_id).toBe(body.task_id);
    await server.send(id, { tool_results: [{ call_id: call.call_id, error: 'The station is down.' }] });
    await server.rest(id);
    expect((await server.messages(id)).at(-1).text).toMatch(/Heard: [\s\S]*The station is down\./);
  });

  it('waits for approval if it may change something and no flag lets it run [MSG-012]', async () => {
    const { read_only: _, ...asking } = weather;
    callEach({ name: 'weather', arguments: { city: 'Oslo' } });
    const { id } = await server.begin({ message: 'Weather?', tools: [asking] });
    const shown = await server.until(`/v1/conversations/${id}`, ({ status }) => status === 'waiting');
    expect(shown.pending_tool_calls).toEqual([]);
    expect(shown.open_interactions).toMatchObject([{ kind: 'tool_permission' }]);
    const [{ interaction_id }] = shown.open_interactions;
    await server.call('POST', `/v1/interactions/${interaction_id}/answer`, {
      body: { approve: true, present_user: true },
    });
    const [{ call_id }] = await waiting(id);
    await server.send(id, { tool_results: [{ call_id, output: 'rain' }] });
    await server.rest(id);
    callEach({ name: 'weather', arguments: { city: 'Oslo' } });
    await server.send(id, { message: 'Again?', tools: [{ ...asking, run_without_asking: true }] });
    expect(await waiting(id)).toHaveLength(1);
    await server.call('POST', `/v1/conversations/${id}/stop`);
  });

  it('is described by its fields, with defaults for missing ones [MSG-009, MSG-010]', async () => {
    callEach({ name: 'weather', arguments: {} });
    const { id } = await server.begin({
      message: 'Weather?',
      tools: [{ name: 'weather', description: 'x', read_only: true }],
    });
    const [{ call_id }] = await waiting(id);
    const { body } = await server.call('GET', `/v1/interactions/${call_id}`);
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBeGreaterThan(115_000);
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBeLessThan(125_000);
    await server.call('POST', `/v1/conversations/${id}/stop`);
    const many = Array.from({ length: 32 }, (_, at) => ({ ...weather, name: `weather_${at}` }));
    expect((await server.send(id, { message: 'Hi', tools: many })).status).toBe(202);
    await server.rest(id);
    const refused = await server.send(id, { message: 'Hi', tools: [...many, weather] });
    expect([...codeOf(refused), refused.body.error.param]).toEqual([400, 'invalid_request', 'tools']);
  });

  it.each([
    [{ name: 'Weather' }, 'invalid_request', 'tools.0.name'],
    [{ name: 'x'.repeat(65) }, 'invalid_request', 'tools.0.name'],
    [{ name: 'ask_question' }, 'tool_name_reserved', 'tools.0.name'],
    [{ name: 'hand_off_to_work' }, 'tool_name_reserved', 'tools.0.name'],
    [{ name: 'browser_open' }, 'tool_name_reserved', 'tools.0.name'],
    [{ name: 'mcp__shop__buy' }, 'tool_name_reserved', 'tools.0.name'],
    [{ description: '' }, 'invalid_request', 'tools.0.description'],
    [{ description: 'x'.repeat(1025) }, 'invalid_request', 'tools.0.description'],
    [{ input_schema: { type: 'string' } }, 'invalid_tool_input', 'tools.0.input_schema.type'],
    [
      { input_schema: { type: 'object', properties: { a: { type: 'text' } } } },
      'invalid_tool_input',
      'tools.0.input_schema',
    ],
    [{ input_schema: 'object' }, 'invalid_tool_input', 'tools.0.input_schema'],
    [{ timeout_s: 4 }, 'invalid_request', 'tools.0.timeout_s'],
    [{ timeout_s: 601 }, 'invalid_request', 'tools.0.timeout_s'],
    [{ read_only: 'yes' }, 'invalid_request', 'tools.0.read_only'],
    [{ url: 'https://example.com' }, 'invalid_request', 'tools.0.url'],
  ])('is refused with %j [MSG-010, MSG-011]', async (fault, code, param) => {
    const body = { message: 'Hi', tools: [{ ...weather, ...fault }] };
    const { id } = await server.begin();
    for (const answer of [await server.send(id, body), await server.call('POST', '/v1/conversations', { body })]) {
      expect([...codeOf(answer), answer.body.error.param]).toEqual([400, code, param]);
    }
  });

  it('has a unique name', async () => {
    const { id } = await server.begin();
    const answer = await server.send(id, { message: 'Hi', tools: [weather, weather] });
    expect([...codeOf(answer), answer.body.error.param]).toEqual([400, 'duplicate_name', 'tools.1.name']);
  });
});

describe('tool results', () => {
  it('answer several calls, and may be sent with the next message [MSG-029, MSG-030]', async () => {
    callEach({ name: 'weather', arguments: { city: 'Oslo' } }, { name: 'weather', arguments: { city: 'Rome' } });
    const { id, turn_id } = await server.begin({ message: 'Weather?', tools: [weather] });
    const calls = await waiting(id, 2);
    const tool_results = calls.map(
      ({ call_id, arguments: { city } }: { call_id: string; arguments: { city: string } }) => ({
        call_id,
        output: `${city}: sun`,
      }),
    );
    const { body } = await server.send(id, { message: 'Also: thanks', tool_results });
    expect(body.id).not.toBe(turn_id);
    await server.rest(id);
    const settled = (await server.log(id)).filter(({ type }) => type === 'turn.settled').map(({ data }) => data.turn);
    expect(settled.map(({ id: of }) => of).toSorted()).toEqual([turn_id, body.id].toSorted());
    expect(settled.find(({ id: of }) => of === turn_id).reply.text).toMatch(/Oslo: sun[\s\S]*Rome: sun/);
  });

  it.each([null, false, 0, '', [], { a: [null] }])('give the model the output %j [MSG-030]', async (output) => {
    const { id, call_id } = await openCall();
    expect((await server.send(id, { tool_results: [{ call_id, output }] })).status).toBe(202);
    await server.rest(id);
    const heard = server.asked.at(-1)?.messages.at(-1);
    const shown = typeof output === 'string' ? output : JSON.stringify(output);
    expect(heard).toMatchObject({ role: 'tool', results: [{ output: expect.stringContaining(`\n${shown}\n`) }] });
  });

  it('show in the audit log as an answer by the interactions route does [INT-141]', async () => {
    const [one, other] = [await openCall(), await openCall()];
    await server.send(one.id, { tool_results: [{ call_id: one.call_id, output: 1 }] });
    await server.call('POST', `/v1/interactions/${other.call_id}/answer`, { body: { output: 1 } });
    const { body } = await server.call('GET', '/v1/audit-log?action=interaction.answered&limit=100');
    const rowOf = (id: string) => {
      const [row] = body.data.filter((each: { target: { id: string } }) => each.target.id === id);
      return row && { ...row, id: null, target: null, request_id: null, created_at: null };
    };
    expect(rowOf(one.call_id)).toMatchObject({
      actor: { type: 'key' },
      details: { kind: 'custom', decision: 'answered' },
    });
    expect(rowOf(one.call_id)).toEqual(rowOf(other.call_id));
    await server.rest(one.id);
    await server.rest(other.id);
  });

  it('are refused like on the interactions route, and nothing is stored [MSG-030]', async () => {
    const { id, call_id } = await openCall();
    const other = await openCall();
    const unknown = newId('call');
    const refusals: [results: Record<string, unknown>[], status: number, code: string, param?: string][] = [
      [[{ call_id: unknown, output: 1 }], 404, 'interaction_not_found', 'tool_results.0.call_id'],
      [[{ call_id: other.call_id, output: 1 }], 404, 'interaction_not_found', 'tool_results.0.call_id'],
      [
        [
          { call_id, output: 1 },
          { call_id: unknown, output: 1 },
        ],
        404,
        'interaction_not_found',
        'tool_results.1.call_id',
      ],
      [
        [
          { call_id, output: 1 },
          { call_id, output: 2 },
        ],
        409,
        'already_answered',
      ],
      [[{ call_id }], 400, 'answer_mismatch'],
      [[{ call_id, output: 1, error: 'both' }], 400, 'answer_mismatch'],
      [[{ call_id, error: '' }], 400, 'invalid_request', 'tool_results.0.error'],
      [[{ call_id: 'call_1', output: 1 }], 400, 'invalid_request', 'tool_results.0.call_id'],
      [[{ call_id, output: 'x'.repeat(256 * 1024 + 1) }], 400, 'invalid_request'],
      [[{ call_id, approve: true }], 400, 'invalid_request', 'tool_results.0.approve'],
      [Array(33).fill({ call_id, output: 1 }), 400, 'invalid_request', 'tool_results'],
    ];
    for (const [tool_results, status, code, param] of refusals) {
      const answer = await server.send(id, { message: 'Kept?', tool_results });
      expect([JSON.stringify(tool_results).slice(0, 80), ...codeOf(answer)]).toEqual([
        JSON.stringify(tool_results).slice(0, 80),
        status,
        code,
      ]);
      if (param) expect(answer.body.error.param).toBe(param);
    }
    expect((await server.messages(id)).map(({ text }) => text)).toEqual(['Weather?']);
    expect(await waiting(id)).toHaveLength(1);
    for (const key of [server.liveKey, await makeOtherOrg(server)]) {
      const answer = await server.send(id, { tool_results: [{ call_id, output: 1 }] }, { key });
      expect(codeOf(answer)).toEqual([404, 'conversation_not_found']);
    }
    expect((await server.send(id, { tool_results: [{ call_id, output: 1 }] })).status).toBe(202);
    expect(codeOf(await server.send(id, { tool_results: [{ call_id, output: 1 }] }))).toEqual([
      409,
      'already_answered',
    ]);
    await server.rest(id);
    await server.call('POST', `/v1/conversations/${other.id}/stop`);
  });

  it('do not answer a question to a person [MSG-030]', async () => {
    server.script(() => ({ calls: [{ name: 'ask_question', arguments: { question: 'Which one?' } }] }));
    const { id } = await server.begin({ message: 'Help' });
    const shown = await server.until(`/v1/conversations/${id}`, ({ status }) => status === 'waiting');
    const call_id = shown.open_interactions[0].interaction_id;
    expect(codeOf(await server.send(id, { tool_results: [{ call_id, output: 1 }] }))).toEqual([400, 'invalid_request']);
    await server.call('POST', `/v1/conversations/${id}/stop`);
  });

  it('stream the turn that they belong to, from its beginning [MSG-015]', async () => {
    const { id, call_id, turn_id } = await openCall();
    const stream = await server.stream('POST', `/v1/conversations/${id}/messages`, {
      body: { stream: true, tool_results: [{ call_id, output: 'sun' }] },
    });
    const events = await stream.events;
    expect(new Set(events.map((event) => event.turn_id))).toEqual(new Set([turn_id]));
    expect([events[0]?.type, events.at(-1)?.type]).toEqual(['turn.started', 'turn.settled']);
  });
});
