import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { NormalisedRequest, ScriptedAnswer } from '@vestra/models/testing/scripted-answer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentServer, type Respond, startAgentServer } from '../support/agent.ts';
import { query } from '../support/database.ts';
import { pollWithJob } from '../support/jobs.ts';
import type { ApiResponse } from '../support/server.ts';

type Body = ApiResponse['body'];

let server: AgentServer;
beforeAll(async () => {
  server = await startAgentServer();
  await server.apply({ name: 'desk', instructions: 'Be kind.' });
});
afterAll(() => server.stop());

const lisbon = 'The user lives in Lisbon.';
const chess = 'The user plays chess.';

/** The background look, which has no tools. */
const isLook = ({ tools }: NormalisedRequest) => tools.length === 0;
const isAbout = (word: string) => (request: NormalisedRequest) => JSON.stringify(request.messages).includes(word);

/** Finds what any model would find: every fact that stands in what it reads and is not known already. */
function look(request: NormalisedRequest): ScriptedAnswer {
  const text = JSON.stringify(request.messages);
  const found = Object.entries({ Lisbon: lisbon, chess }).filter(
    ([word, fact]) => text.includes(word) && !text.includes(fact),
  );
  const facts = found.map(([, fact]) => ({ text: fact, kind: 'other', said_by_user: true }));
  return { text: JSON.stringify({ facts, outdated: [] }) };
}

const script = (reply: Respond, onLook: Respond = look) =>
  server.script((request) => (isLook(request) ? onLook(request) : reply(request)));

const resultsOf = ({ messages }: NormalisedRequest) =>
  messages.flatMap((message) => (message.role === 'tool' ? message.results.map(({ output }) => output) : []));

