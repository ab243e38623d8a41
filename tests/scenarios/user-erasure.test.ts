import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { NormalisedRequest, ScriptedAnswer } from '@vestra/models/testing/scripted-answer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { query } from '../support/database.ts';
import { expectErrorInLog } from '../support/failure-notes.ts';
import { rowsWith } from '../support/marked-rows.ts';
import type { ApiResponse } from '../support/server.ts';

let server: AgentServer;
beforeAll(async () => {
  server = await startAgentServer();
  await server.apply({
    name: 'desk',
    instructions: 'Be kind.',
    tools: [{ function: 'look_up', description: 'Look an order up.', input: { order: 'string' }, read_only: true }],
  });
});
afterAll(() => server.stop());

const userId = 'erika.mustermann@example.com';
const marker = 'plum-harbour-kestrel';
let keys = 0;

/** A call that must succeed; whatever can be repeated is sent with a key, so that its answer is kept too. */
async function done(method: string, path: string, body?: unknown): Promise<ApiResponse['body']> {
  const headers: Record<string, string> = method === 'POST' ? { 'idempotency-key': `erase-${keys++}` } : {};
  const answer = await server.call(method, path, { headers, ...(body !== undefined && { body }) });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`);
  return answer.body;
}

async function upload(): Promise<ApiResponse['body']> {
  const form = new FormData();
  form.append('file', new Blob([`${marker} in an upload`], { type: 'text/plain' }), `${marker}.txt`);
  const path = `/v1/files?user_id=${encodeURIComponent(userId)}`;
  return (await server.call('POST', path, { raw: form, headers: { 'idempotency-key': 'erase-upload' } })).body;
}

const called = ({ messages }: NormalisedRequest) =>
  messages.flatMap((message) => (message.role === 'agent' ? message.calls.map(({ name }) => name) : []));

/** A model that leaves the marker wherever an agent can leave anything. */
function leaveMarkers(request: NormalisedRequest): ScriptedAnswer {
  const did = called(request);
  const isWork = request.tools.some(({ name }) => name === 'save_output');
  if (request.tools.length === 0) return { text: '{"facts": [], "outdated": []}' };
  const next = (name: string, given: unknown): ScriptedAnswer => ({
    thinking: `${marker} thought`,
    text: `${marker} before ${name}. `,
    calls: [{ name, arguments: given }],
  });
  if (!isWork) {
    if (!did.includes('look_up')) return next('look_up', { order: marker });
    if (!did.includes('remember')) return next('remember', { text: `Likes ${marker}.` });
    return next('hand_off_to_work', { title: `Work on ${marker}`, task: `Find ${marker}.` });
  }
  if (!did.includes('update_plan')) {
    return next('update_plan', { steps: [{ content: `Find ${marker}`, status: 'in_progress' }] });
  }
  if (!did.includes('save_output')) return next('save_output', { filename: `${marker}.md`, content: `# ${marker}` });
  if (!did.includes('ask_question')) return next('ask_question', { question: `Is ${marker} right?` });
  return { text: `${marker} was found.` };
}

