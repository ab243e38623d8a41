import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, type CallOptions, startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let database: pg.Client;
let onlooker: pg.Client;
beforeAll(async () => {
  server = await startTestServer({ env: { VESTRA_DEFAULT_MODEL: 'offline' } });
  [database, onlooker] = [0, 1].map(() => new pg.Client(server.connectionString)) as [pg.Client, pg.Client];
  await Promise.all([database.connect(), onlooker.connect()]);
  await create('/v1/users', { user_id: 'ada' });
  await newDeployment('desk');
});
afterAll(async () => {
  await Promise.all([database.end(), onlooker.end()]);
  await server.stop();
});

async function create(path: string, body: unknown, options: CallOptions = {}): Promise<ApiResponse['body']> {
  const answer = await server.call('POST', path, { body, ...options });
  if (answer.status >= 300) throw new Error(answer.text);
  return answer.body;
}

const tests = [{ name: 'Hi', ask: 'Hello', expect: 'It greets.' }];

async function newDeployment(name: string): Promise<string> {
  const body = { name, instructions: 'Answer.', tests };
  return (await server.call('PUT', `/v1/deployments/${name}?promote=now`, { key: server.liveKey, body })).body.id;
}

let made = 0;
const skill = (words: string) => ({
  files: [{ path: 'SKILL.md', content: `---\nname: skill-${made}\ndescription: How it is done.\n---\n${words}\n` }],
});
const scenario = { name: 's', persona: 'A customer.', goal: 'Ask.', success_criteria: ['It greets.'] };
const routine = { ask: 'Look.', name: 'r', every: '1 hour', user_id: 'ada' };
const stockUrl = 'https://stock.example.com/mcp';

const newConversation = () => create('/v1/conversations', { user_id: 'ada', deployment: 'desk', message: 'Hello' });

/** Makes a row of each table and returns its id. */
const tables = {
  api_keys: () => create('/v1/keys', { name: 'k', scopes: ['runtime'] }, { key: server.liveKey }),
  batches: () => create('/v1/batches', { deployment: 'desk', items: [{ message: 'Hello' }] }),
  conversations: newConversation,
  deployments: async () => ({ id: await newDeployment(`desk-${++made}`) }),
  members: () => create('/v1/members', { email: `m${++made}@example.com`, role: 'viewer' }, { key: server.liveKey }),
  memories: () => create('/v1/memory', { user_id: 'ada', text: `Likes tea ${++made}.` }),
  mcp_servers: () => create('/v1/mcp-servers', { name: 'm', slug: `m-${++made}`, url: stockUrl }),
  notebooks: () => create('/v1/notebooks', { name: 'n', slug: `n-${++made}`, description: 'd' }),
  routines: () => create('/v1/routines', { ...routine, deployment: 'desk' }),
  scenarios: () => create('/v1/deployments/desk/scenarios', scenario),
  skills: () => {
    made++;
    return create('/v1/skills', skill('Do it.'));
  },
  replays: async () => {
    const { id } = await newConversation();
    await expect.poll(async () => (await server.call('GET', `/v1/conversations/${id}`)).body.status).toBe('idle');
    const body = { name: 'desk', instructions: `Answer ${++made}.`, tests };
    const { version } = (await server.call('PUT', '/v1/deployments/desk?promote=no', { body })).body;
    return create('/v1/deployments/desk/replays', { conversation_ids: [id], version: version.version });
  },
  test_runs: () => create('/v1/deployments/desk/test-runs', {}),
  users: () => create('/v1/users', { user_id: `user-${++made}` }),
  webhook_endpoints: () => create('/v1/webhooks', { url: 'https://hooks.example.com', events: ['reply.completed'] }),
} satisfies Record<string, () => Promise<{ id: string }>>;

type Use = [table: keyof typeof tables, call: string, code: string | null, body?: (id: string) => unknown];

