import type { NormalisedRequest, ScriptedAnswer } from '@vestra/models/testing/scripted-answer';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { query } from '../support/database.ts';
import { pollWithJob } from '../support/jobs.ts';
import { rowsWith } from '../support/marked-rows.ts';
import { makeOtherOrg } from '../support/other-org.ts';
import { type ApiResponse, startTestServer } from '../support/server.ts';

let server: AgentServer;
let marker: string;
let keys = 0;
beforeAll(async () => {
  server = await startAgentServer();
  await server.apply({
    name: 'desk',
    instructions: 'Be kind.',
    tools: [{ function: 'look_up', description: 'Look an order up.', input: { order: 'string' }, read_only: true }],
  });
});
beforeEach(() => {
  marker = `quince-lagoon-${keys++}`;
});
afterAll(() => server.stop());

/** A call that must succeed. Its answer is stored under an idempotency key. */
async function done(method: string, path: string, body?: unknown): Promise<ApiResponse['body']> {
  const headers: Record<string, string> = method === 'POST' ? { 'idempotency-key': `delete-${keys++}` } : {};
  const answer = await server.call(method, path, { headers, ...(body !== undefined && { body }) });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`);
  return answer.body;
}

/** Leaves the marker wherever an agent can leave text, and ends with a question. */
function leaveMarkers({ messages, tools }: NormalisedRequest): ScriptedAnswer {
  if (tools.length === 0) return { text: '{"facts": [], "outdated": []}' };
  const did = messages.flatMap((message) => (message.role === 'agent' ? message.calls.map(({ name }) => name) : []));
  const next = (name: string, given: unknown): ScriptedAnswer => ({
    thinking: `${marker} thought`,
    text: `${marker} before ${name}. `,
    calls: [{ name, arguments: given }],
  });
  if (!tools.some(({ name }) => name === 'save_output')) {
    if (!did.includes('look_up')) return next('look_up', { order: marker });
    return next('hand_off_to_work', { title: `Work on ${marker}`, task: `Find ${marker}.` });
  }
  if (!did.includes('save_output')) return next('save_output', { filename: `${marker}.md`, content: `# ${marker}` });
  return next('ask_question', { question: `Is ${marker} right?` });
}

