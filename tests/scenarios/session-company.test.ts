import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentServer, type Respond, startAgentServer } from '../support/agent.ts';
import { query } from '../support/database.ts';
import { type ApiResponse, isOneProcess } from '../support/server.ts';

let server: AgentServer;
beforeAll(async () => {
  server = await startAgentServer();
  await server.apply({
    name: 'desk',
    instructions: 'Be kind.',
    tools: [
      {
        function: 'refund',
        description: 'Refund an order.',
        input: { type: 'object', properties: { amount: { type: 'number', maximum: 50 } } },
      },
      { function: 'get_account', description: 'Show an account.', input: { account: 'string' }, read_only: true },
    ],
  });
});
afterAll(() => server.stop());

type Session = { id: string; token: string; conversation_id: string };

const openSession = async (body: object): Promise<Session> =>
  (await server.call('POST', '/v1/sessions', { body: { chat: true, ...body } })).body;

const refusal = ({ status, body }: ApiResponse) => [status, body.error.code, body.error.param];
const closed = (param?: string) => [403, 'session_scope', param];

/** Calls the function until it has an answer, and then says what it heard. */
const calling =
  (name: string, given: unknown): Respond =>
  ({ messages }) => {
    const last = messages.at(-1);
    return last?.role === 'tool'
      ? { text: `Heard ${last.results.map(({ output }) => output).join()}` }
      : { calls: [{ name, arguments: given }] };
  };

const pathOf = ({ conversation_id }: Pick<Session, 'conversation_id'>) => `/v1/conversations/${conversation_id}`;

const upload = (path: string, key: string, headers = {}) => {
  const form = new FormData();
  form.append('file', new Blob(['Notes.'], { type: 'text/plain' }), 'notes.txt');
  return server.call('POST', path, { key, raw: form, headers });
};

describe('a call of the company’s own code', () => {
  it('is shown as pending to a session, which can neither read its arguments nor answer it [SES-105]', async () => {
    const session = await openSession({ user_id: 'ada' });
    const asSession = { key: session.token };
    server.script(calling('get_account', { account: 'CANARY-7' }));
    await server.call('POST', `${pathOf(session)}/messages`, { ...asSession, body: { message: 'My balance?' } });
    const isWaiting = ({ pending_tool_calls }: ApiResponse['body']) => pending_tool_calls.length === 1;
    const { pending_tool_calls } = await server.until(pathOf(session), isWaiting, session.token);
    const [{ call_id }] = pending_tool_calls;
    expect(pending_tool_calls).toEqual([{ call_id, name: 'get_account', task_id: null }]);

    const call = `/v1/interactions/${call_id}`;
    const forged = { balance: 1_000_000 };
    expect(refusal(await server.call('GET', call, asSession))).toEqual(closed());
    for (const [body, param] of [
      [{ output: forged }, 'output'],
      [{ error: 'No.' }, 'error'],
      [{ approve: true, present_user: true }],
      [{}],
    ] as const) {
      expect(refusal(await server.call('POST', `${call}/answer`, { ...asSession, body }))).toEqual(closed(param));
    }
    const results = { tool_results: [{ call_id, output: forged }] };
    for (const body of [results, { message: 'Go on', ...results }]) {
      const answer = await server.call('POST', `${pathOf(session)}/messages`, { ...asSession, body });
      expect(refusal(answer)).toEqual(closed('tool_results'));
    }
    const events = await server.call('GET', `${pathOf(session)}/events?format=json&limit=100`, asSession);
    expect(events.text).toContain('tool_call.created');
    expect(events.text).not.toContain('CANARY');

    await server.call('POST', `${call}/answer`, { body: { output: { balance: 3 } } });
    await server.until(pathOf(session), ({ status }) => status === 'idle');
    const { body } = await server.call('GET', `${pathOf(session)}/messages`, asSession);
    expect(body.data[0].text).toMatch(/^Heard [\s\S]*\{"balance":3\}/);
  });
});