describe('the erasure of a user', () => {
  it('leaves no row and no file behind, except their spend under `unknown` [USR-021, USR-022, USR-023, USE-016, RSN-008]', async () => {
    await done('POST', '/v1/users', {
      user_id: userId,
      name: `Erika ${marker}`,
      email: userId,
      metadata: { about: marker },
    });
    const uploaded = await upload();
    const conversation = await done('POST', '/v1/conversations', { user_id: userId, metadata: { label: marker } });
    const path = `/v1/conversations/${conversation.id}`;
    server.script(leaveMarkers);
    const turn = await done('POST', `${path}/messages`, {
      message: `Find ${marker}`,
      context: { page: marker },
      attachments: [{ file_id: uploaded.id }],
    });
    const { pending_tool_calls: calls } = await server.until(path, (body) => body.pending_tool_calls.length === 1);
    await done('POST', `/v1/interactions/${calls[0].call_id}/answer`, { output: { order: marker } });
    const { open_interactions: open } = await server.until(path, (body) => body.open_interactions.length === 1);
    const outputs = (await done('GET', `/v1/files?conversation_id=${conversation.id}`)).data;
    expect(outputs.map(({ filename, source }: ApiResponse['body']) => [filename, source])).toEqual([
      [`${marker}.md`, 'output'],
    ]);
    const second = await done('POST', '/v1/conversations', { user_id: userId, message: `Also ${marker}` });
    await server.until(`/v1/conversations/${second.id}`, (body) => body.pending_tool_calls.length === 1);
    await done('POST', '/v1/memory', { user_id: userId, text: `Knows ${marker}.` });
    await done('POST', '/v1/routines', { user_id: userId, ask: `Report on ${marker}`, every: 'day at 08:00' });
    await server.call('PUT', '/v1/secrets/ERIKA_TOKEN', { body: { value: marker, user_id: userId } });
    const session = await done('POST', '/v1/sessions', { user_id: userId, chat: true });
    const links = [uploaded.id, outputs[0].id].map(async (id) => (await done('GET', `/v1/files/${id}`)).download_url);
    const downloads = await Promise.all(links);
    for (const url of downloads) expect((await fetch(url)).status).toBe(200);

    expect((await rowsWith(server, `${marker} thought`)).run_steps).toHaveLength(7);
    const before = await rowsWith(server, marker);
    expect(Object.keys(before)).toEqual(
      expect.arrayContaining([
        'conversation_events',
        'conversations',
        'events',
        'files',
        'interactions',
        'memories',
        'messages',
        'routines',
        'run_calls',
        'run_steps',
        'tasks',
        'turns',
        'users',
      ]),
    );
    const named = await rowsWith(server, userId);
    expect(Object.keys(named)).toEqual(
      expect.arrayContaining(['audit_entries', 'idempotency_keys', 'ledger_entries', 'secrets', 'sessions', 'tasks']),
    );
    const spent = (await done('GET', `/v1/users/${encodeURIComponent(userId)}`)).spend_today_usd;
    expect(spent).toBeGreaterThan(0);

    const answer = await server.call('DELETE', `/v1/users/${encodeURIComponent(userId)}`);
    expect([answer.status, answer.body.deleted, answer.body.status]).toEqual([202, false, 'deleting']);
    const { data } = await server.until('/v1/events?type=user.deleted', (body) => body.data.length === 1);
    expect(data[0].data).toEqual({ object: 'user', id: userId, deleted: true });

    expect(await rowsWith(server, marker)).toEqual({});
    const { audit_entries, events, ...others } = await rowsWith(server, userId);
    expect(others).toEqual({});
    expect([events?.length, audit_entries?.length]).toEqual([1, expect.any(Number)]);
    for (const url of downloads) expect((await fetch(url)).status).toBe(404);
    const gone = [
      await server.call('GET', path),
      await server.call('GET', `/v1/tasks/${turn.task_id ?? open[0].task_id}`),
      await server.call('GET', `/v1/interactions/${open[0].interaction_id}`),
      await server.call('GET', `/v1/sessions/${session.id}`),
      await server.call('GET', `/v1/users/${encodeURIComponent(userId)}`),
    ];
    expect(gone.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
    expect((await server.call('GET', `/v1/sessions/${session.id}`, { key: session.token })).status).toBe(401);
    const { body: report } = await server.call('GET', '/v1/usage?group_by=user');
    expect(report.data).toMatchObject([{ key: 'unknown', cost_usd: spent }]);
  });

  it('has the memory endpoint of the org forget them first, and ends without it after a day [MEM-307]', async () => {
    expectErrorInLog(/erased a user here, but other systems may still have their data/);
    const told: ApiResponse['body'][] = [];
    const answers = [500, 200];
    const endpoint = createServer(async (request, response) => {
      let raw = '';
      for await (const chunk of request) raw += chunk;
      told.push(JSON.parse(raw));
      response.writeHead(answers.shift() ?? 500, { 'content-type': 'application/json' });
      response.end('{"memories_deleted": 3}');
    });
    endpoint.listen(0, '127.0.0.1');
    await once(endpoint, 'listening');
    const memory_endpoint = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/`;
    await done('PATCH', '/v1/org', { memory_endpoint });
    const isGone = (id: string) => server.call('GET', `/v1/users/${id}`).then(({ status }) => status === 404);
    const erasedIds = async () =>
      (await done('GET', '/v1/events?type=user.deleted')).data.map(({ data }: ApiResponse['body']) => data.id);
    const erase = async (id: string, times: number) => {
      await done('POST', '/v1/users', { user_id: id });
      const before = told.length;
      await server.call('DELETE', `/v1/users/${id}`);
      await expect.poll(() => told.length, { timeout: 30_000 }).toBe(before + times);
    };
    /** Instead of waiting for the job's next try. */
    const tryNow = () =>
      query(server.connectionString, `UPDATE jobs SET due_at = now() WHERE name = 'user.erase' AND NOT is_held`);

    await erase('paul', 1);
    expect(await erasedIds()).not.toContain('paul');
    await expect
      .poll(async () => [(await tryNow()).length, await erasedIds()], { timeout: 30_000 })
      .toEqual([0, expect.arrayContaining(['paul'])]);
    expect(told).toEqual(Array(2).fill({ action: 'delete_all', mode: 'test', user_id: 'paul' }));

    await erase('petra', 1);
    expect([await erasedIds(), await isGone('petra')]).toEqual([expect.not.arrayContaining(['petra']), true]);
    await query(server.connectionString, `UPDATE users SET erasing_since = now() - interval '25 hours'`);
    await expect
      .poll(async () => [(await tryNow()).length, await erasedIds()], { timeout: 30_000 })
      .toEqual([0, expect.arrayContaining(['petra'])]);
    endpoint.closeAllConnections();
    endpoint.close();
  });
});
