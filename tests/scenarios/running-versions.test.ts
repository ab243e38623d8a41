import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { query } from '../support/database.ts';

let server: AgentServer;
beforeAll(async () => {
  server = await startAgentServer();
  await query(
    server.connectionString,
    `INSERT INTO unfolded_entries (org_id, mode, wallet_micros, spend_micros, user_id, day)
    VALUES ($1, 'live', 1000000, 0, '', current_date)`,
    [server.orgId],
  );
});
afterAll(() => server.stop());

/** Answers with the instructions it was given, so that a reply says which version made it. */
const sayInstructions = () =>
  server.script(({ system }) => ({ text: /Say (\w+)\./.exec(system.join('\n'))?.[1] ?? 'nothing' }));

const save = async (name: string, word: string, { key = server.testKey, promote = 'now' } = {}) => {
  const body = { name, instructions: `Say ${word}.`, memory: 'none' };
  const answer = await server.call('PUT', `/v1/deployments/${name}?promote=${promote}`, { key, body });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body;
};

const start = (deployment: string, key = server.testKey) =>
  server.call('POST', '/v1/conversations', { key, body: { deployment } });

async function ask(conversationId: string, key = server.testKey): Promise<string> {
  const answer = await server.call('POST', `/v1/conversations/${conversationId}/messages`, {
    key,
    body: { message: 'Well?' },
    headers: { prefer: 'wait=30' },
  });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.reply.text;
}

const versionOf = async (conversationId: string, key = server.testKey) =>
  (await server.call('GET', `/v1/conversations/${conversationId}`, { key })).body.deployment_version;

describe('which version runs', () => {
  it('in test mode is the draft, and stays the one a conversation began with [TEN-016, VER-038]', async () => {
    sayInstructions();
    await save('drafts', 'one');
    const { body: old } = await start('drafts');
    expect(await ask(old.id)).toBe('one');
    await save('drafts', 'two');
    const { body: young } = await start('drafts');
    expect([await ask(old.id), await ask(young.id)]).toEqual(['one', 'two']);
    expect([await versionOf(old.id), await versionOf(young.id)]).toEqual([1, 2]);
  });

  it('in live mode is the live one, at each message [TEN-017, VER-039]', async () => {
    sayInstructions();
    await save('lives', 'one', { key: server.liveKey });
    await save('lives', 'two', { key: server.liveKey, promote: 'no' });
    const { body: made } = await start('lives', server.liveKey);
    expect([await ask(made.id, server.liveKey), await versionOf(made.id, server.liveKey)]).toEqual(['one', 1]);
    await server.call('POST', '/v1/deployments/lives/promote', { key: server.liveKey, body: { version: 2 } });
    expect([await ask(made.id, server.liveKey), await versionOf(made.id, server.liveKey)]).toEqual(['two', 2]);
    await server.call('POST', '/v1/deployments/lives/rollback', { key: server.liveKey });
    expect(await ask(made.id, server.liveKey)).toBe('one');
    const { body: test } = await start('lives');
    expect(await ask(test.id)).toBe('two');
  });

  it('is the one that is pinned, in both modes and for good [TEN-023, TEN-024]', async () => {
    sayInstructions();
    for (const word of ['one', 'two', 'three']) await save('pins', word, { key: server.liveKey });
    for (const key of [server.testKey, server.liveKey]) {
      const { body: pinned } = await start('pins@2', key);
      expect([await ask(pinned.id, key), await versionOf(pinned.id, key)]).toEqual(['two', 2]);
      const unknown = await start('pins@9', key);
      expect([unknown.status, unknown.body.error.code, unknown.body.error.param]).toEqual([
        400,
        'invalid_deployment',
        'deployment',
      ]);
    }
    const { body: kept } = await start('pins@2', server.liveKey);
    await save('pins', 'four', { key: server.liveKey });
    expect(await ask(kept.id, server.liveKey)).toBe('two');
  });

  it('is pinned in live mode only if it has been live, also after a rollback [VER-730]', async () => {
    sayInstructions();
    await save('born', 'one', { promote: 'no' });
    const pin = async (version: number, key: string) => {
      const { status, body } = await start(`born@${version}`, key);
      return [status, body.error?.code];
    };
    // A key that may only run agents must not run a draft for live users.
    expect(await pin(1, server.liveKey)).toEqual([409, 'deployment_not_live']);
    expect(await pin(1, server.testKey)).toEqual([201, undefined]);
    for (const word of ['two', 'three']) await save('born', word, { key: server.liveKey });
    await server.call('POST', '/v1/deployments/born/rollback', { key: server.liveKey });
    expect([await pin(1, server.liveKey), await pin(2, server.liveKey), await pin(3, server.liveKey)]).toEqual([
      [409, 'deployment_not_live'],
      [201, undefined],
      [201, undefined],
    ]);
  });

  it('is none if no version is live [TEN-018]', async () => {
    await save('unborn', 'one', { promote: 'no' });
    const refused = await start('unborn', server.liveKey);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'deployment_not_live']);
    expect((await start('unborn')).status).toBe(201);
  });

  it('is none for an archived deployment until it is active again [TEN-019, DEP-022]', async () => {
    sayInstructions();
    await save('rests', 'one');
    await server.call('POST', '/v1/deployments/rests/archive');
    const refused = await start('rests');
    expect([refused.status, refused.body.error.code]).toEqual([409, 'deployment_archived']);
    const back = await server.call('POST', '/v1/deployments/rests/unarchive');
    expect([back.status, back.body.status]).toEqual([200, 'active']);
    const { body: made } = await start('rests');
    expect(await ask(made.id)).toBe('one');
  });

  it('saved before functions had waiting flags asks for approval [VER-036]', async () => {
    const tools = [{ function: 'cancel_order', description: 'Cancel an order.', input: { order: 'string' } }];
    const applied = await server.apply({ name: 'old', instructions: 'Be kind.', memory: 'none', tools });
    await query(
      server.connectionString,
      `UPDATE deployment_versions SET manifest = jsonb_set(manifest::jsonb, '{tools,0}',
        (manifest::jsonb #> '{tools,0}') - 'read_only' - 'run_without_asking')::json WHERE deployment_id = $1`,
      [applied.body.id],
    );
    server.script(({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? { text: 'Done.' }
        : { calls: [{ name: 'cancel_order', arguments: { order: '7' } }] },
    );
    const { body: made } = await server.call('POST', '/v1/conversations', {
      body: { deployment: 'old', message: 'Cancel 7' },
    });
    const waiting = await server.until(`/v1/conversations/${made.id}`, ({ status }) => status === 'waiting');
    expect([waiting.open_interactions.map(({ kind }: { kind: string }) => kind), waiting.pending_tool_calls]).toEqual([
      ['tool_permission'],
      [],
    ]);
  });
});