describe('a function of the deployment', () => {
  const loosened = {
    name: 'refund',
    description: 'Refund.',
    input_schema: { type: 'object' },
    run_without_asking: true,
  };

  it('cannot be redeclared by a message from any sender [SES-106]', async () => {
    const session = await openSession({ user_id: 'ada' });
    server.script(calling('refund', { amount: 99_999 }));
    const body = { message: 'Refund me', tools: [loosened] };
    const path = `${pathOf(session)}/messages`;
    expect(refusal(await server.call('POST', path, { key: session.token, body }))).toEqual(closed('tools'));
    const taken = { name: 'other', description: 'Another one.' };
    const withKey = { ...body, tools: [taken, loosened] };
    for (const answer of [
      await server.call('POST', path, { body: withKey }),
      await server.call('POST', '/v1/conversations', { body: withKey }),
    ]) {
      expect(refusal(answer)).toEqual([400, 'duplicate_name', 'tools.1.name']);
    }
    expect(server.asked).toEqual([]);
  });

  it('keeps its schema and its approval rule in a turn accepted with another tool of its name [SES-106]', async () => {
    const session = await openSession({ user_id: 'ada' });
    const path = `${pathOf(session)}/messages`;
    let goOn = () => {};
    const first = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    server.script(async (request) => {
      await first;
      const isFirst = request.messages.every((each) => each.role !== 'user' || each.text !== 'Refund me');
      return isFirst ? { text: 'Hello.' } : { calls: [{ name: 'refund', arguments: { amount: 40 } }] };
    });
    await server.call('POST', path, { body: { message: 'Hi' } });
    const tools = [{ ...loosened, name: 'refund_all' }];
    const { body: turn } = await server.call('POST', path, { body: { message: 'Refund me', tools } });
    await query(
      server.connectionString,
      `UPDATE turns SET request = jsonb_set(request::jsonb, '{tools,0,name}', '"refund"') WHERE id = $1`,
      [turn.id],
    );
    goOn();
    const waiting = await server.until(pathOf(session), ({ status }) => status === 'waiting');
    expect([waiting.pending_tool_calls, waiting.open_interactions[0].kind]).toEqual([[], 'tool_permission']);
    const offered = server.asked.at(-1)?.tools.filter(({ name }) => name === 'refund');
    expect(offered).toMatchObject([{ inputSchema: { properties: { amount: { maximum: 50 } } } }]);
    await server.call('POST', `${pathOf(session)}/stop`);
  });
});

describe('a session that was opened without chat', () => {
  it('does not talk, read, approve, stop or upload; with a screen it answers a hand-off [SES-101]', async () => {
    const { conversation_id, token: chat } = await openSession({ user_id: 'ada' });
    const { token } = await openSession({ conversation_id, chat: false, screen: 'control' });
    const path = pathOf({ conversation_id });
    server.script(({ messages }) => {
      const heard = messages.flatMap((each) => (each.role === 'tool' ? each.results : []));
      if (heard.length === 0) return { calls: [{ name: 'refund', arguments: { amount: 40 } }] };
      if (heard.length === 1) return { calls: [{ name: 'request_handoff', arguments: { request: 'Sign in.' } }] };
      return { text: 'Thank you.' };
    });
    await server.call('POST', `${path}/messages`, { body: { message: 'Refund me', hand_off: 'always' } });
    const waitingFor = async () => {
      const { open_interactions } = await server.until(path, (shown) => shown.open_interactions.length === 1);
      return `/v1/interactions/${open_interactions[0].interaction_id}`;
    };
    const approval = await waitingFor();
    const yes = { approve: true, present_user: true };
    for (const answer of [
      await server.call('POST', `${path}/messages`, { key: token, body: { message: 'Hi' } }),
      await server.call('GET', `${path}/messages`, { key: token }),
      await server.call('GET', `${path}/events`, { key: token }),
      await server.call('GET', path, { key: token }),
      await server.call('POST', `${path}/stop`, { key: token }),
      await upload('/v1/files', token),
      await server.call('GET', approval, { key: token }),
      await server.call('POST', `${approval}/answer`, { key: token, body: yes }),
    ]) {
      expect(refusal(answer)).toEqual(closed());
    }
    await server.call('POST', `${approval}/answer`, { key: chat, body: yes });
    const { pending_tool_calls } = await server.until(path, (shown) => shown.pending_tool_calls.length === 1);
    await server.call('POST', `${path}/messages`, {
      body: { tool_results: [{ call_id: pending_tool_calls[0].call_id, output: 'Refunded.' }] },
    });
    const handoff = await waitingFor();
    expect((await server.call('GET', handoff, { key: token })).body).toMatchObject({ type: 'handoff', details: {} });
    const done = await server.call('POST', `${handoff}/answer`, { key: token, body: { decision: 'done' } });
    expect([done.status, done.body.outcome.decision]).toEqual([200, 'answered']);
    await server.until(path, ({ status }) => status === 'idle');
  });

  it('and without any other access is created, shown and ended [SES-101]', async () => {
    const made = await server.call('POST', '/v1/sessions', { body: { user_id: 'ada' } });
    const { id, token } = made.body;
    expect(made.status).toBe(201);
    expect((await server.call('GET', `/v1/sessions/${id}`, { key: token })).status).toBe(200);
    expect((await server.call('DELETE', `/v1/sessions/${id}`, { key: token })).body.status).toBe('revoked');
  });
});