async function done(method: string, path: string, body?: unknown, headers = {}): Promise<Body> {
  const answer = await server.call(method, path, { headers, ...(body !== undefined && { body }) });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`);
  return answer.body;
}

const say = (id: string, message: string) =>
  done('POST', `/v1/conversations/${id}/messages`, { message }, { prefer: 'wait=60' });

async function talk(userId: string, message: string, deployment = 'desk'): Promise<string> {
  const { id } = await done('POST', '/v1/conversations', { deployment, user_id: userId });
  await say(id, message);
  return id;
}

const known = async (userId: string): Promise<string[]> =>
  (await done('GET', `/v1/memory?user_id=${userId}`)).data.map(({ text }: Body) => text);

const sql = (text: string, values: unknown[]) => query<Body>(server.connectionString, text, values);
const makeDue = (id: string) =>
  sql(`UPDATE conversations SET memory_due_at = now() - interval '1 second' WHERE id = $1`, [id]);

const pollWhileSearching = <Seen>(look: () => Seen | Promise<Seen>) =>
  pollWithJob(server.connectionString, 'memory.keep', look);

/** Makes the conversation due as if it had been quiet for long, and waits until it was searched. */
async function lookedThrough(id: string): Promise<void> {
  await makeDue(id);
  const due = () => sql('SELECT memory_due_at FROM conversations WHERE id = $1', [id]);
  await pollWhileSearching(due).toEqual([{ memory_due_at: null }]);
}

const deleteAll = (userId: string) => done('DELETE', `/v1/memory?user_id=${userId}`);

async function deleteOne(userId: string): Promise<void> {
  const { data } = await done('GET', `/v1/memory?user_id=${userId}`);
  await done('DELETE', `/v1/memory/${data[0].id}?user_id=${userId}`);
}

async function deleteInPanel(userId: string): Promise<void> {
  await done('PATCH', '/v1/org', { memory_panel: true });
  const { token } = await done('POST', '/v1/sessions', { user_id: userId, memory: true });
  const { body } = await server.call('GET', '/v1/memory', { key: token });
  const answer = await server.call('DELETE', `/v1/memory/${body.data[0].id}`, { key: token });
  expect(answer.status).toBe(200);
}

/** Remembers at once where the user speaks of Lisbon, and from then on keeps speaking of it. */
const remembering: Respond = (request) =>
  isAbout('Lisbon')(request) && resultsOf(request).length === 0
    ? { calls: [{ name: 'remember', arguments: { text: lisbon } }] }
    : { text: 'You live in Lisbon, I know.' };

describe('a deleted fact', () => {
  it.each([
    ['all facts', deleteAll],
    ['a fact by its id', deleteOne],
    ['a fact in the panel of a session', deleteInPanel],
  ])('does not come back from messages sent before %s was deleted [MEM-640]', async (name, forget) => {
    const user = `ordinary-${name.length}`;
    script(remembering);
    const id = await talk(user, 'I live in Lisbon now, please remember');
    expect(await known(user)).toEqual([lisbon]);
    await forget(user);
    await lookedThrough(id);
    expect(await known(user)).toEqual([]);
    expect(server.asked.filter(isLook).filter(isAbout('Lisbon'))).toEqual([]);
    // The agent still reads the old messages and repeats them. What the user says from now on is learned.
    script(() => ({ text: 'You live in Lisbon and play chess.' }));
    await say(id, 'I play chess.');
    await lookedThrough(id);
    expect(await known(user)).toEqual([chess]);
    await say(id, 'I do live in Lisbon.');
    await lookedThrough(id);
    expect((await known(user)).sort()).toEqual([lisbon, chess].sort());
  });

  it('does not come back from an extraction that called the model before the deletion [MEM-641]', async () => {
    script(() => ({ text: 'Noted.' }));
    const id = await talk('in-flight', 'I live in Lisbon.');
    await done('POST', '/v1/memory', { user_id: 'in-flight', text: 'Likes tea.' });
    let looks = 0;
    script(
      () => ({ text: 'Noted.' }),
      async (request) => {
        if (isAbout('Lisbon')(request)) {
          looks += 1;
          await deleteAll('in-flight');
        }
        return look(request);
      },
    );
    await lookedThrough(id);
    expect([looks, await known('in-flight')]).toEqual([1, []]);
  });

  it('does not come back from an extraction that is retried later [MEM-641]', async () => {
    script(
      () => ({ text: 'Noted.' }),
      () => ({ fail: 400, failMessage: 'not now' }),
    );
    const id = await talk('retried', 'I live in Lisbon.');
    await makeDue(id);
    const tries = () => sql('SELECT memory_tries FROM conversations WHERE id = $1', [id]);
    await pollWhileSearching(tries).toEqual([{ memory_tries: 1 }]);
    // Nothing is stored yet, and what was said is to be forgotten all the same.
    expect((await deleteAll('retried')).memories_deleted).toBe(0);
    script(() => ({ text: 'Noted.' }));
    await lookedThrough(id);
    expect(await known('retried')).toEqual([]);
  });

  it('does not come back from the result of a task that began before the deletion [MEM-641]', async () => {
    const question = { calls: [{ name: 'ask_question', arguments: { question: 'Still there?' } }] };
    script((request) => (resultsOf(request).length === 0 ? question : { text: 'Sent to your address in Lisbon.' }));
    const { id } = await done('POST', '/v1/conversations', {
      user_id: 'worker',
      message: 'I live in Lisbon. Send it.',
      hand_off: 'always',
    });
    const { data } = await server.until(
      `/v1/interactions?conversation_id=${id}`,
      ({ data: rows }) => rows.length === 1,
    );
    await deleteAll('worker');
    await done('POST', `/v1/interactions/${data[0].id}/answer`, { answers: ['Yes, in Lisbon'] });
    await server.until(`/v1/conversations/${id}`, ({ status }) => status === 'idle');
    await lookedThrough(id);
    expect(await known('worker')).toEqual([]);
  });

  it('is not learned from the result of a task that is deleted during the look [DEL-705]', async () => {
    script(() => ({ text: 'Sent to your address in Lisbon.' }));
    const { id } = await done('POST', '/v1/conversations', {
      user_id: 'sender',
      message: 'Send it.',
      hand_off: 'always',
    });
    await server.until(`/v1/conversations/${id}`, ({ status }) => status === 'idle');
    const { data } = await done('GET', `/v1/tasks?conversation_id=${id}`);
    let looks = 0;
    script(
      () => ({ text: 'Noted.' }),
      async (request) => {
        if (isAbout('Lisbon')(request)) {
          looks += 1;
          await done('DELETE', `/v1/tasks/${data[0].id}`);
        }
        return look(request);
      },
    );
    await lookedThrough(id);
    expect([looks, await known('sender')]).toEqual([1, []]);
  });

  it('is not remembered again by an agent that read it before the deletion [MEM-642]', async () => {
    script(async (request) => {
      if (resultsOf(request).length === 0) await deleteAll('tool');
      return remembering(request);
    });
    const id = await talk('tool', 'I live in Lisbon now, please remember');
    const refusals = () => server.asked.flatMap(resultsOf).filter((text) => text.includes('has deleted memories'));
    expect([await known('tool'), refusals().length]).toEqual([[], 1]);
    // Nor in a later turn, out of the history.
    script((request) => {
      const turn = request.messages.slice(request.messages.findLastIndex(({ role }) => role === 'user'));
      const isDone = turn.some(({ role }) => role === 'tool');
      return isDone ? { text: 'Well.' } : { calls: [{ name: 'remember', arguments: { text: lisbon } }] };
    });
    await say(id, 'Hello again');
    expect(await known('tool')).toEqual([]);
    await say(id, 'Remember that I live in Lisbon.');
    expect(await known('tool')).toEqual([lisbon]);
    // A conversation that began after the deletion has nothing old in it.
    await done('DELETE', '/v1/memory?user_id=tool');
    await talk('tool', 'Remember where I live, you know it from the map.');
    expect(await known('tool')).toEqual([lisbon]);
  });

  it('does not come back by a change of `memory_mode` [MEM-643]', async () => {
    script(remembering);
    const id = await talk('switched', 'I live in Lisbon now, please remember');
    await done('PATCH', '/v1/org', { memory_mode: 'none' });
    expect((await deleteAll('switched')).memories_deleted).toBe(1);
    await done('PATCH', '/v1/org', { memory_mode: 'vestra' });
    await lookedThrough(id);
    expect(await known('switched')).toEqual([]);
  });

  it('is not learned by a look during which memory is switched off [MEM-643]', async () => {
    script(() => ({ text: 'Noted.' }));
    const id = await talk('off', 'I live in Lisbon.');
    script(
      () => ({ text: 'Noted.' }),
      async (request) => {
        if (isAbout('Lisbon')(request)) await done('PATCH', '/v1/org', { memory_mode: 'none' });
        return look(request);
      },
    );
    await lookedThrough(id);
    await done('PATCH', '/v1/org', { memory_mode: 'vestra' });
    expect(await known('off')).toEqual([]);
  });

  it('is not learned for a user who was erased meanwhile and came back [MEM-641]', async () => {
    script(() => ({ text: 'Noted.' }));
    await talk('phoenix', 'I live in Lisbon.').then(makeDue);
    const erased = async () => {
      const { data } = await done('GET', '/v1/events?type=user.deleted&limit=100');
      return data.some(({ data: told }: Body) => told.id === 'phoenix');
    };
    let hasReturned = false;
    script(
      () => ({ text: 'Noted.' }),
      async (request) => {
        if (isAbout('Lisbon')(request)) {
          await done('DELETE', '/v1/users/phoenix');
          await expect.poll(erased, { timeout: 30_000 }).toBe(true);
          await done('POST', '/v1/users', { user_id: 'phoenix' });
          hasReturned = true;
        }
        return look(request);
      },
    );
    await pollWhileSearching(() => hasReturned).toBe(true);
    // The look has ended once a later one has.
    await lookedThrough(await talk('phoenix', 'I play chess.'));
    expect(await known('phoenix')).toEqual([chess]);
  });
});

describe('the memory endpoint of an org', () => {
  const actions: { action: string; user_id: string; memory?: { text: string } }[] = [];
  const endpoint = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString());
    actions.push(body);
    const answers: Record<string, unknown> = {
      list: { data: [] },
      search: { found: false, text: null },
      add: body.memory,
      delete: { deleted: true },
      delete_all: { memories_deleted: 3 },
    };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answers[body.action]));
  });
  const changesFor = (userId: string) =>
    actions
      .filter(({ action, user_id }) => user_id === userId && action !== 'list' && action !== 'search')
      .map(({ action, memory }) => [action, ...(memory ? [memory.text] : [])]);

  beforeAll(async () => {
    endpoint.listen(0, '127.0.0.1');
    await once(endpoint, 'listening');
  });
  afterAll(async () => {
    endpoint.closeAllConnections();
    await new Promise((resolve) => endpoint.close(resolve));
  });

  it('gets no fact from before a deletion that it was sent [MEM-644]', async () => {
    const stored = { user_id: 'far', text: 'Stored here before.' };
    await done('POST', '/v1/memory', stored);
    const url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/`;
    await done('PATCH', '/v1/org', { memory_mode: 'customer', memory_endpoint: url });
    script(() => ({ text: 'Noted.' }));
    const one = await talk('far', 'I live in Lisbon.');
    await done('DELETE', '/v1/memory/mem_000000000000000000000001?user_id=far');
    await lookedThrough(one);
    const other = await talk('far', 'I live in Lisbon.');
    script(
      () => ({ text: 'Noted.' }),
      async (request) => {
        if (isAbout('Lisbon')(request)) expect((await deleteAll('far')).memories_deleted).toBe(4);
        return look(request);
      },
    );
    await lookedThrough(other);
    expect(changesFor('far')).toEqual([['delete'], ['delete_all']]);
    script(() => ({ text: 'Noted.' }));
    await say(other, 'I play chess.');
    await lookedThrough(other);
    expect(changesFor('far').slice(2)).toEqual([['add', chess]]);
    // A user who is erased while the model looks, and comes back under the same id.
    const erased = async () => {
      const { data } = await done('GET', '/v1/events?type=user.deleted&limit=100');
      return data.some(({ data: told }: Body) => told.id === 'guest');
    };
    let hasReturned = false;
    script(() => ({ text: 'Noted.' }));
    const guest = await talk('guest', 'I live in Lisbon.');
    script(
      () => ({ text: 'Noted.' }),
      async (request) => {
        if (isAbout('Lisbon')(request)) {
          await done('DELETE', '/v1/users/guest');
          await expect.poll(erased, { timeout: 30_000 }).toBe(true);
          await done('POST', '/v1/users', { user_id: 'guest' });
          hasReturned = true;
        }
        return look(request);
      },
    );
    await makeDue(guest);
    await pollWhileSearching(() => hasReturned).toBe(true);
    await lookedThrough(await talk('guest', 'I play chess.'));
    expect(changesFor('guest')).toEqual([['delete_all'], ['add', chess]]);
    // Facts that were stored here are deleted too: they would show again from now on.
    await done('PATCH', '/v1/org', { memory_mode: 'vestra', memory_endpoint: null });
    expect(await known('far')).toEqual([]);
  });
});