/** Calls with a row whose deletion is committed while they wait for it. `*` is its id. */
const uses: Use[] = [
  ['api_keys', 'live POST /v1/keys/*/roll', 'key_not_found', () => ({})],
  ['api_keys', 'live DELETE /v1/keys/*', 'key_not_found'],
  ['batches', 'POST /v1/batches/*/cancel', 'batch_not_found'],
  ['batches', 'DELETE /v1/batches/*', 'batch_not_found'],
  ['conversations', 'POST /v1/conversations/*/messages', 'conversation_not_found', () => ({ message: 'More' })],
  ['conversations', 'POST /v1/conversations/*/stop', 'conversation_not_found'],
  ['conversations', 'POST /v1/routines', 'conversation_not_found', (id) => ({ ...routine, conversation_id: id })],
  ['deployments', 'PATCH /v1/deployments/*', 'deployment_not_found', () => ({ description: 'Another.' })],
  ['deployments', 'live DELETE /v1/deployments/*', 'deployment_not_found'],
  ['deployments', 'live POST /v1/deployments/*/archive', 'deployment_not_found'],
  ['deployments', 'live POST /v1/deployments/*/unarchive', 'deployment_not_found'],
  ['deployments', 'live POST /v1/deployments/*/rollback', 'deployment_not_found'],
  ['deployments', 'live POST /v1/deployments/*/promote', 'deployment_not_found', () => ({ version: 1, when: 'now' })],
  [
    'deployments',
    'PUT /v1/deployments/*/function-endpoint',
    'deployment_not_found',
    () => ({ url: 'https://functions.example.com' }),
  ],
  ['deployments', 'POST /v1/deployments/*/scenarios', 'deployment_not_found', () => scenario],
  ['deployments', 'POST /v1/deployments/*/test-runs', 'deployment_not_found', () => ({})],
  ['deployments', 'POST /v1/routines', 'invalid_deployment', (id) => ({ ...routine, deployment: id })],
  ['deployments', 'POST /v1/batches', 'invalid_deployment', (id) => ({ deployment: id, items: [{ message: 'a' }] })],
  ['deployments', 'PATCH /v1/org', 'invalid_deployment', (id) => ({ default_deployment: id })],
  ['deployments', 'PATCH /v1/users/ada', 'invalid_deployment', (id) => ({ default_deployment: id })],
  ['members', 'live PATCH /v1/members/*', 'member_not_found', () => ({ role: 'admin' })],
  ['members', 'live DELETE /v1/members/*', 'member_not_found'],
  ['memories', 'DELETE /v1/memory/*', 'memory_not_found'],
  ['mcp_servers', 'PATCH /v1/mcp-servers/*', 'mcp_server_not_found', () => ({ name: 'o' })],
  ['mcp_servers', 'DELETE /v1/mcp-servers/*', 'mcp_server_not_found'],
  ['notebooks', 'PATCH /v1/notebooks/*', 'notebook_not_found', () => ({ name: 'm' })],
  ['notebooks', 'DELETE /v1/notebooks/*', 'notebook_not_found'],
  ['notebooks', 'POST /v1/notebooks/*/documents', 'notebook_not_found', () => ({ title: 'a', text: 'hello' })],
  ['replays', 'POST /v1/replays/*/cancel', 'replay_not_found'],
  ['replays', 'DELETE /v1/replays/*', 'replay_not_found'],
  ['routines', 'PATCH /v1/routines/*', 'routine_not_found', () => ({ enabled: false })],
  ['routines', 'POST /v1/routines/*/run', 'routine_not_found'],
  ['routines', 'DELETE /v1/routines/*', 'routine_not_found'],
  ['scenarios', 'PATCH /v1/deployments/desk/scenarios/*', 'scenario_not_found', () => ({ goal: 'Ask again.' })],
  ['scenarios', 'DELETE /v1/deployments/desk/scenarios/*', 'scenario_not_found'],
  ['skills', 'PUT /v1/skills/*', 'skill_not_found', () => skill('Do something else.')],
  ['skills', 'DELETE /v1/skills/*', 'skill_not_found'],
  ['test_runs', 'POST /v1/test-runs/*/cancel', 'test_run_not_found'],
  ['test_runs', 'DELETE /v1/test-runs/*', 'test_run_not_found'],
  ['users', 'PATCH /v1/users/*', 'user_not_found', () => ({ name: 'Ada' })],
  ['users', 'DELETE /v1/users/*', 'user_not_found'],
  // The first fact about an unknown user makes the user.
  ['users', 'POST /v1/memory', null, (id) => ({ user_id: id, text: 'Likes tea.' })],
  ['webhook_endpoints', 'PATCH /v1/webhooks/*', 'webhook_not_found', () => ({ active: false })],
  ['webhook_endpoints', 'POST /v1/webhooks/*/roll-secret', 'webhook_not_found'],
  ['webhook_endpoints', 'DELETE /v1/webhooks/*', 'webhook_not_found'],
];

describe('a row that is deleted while a call uses it', () => {
  it.each(uses)('%s: %s', async (table, call, code, body) => {
    const { id } = await tables[table]();
    const [path = '', method = '', live] = call.replace('*', id).split(' ').reverse();
    await database.query('BEGIN');
    await database.query(`DELETE FROM ${table} WHERE id = $1`, [id]);
    let isAnswered = false;
    const asking = server
      .call(method, path, { ...(body && { body: body(id) }), ...(live && { key: server.liveKey }) })
      .finally(() => (isAnswered = true));
    await expect.poll(async () => isAnswered || (await isSomebodyWaiting()), { interval: 10 }).toBe(true);
    await database.query('COMMIT');
    const answer = await asking;
    expect([answer.status < 500, answer.body.error?.code ?? null]).toEqual([true, code]);
  });

  it.each([
    // PUT makes the deployment again.
    ['PUT', '', null],
    ['GET', '?format=yaml', 'deployment_not_found'],
  ])('deployments: %s %s, which reads its newest version after it', async (method, search, code) => {
    const { id } = await tables.deployments();
    const name = `desk-${made}`;
    await database.query('BEGIN; LOCK TABLE deployment_versions IN ACCESS EXCLUSIVE MODE');
    const asking = server.call(method, `/v1/deployments/${name}${search}`, {
      ...(method === 'PUT' && { body: { name, instructions: 'Answer briefly.' } }),
    });
    await expect.poll(isSomebodyWaiting, { interval: 10 }).toBe(true);
    await database.query('DELETE FROM deployments WHERE id = $1', [id]);
    await database.query('COMMIT');
    const answer = await asking;
    expect([answer.status < 500, answer.body.error?.code ?? null]).toEqual([true, code]);
  });

  it('makes the last reply of a deployment no failure', async () => {
    const { id } = await tables.deployments();
    await server.call('PUT', `/v1/deployments/desk-${made}?promote=now`, {
      key: server.liveKey,
      body: {
        name: `desk-${made}`,
        tools: [{ function: 'find_order', description: 'Finds an order.', input: { order: 'string' } }],
      },
    });
    await database.query('BEGIN');
    await database.query('DELETE FROM deployments WHERE id = $1', [id]);
    const asking = server.call('POST', '/v1/openai/chat/completions', {
      body: { model: id, messages: [{ role: 'user', content: 'Hello' }] },
    });
    await expect.poll(isSomebodyWaiting, { interval: 10 }).toBe(true);
    await database.query('COMMIT');
    expect((await asking).status).toBe(200);
  });
});

async function isSomebodyWaiting(): Promise<boolean> {
  const { rowCount } = await onlooker.query(
    "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
  );
  return rowCount !== 0;
}