describe('company data of a conversation', () => {
  it('is in no answer and no event that a session gets [SES-103, SES-104]', async () => {
    const { body: made } = await server.call('POST', '/v1/conversations', {
      body: { user_id: 'ada', metadata: { segment: 'CANARY-label' } },
    });
    const session = await openSession({ conversation_id: made.id });
    const { token } = session;
    const path = pathOf(session);
    server.script(calling('get_account', { account: 'CANARY-argument' }));
    const context = { fraud_score: 0.93, note: 'CANARY-context' };
    await server.call('POST', `${path}/messages`, {
      body: { message: 'Check', context, success_criteria: 'CANARY-criterion', hand_off: 'always' },
    });
    const following = await server.stream('GET', `${path}/events`, { key: token });
    const { pending_tool_calls } = await server.until(path, (shown) => shown.pending_tool_calls.length === 1);
    const whileWaiting = await server.call('GET', path, { key: token });
    await server.call('POST', `/v1/interactions/${pending_tool_calls[0].call_id}/answer`, { body: { output: 'OK' } });
    await following.waitFor(({ type }) => type === 'turn.settled');
    following.close();
    server.script(() => ({ text: 'Hello.' }));
    const streaming = await server.stream('POST', `${path}/messages`, {
      key: token,
      body: { message: 'Hi', stream: true },
    });
    const seen = {
      conversation: whileWaiting.text,
      followed: JSON.stringify(following.seen),
      streamed: JSON.stringify(await streaming.events),
      sent: (await server.call('POST', `${path}/messages`, { key: token, body: { message: 'Hi' } })).text,
      waited: (
        await server.call('POST', `${path}/messages`, {
          key: token,
          body: { message: 'Hi' },
          headers: { prefer: 'wait=30' },
        })
      ).text,
      messages: (await server.call('GET', `${path}/messages?limit=100`, { key: token })).text,
      events: (await server.call('GET', `${path}/events?format=json&limit=100`, { key: token })).text,
      stopped: (await server.call('POST', `${path}/stop`, { key: token })).text,
    };
    const secrets = /CANARY[-a-z]*|"(context|metadata|cost_usd|cost_breakdown|arguments|outcome|input_summary)"/g;
    const leaks = Object.entries(seen).map(([place, text]) => [place, text.match(secrets) ?? []]);
    expect(Object.fromEntries(leaks)).toEqual({
      ...Object.fromEntries(leaks.map(([place]) => [place, []])),
      // How a wait ended is the person's to know.
      followed: ['"outcome"', '"outcome"'],
      events: ['"outcome"', '"outcome"'],
    });
    const types = following.seen.map(({ type }) => type);
    for (const type of ['task.started', 'task.step', 'tool_call.created', 'task.completed', 'turn.settled']) {
      expect(types).toContain(type);
    }
    expect(following.seen.map(({ seq }) => seq)).toEqual(following.seen.map((_, at) => at + 1));
    const withKey = await server.call('GET', `${path}/events?format=json&limit=100`);
    expect(withKey.text).toMatch(/CANARY-argument[\s\S]*"cost_usd"/);
  });

  it('is not exposed by errors either: a session gets the code and a plain sentence [SES-110]', async () => {
    const session = await openSession({ user_id: 'eve' });
    const path = pathOf(session);
    server.script(() => ({ fail: 401 }));
    const wait = { headers: { prefer: 'wait=30' } };
    const failed = await server.call('POST', `${path}/messages`, {
      key: session.token,
      body: { message: 'Hi' },
      ...wait,
    });
    const plain = { code: 'model_error', message: 'The agent could not answer. Try again in a moment.' };
    expect([failed.body.status, failed.body.error]).toEqual(['failed', plain]);
    await server.call('POST', `${path}/messages`, { body: { message: 'Work', hand_off: 'always' }, ...wait });
    const read = (key: string) => server.call('GET', `${path}/events?format=json&limit=100`, { key });
    const { body, text } = await read(session.token);
    const told = body.data.flatMap(({ data }: ApiResponse['body']) => data.turn?.error ?? data.task?.error ?? []);
    expect(told).toEqual([plain, plain, plain, plain]);
    expect(text).not.toMatch(/API_KEY|did not accept/);
    expect((await read(server.testKey)).text).toContain('OPENAI_COMPATIBLE_API_KEY');

    await server.call('PATCH', '/v1/users/eve', { body: { spend_cap_usd: 0 } });
    const refused = await server.call('POST', `${path}/messages`, { key: session.token, body: { message: 'Hi' } });
    expect([refused.status, refused.body.error]).toMatchObject([
      402,
      { code: 'user_cap_reached', message: 'A spending limit was reached.' },
    ]);
  });
});