describe('the deletion of a conversation', () => {
  it('leaves nothing of it in any route or table, except its cost [CONV-700]', async () => {
    server.script(leaveMarkers);
    const conversation = await done('POST', '/v1/conversations', { user_id: 'ann', metadata: { label: marker } });
    const path = `/v1/conversations/${conversation.id}`;
    const turn = await done('POST', `${path}/messages`, { message: `Find ${marker}`, context: { page: marker } });
    const { pending_tool_calls: calls } = await server.until(path, (body) => body.pending_tool_calls.length === 1);
    await done('POST', `/v1/interactions/${calls[0].call_id}/answer`, { output: { order: marker } });
    const { open_interactions: open } = await server.until(path, (body) => body.open_interactions.length === 1);
    const [output] = (await done('GET', `/v1/files?conversation_id=${conversation.id}`)).data;
    const { download_url } = await done('GET', `/v1/files/${output.id}`);
    const session = await done('POST', '/v1/sessions', {
      user_id: 'ann',
      conversation_id: conversation.id,
      chat: true,
    });
    const routine = await done('POST', '/v1/routines', {
      user_id: 'ann',
      ask: 'Report.',
      every: 'day at 08:00',
      conversation_id: conversation.id,
    });
    const { data: messages } = await done('GET', `${path}/messages`);
    const reply = messages.find(({ role }: ApiResponse['body']) => role === 'agent');
    await done('POST', `/v1/messages/${reply.id}/feedback`, { rating: 'bad', note: marker });
    const stream = await server.stream('GET', `${path}/events`);
    const task = turn.task_id ?? open[0].task_id;
    expect(Object.keys(await rowsWith(server, marker))).toEqual(
      expect.arrayContaining([
        'conversation_events',
        'events',
        'files',
        'idempotency_keys',
        'messages',
        'tasks',
        'turns',
      ]),
    );
    const usage = await done('GET', '/v1/usage?group_by=user');

    expect(await done('DELETE', path)).toEqual({ object: 'conversation', id: conversation.id, deleted: true });

    expect(await rowsWith(server, marker)).toEqual({});
    const {
      audit_entries: audited,
      ledger_entries: _costs,
      usage_work_days: _sums,
      ...named
    } = await rowsWith(server, conversation.id);
    expect([named, audited?.length]).toEqual([{}, 1]);
    const gone = [
      path,
      `${path}/messages`,
      `${path}/events?format=json`,
      `${path}/turns/${turn.id}`,
      `${path}/turns/${turn.id}/trace`,
      `/v1/tasks/${task}`,
      `/v1/tasks/${task}/trace`,
      `/v1/interactions/${open[0].interaction_id}`,
      `/v1/files/${output.id}`,
      `/v1/sessions/${session.id}`,
    ];
    for (const each of gone) expect([each, (await server.call('GET', each)).status]).toEqual([each, 404]);
    expect((await fetch(download_url)).status).toBe(404);
    expect((await server.call('GET', `/v1/sessions/${session.id}`, { key: session.token })).status).toBe(401);
    const followed = await stream.events;
    expect(followed.some(({ type }) => type === 'task.stopped')).toBe(true);
    expect(followed.at(-1)).toMatchObject({ type: 'stream.closed', data: { reason: 'conversation_deleted' } });
    const after = await done('GET', '/v1/usage?group_by=user');
    expect(after.total.cost_usd).toBeGreaterThanOrEqual(usage.total.cost_usd);
    expect(await done('GET', `/v1/routines/${routine.id}`)).toMatchObject({ enabled: true, status: 'active' });
    expect((await server.call('DELETE', path)).body.error.code).toBe('conversation_not_found');
  });

  it('wins over a message that arrives at the same moment, and nothing runs for it [CONV-701]', async () => {
    server.script(() => ({ text: `${marker} said.` }));
    const race = async () => {
      const { id } = await done('POST', '/v1/conversations', { user_id: 'ann' });
      const path = `/v1/conversations/${id}`;
      const send = () => server.call('POST', `${path}/messages`, { body: { message: marker } });
      const [, removed] = await Promise.all([send(), server.call('DELETE', path), send(), send()]);
      return [removed.status, (await send()).status];
    };
    const races = await Promise.all(Array.from({ length: 20 }, race));
    expect(races).toEqual(races.map(() => [200, 404]));
    await expect.poll(() => rowsWith(server, marker)).toEqual({});
  });

  it('ends every stream and wait on it, also in another process and after an erasure of its user [CONV-705]', async () => {
    const beside = await startTestServer({ beside: server, env: server.env });
    try {
      server.script(() => ({ text: ['Slow', ' answer.'], chunkDelayMs: 60_000 }));
      const open = async (user_id: string) => {
        const { id } = await done('POST', '/v1/conversations', { user_id });
        const path = `/v1/conversations/${id}`;
        const streams = [server, beside].map(({ url }) =>
          fetch(`${url}${path}/events`, { headers: { authorization: `Bearer ${server.testKey}` } }),
        );
        const waits = [server, beside].map((at) =>
          at.call('POST', `${path}/messages`, {
            key: server.testKey,
            headers: { prefer: 'wait=60' },
            body: { message: 'Hi' },
          }),
        );
        const texts = (await Promise.all(streams)).map((response) => response.text());
        await server.until(path, ({ status }) => status === 'replying');
        return { path, texts, waits };
      };
      await done('POST', '/v1/users', { user_id: 'bob' });
      const [deleted, erased] = [await open('ann'), await open('bob')];
      await done('DELETE', deleted.path);
      await server.call('DELETE', '/v1/users/bob');
      for (const { texts, waits } of [deleted, erased]) {
        for (const text of await Promise.all(texts)) expect(text).toContain('conversation_deleted');
        for (const { status, body } of await Promise.all(waits)) {
          // A wait ends with the stopped turn, or finds the conversation gone.
          expect([status, status === 200 ? body.status : body.error.code]).toEqual(
            status === 200 ? [200, 'stopped'] : [404, 'conversation_not_found'],
          );
        }
      }
    } finally {
      await beside.stop();
    }
  });

  it('is refused to other orgs, the other mode, session tokens and keys without the scope [CONV-702]', async () => {
    const { id } = await done('POST', '/v1/conversations', { user_id: 'ann' });
    const session = await done('POST', '/v1/sessions', { user_id: 'ann', conversation_id: id, chat: true });
    const other = await makeOtherOrg(server);
    const refused = [
      await server.call('DELETE', `/v1/conversations/${id}`, { key: other }),
      await server.call('DELETE', `/v1/conversations/${id}`, { key: server.liveKey }),
      await server.call('DELETE', `/v1/conversations/${id}`, { key: session.token }),
      await server.call('DELETE', '/v1/conversations/nonsense'),
    ];
    expect(refused.map(({ status, body }) => [status, body.error.code])).toEqual([
      [404, 'conversation_not_found'],
      [404, 'conversation_not_found'],
      [403, 'session_scope'],
      [400, 'invalid_conversation_id'],
    ]);
    expect((await server.call('GET', `/v1/conversations/${id}`)).status).toBe(200);
  });
});

