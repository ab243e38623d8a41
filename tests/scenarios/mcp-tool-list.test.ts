import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { commands } from '@vestra/contract/derive/commands';
import recorded from '@vestra/contract/examples/answers.json' with { type: 'json' };
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectMcp, revisions } from '../../packages/server/src/edges/mcp/client.fixture.ts';
import { heldClient } from '../../packages/server/src/edges/mcp/oauth-client.fixture.ts';
import { type Desk, paperDesk, startDesk } from './interactions.fixture.ts';
import { newMember } from './mcp-oauth.fixture.ts';

let desk: Desk;
beforeAll(async () => {
  desk = await startDesk();
  await desk.apply(paperDesk);
});
afterAll(() => desk.stop());

/** The limits that users of other products met: Cursor 80 tools, OpenAI and Copilot 128, and a list that fits. */
const maxListBytes = 200_000;

async function connectV1(search = ''): Promise<ClientV1> {
  const client = new ClientV1({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${desk.testKey}` } };
  const transport = new TransportV1(new URL(`${desk.url}/v1/mcp${search}`), { requestInit });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return client;
}

type Listed = { name: string; outputSchema?: object | undefined }[];

type Connect = (
  search?: string,
) => Promise<Pick<ClientV1, 'callTool' | 'close'> & { listTools: () => Promise<{ tools: Listed }> }>;

/** Every client and revision that the endpoint supports. */
const clients: [string, Connect][] = [
  ...revisions.map((revision): [string, Connect] => [
    `the v2 client with ${revision}`,
    (search = '') => connectMcp(desk.url, desk.testKey, revision, { search }) as ReturnType<Connect>,
  ]),
  ['the v1 client', connectV1 as Connect],
];

async function listWith(connect: Connect, search = ''): Promise<Listed> {
  const client = await connect(search);
  const { tools } = await client.listTools();
  await client.close();
  return tools;
}

describe.each(clients)('%s', (_, connect) => {
  it('lists every tool in at most 200 KB with a key of all scopes [MCP-740]', async () => {
    const tools = await listWith(connect);
    expect(tools.map(({ name }) => name).sort()).toEqual(
      commands.flatMap(({ tool, scopes }) => (tool === null || scopes === null ? [] : [tool])).sort(),
    );
    expect(Buffer.byteLength(JSON.stringify(tools))).toBeLessThan(maxListBytes);
    expect(await listWith(connect, '?tools=all')).toEqual(tools);
  });

  it('lists about 20 tools with `?tools=core`, each as in the whole list [MCP-741]', async () => {
    const core = await listWith(connect, '?tools=core');
    expect(core.length).toBeGreaterThanOrEqual(18);
    expect(core.length).toBeLessThanOrEqual(24);
    expect(core.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'ask',
        'answer',
        'events',
        'conversations_get',
        'tasks_get',
        'deployments_get',
        'test',
        'memory_search',
      ]),
    );
    const all = new Map((await listWith(connect)).map((tool) => [tool.name, tool]));
    for (const tool of core) expect(tool).toEqual(all.get(tool.name));
  });

  it('shows code and message of a refused call to a caller that has listed the tools [MCP-661]', async () => {
    const client = await connect();
    await client.listTools();
    for (const [name, given, code] of [
      ['users_get', { user: 'nobody' }, 'user_not_found: No such user.'],
      ['conversations_get', { conversation_id: `conv_${'0'.repeat(24)}` }, 'conversation_not_found: '],
      ['tasks_get', { task_id: `task_${'0'.repeat(24)}` }, 'task_not_found: '],
      ['users_list', { limit: 101 }, 'invalid_limit (limit): '],
    ] as const) {
      const { isError, content, structuredContent } = await client.callTool({ name, arguments: given });
      expect(structuredContent).toBeUndefined();
      expect([isError, content]).toEqual([true, [{ type: 'text', text: expect.stringContaining(code) }]]);
    }
    await client.close();
  });
});

it.each<[string, Connect]>([
  ['the v1 client', connectV1 as Connect],
  // A client that insists on one revision reports only that the server does not offer it.
  ['the v2 client', (search) => connectMcp(desk.url, desk.testKey, 'auto', { search }) as ReturnType<Connect>],
])('%s reports an unknown value of `tools` with the values that exist [MCP-741]', async (_, connect) => {
  await expect(listWith(connect, '?tools=some')).rejects.toThrow(/tools=all.*tools=core/);
});

it('lists the core tools to a client that signed in with OAuth [MCP-741]', async () => {
  const held = heldClient(desk, { search: '?tools=core' });
  await expect(held.connect()).rejects.toThrow();
  // Some clients name the address that they were given as `resource`.
  const asked = held.opened();
  asked.searchParams.set('resource', `${desk.url}/v1/mcp?tools=core`);
  await held.finish(await (await newMember(desk, 'developer')).letIn(asked));
  const client = await held.connect();
  const { tools } = await client.listTools();
  expect(tools.length).toBeLessThanOrEqual(24);
  expect(await client.callTool({ name: 'me', arguments: {} })).toMatchObject({ structuredContent: { mode: 'test' } });
  await client.close();
});

it('declares results that match what the API returns [MCP-740]', async () => {
  const tools = new Map((await listWith(connectV1 as Connect)).map((tool) => [tool.name, tool]));
  const ajv = new Ajv2020({ strict: false });
  const answers: Readonly<Record<string, unknown>> = recorded;
  const checked = commands.flatMap(({ tool, route }) => {
    const schema = tools.get(tool ?? '')?.outputSchema;
    const answer = route && answers[route.name];
    if (!schema || !answer) return [];
    const fits = ajv.compile(schema);
    return [[tool, fits(answer) || fits.errors]];
  });
  expect(checked.length).toBeGreaterThan(100);
  expect(checked.filter(([, fits]) => fits !== true)).toEqual([]);
});
