import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Called, serveMcp, tool } from '../../packages/server/src/agents/mcp-client/mcp-server.fixture.ts';
import { startAgentServer } from '../support/agent.ts';
import { door, heardSince, startTalk, type Talk } from './conversations.fixture.ts';

/** Servers of the older protocol keep their state in a session: a browser's page, a login, a transaction. */
let talk: Talk;
beforeAll(async () => {
  talk = await startTalk();
});
afterAll(() => talk.stop());

let at = 0;
let name: string;
beforeEach(() => {
  at += 1;
  name = `stateful-${at}`;
});

const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] });
const readOnly = { annotations: { readOnlyHint: true } };

/** `count` counts in its session; `slow` does so too, once `opened`. */
async function stateful({
  opened = Promise.resolve(),
  begun = () => {},
}: {
  opened?: Promise<void>;
  begun?: () => void;
} = {}) {
  const counts = new Map<string, number>();
  const call: Called = async (called, _args, { sessionId = '' }) => {
    if (called === 'slow') {
      begun();
      await opened;
    }
    counts.set(sessionId, (counts.get(sessionId) ?? 0) + 1);
    return text(`count ${counts.get(sessionId)}`);
  };
  const tools = [tool('count', readOnly), tool('slow', readOnly), tool('spend')];
  const served = await serveMcp('2025 with sessions', tools, { call });
  const deleted = () => served.requests.filter(({ method }) => method === 'DELETE').length;
  /** Waits until the server has no session any more. Those of the list that is kept are over by then. */
  const closed = async () => {
    while (served.sessions.size > 0) await new Promise((resolve) => setTimeout(resolve, 10));
    return served.sessions.size;
  };
  return { ...served, counts, deleted, closed };
}

const apply = (url: string, more: object = {}) =>
  talk.apply({ name, memory: 'none', tools: [{ mcp: url, name }], ...more });
const call = (called: string) => ({ name: `mcp__${name}__${called}`, arguments: {} });
const results = (request: Parameters<typeof heardSince>[0]) =>
  heardSince(request).map(({ output }) => /count \d+/.exec(output)?.[0] ?? output);

describe('a turn that calls a stateful server', () => {
  it('finds the state that earlier calls of the conversation left, also with calls at once [MCPS-624, MCPS-702]', async () => {
    const served = await stateful();
    await apply(served.url);
    talk.script((request) => {
      const heard = results(request);
      if (heard.length < 3) return { calls: [call('count')] };
      if (heard.length < 5) return { calls: [call('count'), call('count')] };
      return { text: heard.join(', ') };
    });
    const { id } = await talk.begin({ deployment: name });
    const { reply } = await talk.tell(id, 'Count.');
    expect(reply.text.split(', ').sort().join(', ')).toBe('count 1, count 2, count 3, count 4, count 5');
    expect((await talk.tell(id, 'Count again.')).reply.text).toMatch(/^count 6, count 7, count 8/);
    expect([...served.counts.values()]).toEqual([10]);
  });

  it('tells the agent if the server has lost the state [MCPS-707]', async () => {
    const served = await stateful();
    await apply(served.url);
    talk.script((request) => {
      const heard = heardSince(request);
      return heard.length === 0 ? { calls: [call('count')] } : { text: heard.map(({ output }) => output).join() };
    });
    const { id } = await talk.begin({ deployment: name });
    expect((await talk.tell(id, 'Count.')).reply.text).not.toContain('new session');
    expect((await talk.tell(id, 'Count.')).reply.text).toMatch(/count 2(?!.*new session)/s);
    // As after a restart of the server, or of the process that kept the session.
    served.sessions.clear();
    expect((await talk.tell(id, 'Count.')).reply.text).toMatch(/count 1.*called in a new session/s);
    expect((await talk.tell(id, 'Count.')).reply.text).toMatch(/count 2(?!.*new session)/s);
  });

  it('shares the state with no other conversation, user or mode [MCPS-624]', async () => {
    const { opened, open } = door();
    let waiting = 0;
    const served = await stateful({ opened, begun: () => ++waiting === 3 && open() });
    await apply(served.url);
    await talk.apply({ name, memory: 'none', tools: [{ mcp: served.url, name }] }, talk.liveKey);
    talk.script((request) => {
      const heard = results(request);
      return heard.length < 2 ? { calls: [call(heard.length === 0 ? 'slow' : 'count')] } : { text: heard.join(', ') };
    });
    const asked = async (key: string, user_id: string) => {
      const { id } = await talk.begin({ deployment: name, user_id }, key);
      return (await talk.tell(id, 'Count.', key)).reply.text;
    };
    // Each first call ends only when all three conversations are in the middle of their first calls.
    const replies = await Promise.all([
      asked(talk.testKey, 'ann'),
      asked(talk.testKey, 'bob'),
      asked(talk.liveKey, 'ann'),
    ]);
    expect(replies).toEqual(['count 1, count 2', 'count 1, count 2', 'count 1, count 2']);
    expect(served.counts.size).toBe(3);
  });

  it('keeps the state after a run that failed, and while a run waits for a person [MCPS-624, MCPS-702]', async () => {
    const served = await stateful();
    await apply(served.url);
    talk.script((request) => (results(request).length === 0 ? { calls: [call('count')] } : { fail: 400 }));
    const { id } = await talk.begin({ deployment: name });
    expect((await talk.tell(id, 'Count.')).error).toMatchObject({ code: 'model_error' });
    talk.script((request) => {
      const heard = results(request);
      return heard.length === 0 ? { calls: [call('spend')] } : { text: heard.join(', ') };
    });
    await talk.send(id, { message: 'Spend.' });
    const { data } = await talk.until(`/v1/interactions?conversation_id=${id}`, ({ data: rows }) => rows.length === 1);
    await talk.call('POST', `/v1/interactions/${data[0].id}/answer`, { body: { approve: true, present_user: true } });
    await talk.rest(id);
    expect([...served.counts.values()]).toEqual([2]);
  });
});