describe('the retention of conversations', () => {
  const age = (id: string, days: number) =>
    query(
      server.connectionString,
      `UPDATE conversations SET created_at = now() - $2 * interval '1 day', last_active_at = now() - $2 * interval '1 day'
       WHERE id = $1`,
      [id, days],
    );
  const talk = async (ageInDays: number): Promise<string> => {
    const { id, turn_id } = await done('POST', '/v1/conversations', { user_id: 'ann', message: marker });
    await server.until(`/v1/conversations/${id}/turns/${turn_id}`, ({ status }) => status === 'settled');
    await age(id, ageInDays);
    return id;
  };
  const statusesOf = async (ids: readonly string[]) => {
    const all = await Promise.all(ids.map((id) => server.call('GET', `/v1/conversations/${id}`)));
    return all.map(({ status }) => status);
  };

  it('deletes those without activity for longer than the org asks, in its mode alone [CONV-703]', async () => {
    server.script(() => ({ text: 'Hello.' }));
    const ids = [await talk(40), await talk(31), await talk(29)];
    const ofLive = await talk(40);
    await query(server.connectionString, `UPDATE conversations SET mode = 'live' WHERE id = $1`, [ofLive]);
    await expect(done('PATCH', '/v1/org', { conversation_retention_days: 0 })).rejects.toThrow(
      'conversation_retention_days',
    );
    expect((await done('GET', '/v1/org')).conversation_retention_days).toBeNull();
    await done('PATCH', '/v1/org', { conversation_retention_days: 30 });
    expect((await done('GET', '/v1/org')).conversation_retention_days).toBe(30);
    const { body: live } = await server.call('GET', '/v1/org', { key: server.liveKey });
    expect(live.conversation_retention_days).toBeNull();
    await pollWithJob(server.connectionString, 'housekeeping', () => statusesOf(ids)).toEqual([404, 404, 200]);
    expect((await server.call('GET', `/v1/conversations/${ofLive}`, { key: server.liveKey })).status).toBe(200);
    await done('PATCH', '/v1/org', { conversation_retention_days: null });
  });

  it('is bounded by the operator for every org [CONV-704]', async () => {
    server.script(() => ({ text: 'Hello.' }));
    const ids = [await talk(12), await talk(8)];
    const bounded = await startTestServer({ beside: server, env: { VESTRA_RETENTION_CONVERSATIONS_DAYS: '10' } });
    try {
      await done('PATCH', '/v1/org', { conversation_retention_days: 365 });
      // Either process may run the job; only this one has the bound.
      await pollWithJob(server.connectionString, 'housekeeping', () => statusesOf(ids)).toEqual([404, 200]);
    } finally {
      await bounded.stop();
    }
  });
});