describe('data of one mode', () => {
  it('is not found from the other [TEN-008]', async () => {
    await server.apply({ name: 'modes', instructions: 'Be kind.', memory: 'none' });
    server.script(() => ({ calls: [{ name: 'ask_question', arguments: { question: 'Which?' } }] }));
    const { body: made } = await server.call('POST', '/v1/conversations', {
      body: { deployment: 'modes', message: 'Work', hand_off: 'always' },
    });
    const waiting = await server.until(`/v1/conversations/${made.id}`, ({ status }) => status === 'waiting');
    const paths = [
      `/v1/conversations/${made.id}`,
      `/v1/conversations/${made.id}/messages`,
      `/v1/conversations/${made.id}/events?format=json`,
      `/v1/tasks/${waiting.open_work[0].task_id}`,
      `/v1/tasks/${waiting.open_work[0].task_id}/trace`,
      `/v1/interactions/${waiting.open_interactions[0].interaction_id}`,
    ];
    for (const path of paths) {
      expect([path, (await server.call('GET', path)).status]).toEqual([path, 200]);
      expect([path, (await server.call('GET', path, { key: server.liveKey })).status]).toEqual([path, 404]);
    }
    const changes = [
      await server.call('POST', `${paths[0]}/messages`, { key: server.liveKey, body: { message: 'Hi' } }),
      await server.call('POST', `${paths[0]}/stop`, { key: server.liveKey }),
      await server.call('POST', `${paths[5]}/answer`, { key: server.liveKey, body: { answers: ['This'] } }),
      await server.call('POST', `${paths[5]}/cancel`, { key: server.liveKey }),
      await server.call('DELETE', paths[3] as string, { key: server.liveKey }),
    ];
    expect(changes.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
    const ids = [made.id, waiting.open_work[0].task_id, waiting.open_interactions[0].interaction_id];
    for (const [at, list] of ['/v1/conversations', '/v1/tasks', '/v1/interactions'].entries()) {
      const idsOf = async (key: string) =>
        (await server.call('GET', `${list}?limit=100`, { key })).body.data.map(({ id }: { id: string }) => id);
      expect(await idsOf(server.testKey)).toContain(ids[at]);
      expect(await idsOf(server.liveKey)).not.toContain(ids[at]);
    }
  });

  it('of batches and routines is not found from the other either [TEN-009]', async () => {
    await server.apply({ name: 'lists', instructions: 'Be kind.', memory: 'none' });
    server.script(() => ({ text: 'Done.' }));
    const { body: batch } = await server.call('POST', '/v1/batches', {
      body: { deployment: 'lists', items: [{ user_id: 'ada', message: 'Hi' }] },
    });
    const { body: routine } = await server.call('POST', '/v1/routines', {
      body: { deployment: 'lists', ask: 'Report.', on: 'call' },
    });
    const calls = [
      ['GET', `/v1/batches/${batch.id}`],
      ['GET', `/v1/batches/${batch.id}/items`],
      ['POST', `/v1/batches/${batch.id}/cancel`],
      ['GET', `/v1/routines/${routine.id}`],
      ['PATCH', `/v1/routines/${routine.id}`, { enabled: false }],
      ['POST', `/v1/routines/${routine.id}/run`],
      ['POST', `/v1/routines/${routine.id}/trigger`, {}],
      ['DELETE', `/v1/routines/${routine.id}`],
    ] as const;
    for (const [method, path, body] of calls) {
      const { status } = await server.call(method, path, { key: server.liveKey, ...(body && { body }) });
      expect([method, path, status]).toEqual([method, path, 404]);
    }
    for (const path of [`/v1/batches/${batch.id}`, `/v1/routines/${routine.id}`]) {
      expect([path, (await server.call('GET', path)).status]).toEqual([path, 200]);
    }
    for (const list of ['/v1/batches', '/v1/routines']) {
      const idsOf = async (key: string) =>
        (await server.call('GET', `${list}?limit=100`, { key })).body.data.map(({ id }: { id: string }) => id);
      const id = list === '/v1/batches' ? batch.id : routine.id;
      expect(await idsOf(server.testKey)).toContain(id);
      expect(await idsOf(server.liveKey)).not.toContain(id);
    }
  });
});