describe('the session is closed', () => {
  it('when a person stops the run in the middle of a call [MCPS-625]', async () => {
    const { opened, open } = door();
    const { opened: reached, open: begun } = door();
    const served = await stateful({ opened, begun });
    await apply(served.url);
    talk.script(() => ({ calls: [call('slow')] }));
    const { id } = await talk.begin({ deployment: name });
    await talk.send(id, { message: 'Count.' });
    await reached;
    await talk.call('POST', `/v1/conversations/${id}/stop`);
    await talk.rest(id);
    expect(await served.closed()).toBe(0);
    open();
  });

  it('when a task ends, and when the process shuts down in the middle of one [MCPS-625]', async () => {
    const { opened, open } = door();
    const { opened: reached, open: begun } = door();
    const served = await stateful({ opened, begun });
    const own = await startAgentServer({ env: { VESTRA_STOP_SECONDS: '1' } });
    await own.apply({ name, memory: 'none', tools: [{ mcp: served.url, name }] });
    own.script((request) => {
      const heard = results(request);
      const isSlow = JSON.stringify(request.messages).includes('slowly');
      if (heard.length < 2) return { calls: [call(isSlow && heard.length === 1 ? 'slow' : 'count')] };
      return { text: heard.join(', ') };
    });
    const work = (message: string) =>
      own.call('POST', '/v1/conversations', { body: { deployment: name, message, hand_off: 'always' } });
    const { body } = await work('Count.');
    const isDone = ({ data }: { data: { status: string }[] }) => data.some(({ status }) => status === 'done');
    await own.until(`/v1/tasks?conversation_id=${body.id}`, isDone);
    expect([[...served.counts.values()], await served.closed()]).toEqual([[2], 0]);
    await work('Count slowly.');
    await reached;
    const stopped = own.stop();
    expect(await served.closed()).toBe(0);
    open();
    await stopped;
  });
});

it('a run opens no session with a server that it does not call [MCPS-624]', async () => {
  const served = await stateful();
  await apply(served.url);
  talk.script(() => ({ text: 'Hello.' }));
  const { id } = await talk.begin({ deployment: name });
  await talk.tell(id, 'Hi.');
  await served.closed();
  const before = served.requests.length;
  await talk.tell(id, 'Hi.');
  expect([served.requests.length, served.deleted()]).toEqual([before, 1]);
});