describe('the files of a session', () => {
  it('are those of its own conversation, not of the user’s other ones [SES-107]', async () => {
    const [here, there] = [await openSession({ user_id: 'finn' }), await openSession({ user_id: 'finn' })];
    server.script(({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? { text: 'Done.' }
        : { calls: [{ name: 'save_output', arguments: { filename: 'report.md', content: 'All is well.' } }] },
    );
    await server.call('POST', `${pathOf(there)}/messages`, {
      body: { message: 'Report', hand_off: 'always' },
      headers: { prefer: 'wait=30' },
    });
    const { body: outputs } = await server.call('GET', `/v1/files?conversation_id=${there.conversation_id}`);
    const [output] = outputs.data;
    const own = (await upload('/v1/files', there.token)).body;
    expect(own).toMatchObject({ source: 'upload', user_id: 'finn', conversation_id: there.conversation_id });
    const later = await openSession({ conversation_id: there.conversation_id });
    const statusOf = async ({ token }: Session, id: string) =>
      (await server.call('GET', `/v1/files/${id}`, { key: token })).status;
    for (const { id } of [output, own]) {
      expect([await statusOf(there, id), await statusOf(later, id), await statusOf(here, id)]).toEqual([200, 200, 404]);
    }
    const send = (file_id: string, key?: string) =>
      server.call('POST', `${pathOf(here)}/messages`, {
        body: { attachments: [{ file_id }] },
        ...(key !== undefined && { key }),
      });
    expect(refusal(await send(output.id, here.token))).toEqual([400, 'invalid_request', 'attachments.0.file_id']);

    const ofServer = (await upload('/v1/files?user_id=finn', server.testKey)).body;
    expect(await statusOf(here, ofServer.id)).toBe(404);
    expect((await send(ofServer.id)).status).toBe(202);
    expect([await statusOf(here, ofServer.id), await statusOf(there, ofServer.id)]).toEqual([200, 404]);
    await server.call('POST', `${pathOf(here)}/stop`);
  });
});

describe('an Idempotency-Key', () => {
  it('of one session finds nothing of another’s, nor of an API key’s [SES-108]', async () => {
    const [gus, hal] = [await openSession({ user_id: 'gus' }), await openSession({ user_id: 'hal' })];
    const key = { 'idempotency-key': 'upload-1' };
    const made = [
      await upload('/v1/files', server.testKey, key),
      await upload('/v1/files', gus.token, key),
      await upload('/v1/files', hal.token, key),
      await upload('/v1/files', gus.token, key),
    ];
    expect(made.map(({ body }) => body.user_id)).toEqual([null, 'gus', 'hal', 'gus']);
    expect(made.map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, null, null, 'true']);
    expect(new Set(made.map(({ body }) => body.id)).size).toBe(3);
    expect(made[3]?.text).toBe(made[1]?.text);
    const renewed = await openSession({ user_id: 'gus', conversation_id: gus.conversation_id });
    expect((await upload('/v1/files', renewed.token, key)).text).toBe(made[1]?.text);
    const beside = await openSession({ user_id: 'gus' });
    expect((await upload('/v1/files', beside.token, key)).headers.get('idempotent-replayed')).toBeNull();
  });
});

describe('the streams of a session', () => {
  it.runIf(isOneProcess)('are at most twenty at once, and a request for one more is refused [SES-109]', async () => {
    const session = await openSession({ user_id: 'ida' });
    const path = pathOf(session);
    const follow = () => server.stream('GET', `${path}/events`, { key: session.token });
    const streams = await Promise.all(Array.from({ length: 20 }, follow));
    expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200));
    const more = await follow();
    expect([more.status, more.headers.get('retry-after')]).toEqual([429, '5']);
    for (const held of [
      { body: { message: 'Hi', stream: true } },
      { body: { message: 'Hi' }, headers: { prefer: 'wait=5' } },
    ]) {
      const answer = await server.call('POST', `${path}/messages`, { key: session.token, ...held });
      expect(refusal(answer)).toEqual([429, 'rate_limited', undefined]);
    }
    expect((await server.call('GET', `${path}/messages`)).body.data).toEqual([]);
    const another = await openSession({ conversation_id: session.conversation_id });
    expect((await server.stream('GET', `${path}/events`, { key: another.token })).status).toBe(200);
    for (const { close } of streams) close();
    for (;;) {
      const again = await follow();
      again.close();
      if (again.status === 200) break;
    }
  });
});
