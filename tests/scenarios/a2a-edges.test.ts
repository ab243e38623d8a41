import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectA2a, saying } from '../../packages/server/src/edges/a2a/client.fixture.ts';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { makeOtherOrg } from '../support/other-org.ts';

let server: AgentServer;
let deploymentId: string;
beforeAll(async () => {
  server = await startAgentServer();
  const body = { name: 'Night porter', slug: 'porter', description: 'Opens doors.', manifest: { memory: 'none' } };
  deploymentId = (await server.call('POST', '/v1/deployments', { body })).body.id;
  await server.call('POST', `/v1/deployments/${deploymentId}/promote`, { key: server.liveKey, body: { when: 'now' } });
});
afterAll(() => server.stop());

const cardPath = (id: string) => `/v1/a2a/${id}/.well-known/agent-card.json`;

async function rpc(body: unknown, headers: Record<string, string> = {}, key = server.testKey) {
  const response = await fetch(`${server.url}/v1/a2a/${deploymentId}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

describe('the agent card', () => {
  it('is shown without a key, as the contract writes it [A2A-001, A2A-002, A2A-003, A2A-004, A2A-005, A2A-006, A2A-007, A2A-021]', async () => {
    const { status, body, headers } = await server.call('GET', cardPath(deploymentId), { key: null });
    expect(status).toBe(200);
    const modes = ['text/plain', 'application/json'];
    expect(body).toEqual({
      name: 'Night porter',
      description: 'Opens doors.',
      supportedInterfaces: [
        { url: `${server.url}/v1/a2a/${deploymentId}`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      ],
      provider: { url: server.url, organization: expect.any(String) },
      version: '1',
      documentationUrl: `${server.url}/docs`,
      capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
      securitySchemes: { apiKey: { httpAuthSecurityScheme: expect.objectContaining({ scheme: 'Bearer' }) } },
      securityRequirements: [{ schemes: { apiKey: { list: [] } } }],
      defaultInputModes: modes,
      defaultOutputModes: modes,
      skills: [
        {
          id: 'talk',
          name: 'Talk to Night porter',
          description: 'Opens doors.',
          tags: ['conversation'],
          examples: [],
          inputModes: modes,
          outputModes: modes,
        },
      ],
    });
    expect(headers.get('cache-control')).toBe('public, no-cache');
  });

  it('is sent again only when it has changed [A2A-003]', async () => {
    const etag = (await server.call('GET', cardPath(deploymentId), { key: null })).headers.get('etag') as string;
    const again = () => server.call('GET', cardPath(deploymentId), { key: null, headers: { 'if-none-match': etag } });
    expect([(await again()).status, (await again()).text]).toEqual([304, '']);
    await server.apply({ name: 'porter', memory: 'none', instructions: 'Be brief.' }, server.liveKey);
    const changed = await again();
    expect([changed.status, changed.body.version]).toEqual([200, '2']);
  });

  it('returns 404 for deployments that are unknown, never live or archived [A2A-007]', async () => {
    const draft = (await server.apply({ name: 'draft' })).body.id;
    const old = (await server.apply({ name: 'old' }, server.liveKey)).body.id;
    await server.call('POST', `/v1/deployments/${old}/archive`, { key: server.liveKey });
    const codeOf = async (id: string) => {
      const { status, body } = await server.call('GET', cardPath(id), { key: null });
      return [status, body.error.code];
    };
    expect(await codeOf('dep_000000000000000000000000')).toEqual([404, 'deployment_not_found']);
    // A slug means nothing without a key that says whose it is.
    expect(await codeOf('porter')).toEqual([404, 'deployment_not_found']);
    expect(await codeOf('dep_x')).toEqual([400, 'invalid_deployment_id']);
    expect(await codeOf(draft)).toEqual([409, 'deployment_not_live']);
    expect(await codeOf(old)).toEqual([409, 'deployment_not_live']);
  });
});

describe('the endpoint', () => {
  const send = (params: unknown, method = 'SendMessage') => ({ jsonrpc: '2.0', id: 7, method, params });
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'Hello' }] };

  it('accepts plain JSON-RPC, also by slug, in its protocol version [A2A-008, A2A-021]', async () => {
    server.script(() => ({ text: 'Good evening.' }));
    for (const version of ['', '1.0']) {
      const { status, body } = await rpc(send({ message }), { 'a2a-version': version });
      expect([status, body.id, body.result.message.parts]).toMatchObject([200, 7, [{ text: 'Good evening.' }]]);
      expect(body.result.message.contextId).toMatch(/^conv_/);
    }
    expect((await rpc(send({ message }), { 'a2a-version': '0.3' })).body).toMatchObject({
      id: 7,
      error: { code: -32009, data: [{ reason: 'VERSION_NOT_SUPPORTED' }] },
    });
    const bySlug = await server.call('POST', '/v1/a2a/porter', { body: send({ message }) });
    expect(bySlug.body.result.message.role).toBe('ROLE_AGENT');
  });

  it('needs a key with scope runtime or all [A2A-008]', async () => {
    const { body } = await server.call('POST', '/v1/keys', { body: { name: 'setup', scopes: ['setup'] } });
    const refused = await rpc(send({ message }), {}, body.key);
    expect([refused.status, refused.body.error.code]).toEqual([403, 'scope_missing']);
    const { body: runtime } = await server.call('POST', '/v1/keys', { body: { name: 'r', scopes: ['runtime'] } });
    expect((await rpc(send({ message }), {}, runtime.key)).body.result.message).toBeDefined();
  });

  it('refuses push notifications on every request for them [A2A-011]', async () => {
    const config = { taskId: 'task_1', id: 'c', url: 'https://example.com/hook' };
    const methods = ['Create', 'Get', 'Delete'].map((verb) => `${verb}TaskPushNotificationConfig`);
    for (const method of [...methods, 'ListTaskPushNotificationConfigs']) {
      const { body } = await rpc(send(config, method));
      expect([method, body.error.code]).toEqual([method, -32003]);
    }
    const asked = send({ message, configuration: { taskPushNotificationConfig: config } });
    expect((await rpc(asked)).body.error.code).toBe(-32003);
    expect((await rpc(send({}, 'GetExtendedAgentCard'))).body.error.code).toBe(-32004);
  });

  it('separates orgs and modes', async () => {
    server.script(() => ({ text: 'Done.' }));
    const client = await connectA2a(server.url, deploymentId, server.testKey);
    const done = await client.sendMessage(saying('Work', { metadata: { hand_off: 'always' } }));
    if (!('status' in done)) throw new Error('No task.');
    const foreign = await rpc(send({ id: done.id }, 'GetTask'), {}, await makeOtherOrg(server));
    expect([foreign.status, foreign.body.error.code]).toEqual([404, 'deployment_not_found']);
    const live = await rpc(send({ id: done.id }, 'GetTask'), {}, server.liveKey);
    expect(live.body.error).toMatchObject({ code: -32001, data: [{ metadata: { code: 'task_not_found' } }] });
    const inContext = send({ message: { ...message, contextId: done.contextId } });
    expect((await rpc(inContext, {}, server.liveKey)).body.error.code).toBe(-32001);
    expect((await rpc(send({}, 'ListTasks'), {}, server.liveKey)).body.result).toMatchObject({ totalSize: 0 });
  });

  it('returns the API’s error code for a refused message', async () => {
    const draft = (await server.apply({ name: 'unborn' })).body.id;
    const refused = await server.call('POST', `/v1/a2a/${draft}`, { key: server.liveKey, body: send({ message }) });
    expect(refused.body.error).toMatchObject({
      code: -32004,
      data: [{ metadata: { code: 'deployment_not_live', request_id: expect.stringMatching(/^req_/) } }],
    });
    await server.call('PATCH', '/v1/org', { body: { require_user: true } });
    expect((await rpc(send({ message }))).body.error).toMatchObject({
      data: [{ metadata: { code: 'user_required' } }],
    });
    await server.call('PATCH', '/v1/org', { body: { require_user: false } });
    await server.call('POST', '/v1/users', { body: { user_id: 'gone' } });
    await server.call('PATCH', '/v1/users/gone', { body: { status: 'disabled' } });
    expect((await rpc(send({ message }), { 'service-user': 'gone' })).body.error).toMatchObject({
      code: -32004,
      data: [{ metadata: { code: 'user_disabled' } }],
    });
  });

  it.each(['{', 'hello', '<html></html>', '', '{"jsonrpc": "2.0",}'])(
    'answers %j, which is no JSON, with the parse error of JSON-RPC [REC-709]',
    async (raw) => {
      const headers = { 'content-type': 'application/json' };
      for (const path of ['/v1/a2a/porter', '/v1/mcp']) {
        const { status, body } = await server.call('POST', path, { raw, headers });
        expect([path, status, body]).toMatchObject([
          path,
          400,
          { jsonrpc: '2.0', id: null, error: { code: -32700, data: [{ metadata: { code: 'invalid_json' } }] } },
        ]);
      }
      // The key is checked before the body, and refused in the format of the API.
      const refused = await server.call('POST', '/v1/a2a/porter', { raw, headers, key: 'vst_test_none' });
      expect([refused.status, refused.body.error.code]).toEqual([401, 'key_invalid']);
    },
  );

  it('never falls over what is sent to it', async () => {
    const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    const hostile: unknown[] = [
      ...['', 'null', '1', '"{}"', '{', '[]', '{}', deep(99), deep(50_000)],
      ...[[send({ message })], Array.from({ length: 5_000 }, () => send({}))],
      ...[
        { ...send({}), id: { a: 1 } },
        { ...send({}), id: 1.5 },
        { ...send({}), jsonrpc: '1.0' },
      ],
      ...['message/send', 'Destroy', '__proto__', 'constructor', ''].map((method) => send({}, method)),
      ...[null, [], 'x', { message: null }, { message: [] }, { message: 'x' }].map((params) => send(params)),
      send({ message: { ...message, parts: [null] } }),
      send({ message: { ...message, parts: [{}] } }),
      send({ message: { ...message, parts: 'x' } }),
      send({ message: { ...message, parts: [{ raw: '%%%' }] } }),
      send({ message: { ...message, parts: [{ raw: 'QQ==', filename: '../../etc/passwd' }] } }),
      send({ message: { ...message, role: 'ROLE_AGENT' } }),
      send({ message: { ...message, role: 99 } }),
      send({ message: { ...message, contextId: '../keys' } }),
      send({ message: { ...message, taskId: { a: 1 } } }),
      send({ message: { ...message, metadata: { tools: 'x', attachments: [7], hand_off: 1 } } }),
      send({ message: { ...message, parts: [{ text: 'x'.repeat(900_000) }] } }),
      send({ message, configuration: { historyLength: -1 } }),
      ...['GetTask', 'CancelTask', 'SubscribeToTask', 'ListTasks', 'SendStreamingMessage'].flatMap((method) =>
        [{}, { id: '' }, { id: '..' }, { id: ['x'] }, { contextId: '%00', pageSize: 'x', status: 'y' }].map((params) =>
          send(params, method),
        ),
      ),
    ];
    for (const body of hostile) {
      const what = JSON.stringify(body).slice(0, 120);
      const { status, body: answer } = await rpc(body);
      expect([what, status < 500, answer.error?.code !== -32603]).toEqual([what, true, true]);
    }
    expect((await rpc(send({ message }))).body.result.message).toBeDefined();
  });
});
