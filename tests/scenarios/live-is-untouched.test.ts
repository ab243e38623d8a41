import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { serveMcp, tool } from '../../packages/server/src/agents/mcp-client/mcp-server.fixture.ts';
import { type ComputerDesk, startComputerDesk } from './computer.fixture.ts';
import { payOrg } from './conversations.fixture.ts';
import { calling, inTurn, isOver } from './interactions.fixture.ts';

/** Whatever a test key does, a live conversation sends the same requests to the model, tool servers and its computer. */
let desk: ComputerDesk;
let toolCalls: Promise<string>[] = [];
let evilCalls = 0;
let good: Awaited<ReturnType<typeof serveMcp>>;
let evil: Awaited<ReturnType<typeof serveMcp>>;
/** The server of a second deployment, at the address that its live version fixed. */
let old: Awaited<ReturnType<typeof serveMcp>>;
const ids = { notebook: '', document: '', skill: '', file: '', server: '', moved: '' };

beforeAll(async () => {
  desk = await startComputerDesk();
  await payOrg(desk, desk.orgId);
  const offered = [tool('find', { annotations: { readOnlyHint: true } })];
  const call = () => ({ content: [{ type: 'text' as const, text: 'found' }] });
  const heardBy = (receiver: string) => (request: Request) => {
    const { headers } = request;
    const sent = [receiver, headers.get('authorization'), headers.get('x-region')];
    if (request.method === 'POST') {
      toolCalls.push(
        request
          .clone()
          .text()
          .then((body) => JSON.stringify([...sent, body])),
      );
    }
    return true;
  };
  good = await serveMcp('2025 with sessions', offered, { call, authorize: heardBy('good') });
  old = await serveMcp('2025 with sessions', offered, { call, authorize: heardBy('old') });
  const moved = await serveMcp('2025 with sessions', offered, { call, authorize: heardBy('moved') });
  evil = await serveMcp('2025 with sessions', offered, {
    call,
    authorize(request) {
      // Only credentials of live mode must not arrive here.
      if (request.headers.get('authorization')?.includes('of-live')) evilCalls += 1;
      return true;
    },
  });
  for (const [key, mode] of [
    [desk.liveKey, 'live'],
    [desk.testKey, 'test'],
  ] as const) {
    for (const name of ['A_TOK', 'B_TOK'])
      await send(key, 'PUT', `/v1/secrets/${name}`, { value: `${name}-of-${mode}` });
  }
  ids.notebook = (await send(desk.testKey, 'POST', '/v1/notebooks', { name: 'Faq', slug: 'faq' })).id;
  ids.document = (await send(desk.testKey, 'POST', documents(), { title: 'Returns', text: 'Thirty days.' })).id;
  ids.skill = (await send(desk.testKey, 'POST', '/v1/skills', { files: skillFiles('One.') })).id;
  ids.file = await desk.upload('prices.csv', 'tea,4\n');
  const applied = await desk.call('PUT', '/v1/deployments/shop?promote=now', { key: desk.liveKey, body: file() });
  if (applied.status !== 200) throw new Error(applied.text);
  ids.server = applied.body.version.manifest.mcp_servers[0].id;
  // A second version is live, so that the first one can be rolled back to.
  const next = { key: desk.liveKey, body: file({ instructions: 'Be kind and short.' }) };
  expect((await desk.call('PUT', '/v1/deployments/shop?promote=now', next)).body.live_version).toBe(2);
  // The registered server has another address and other headers than the version that a rollback made live.
  const depot = await desk.call('PUT', '/v1/deployments/depot?promote=now', { key: desk.liveKey, body: depotFile() });
  ids.moved = depot.body.version.manifest.mcp_servers[0].id;
  const auth = { type: 'headers', headers: { Authorization: 'Bearer ${B_TOK}' } };
  await send(desk.liveKey, 'PATCH', `/v1/mcp-servers/${ids.moved}`, { url: moved.url, auth });
  const back = await send(desk.liveKey, 'POST', '/v1/deployments/depot/rollback');
  expect([depot.body.live_version, back.live_version]).toEqual([1, 1]);
});
afterAll(() => desk.stop());

const send = async (key: string, method: string, path: string, body?: object) =>
  (await desk.call(method, path, { key, ...(body && { body }) })).body;
const documents = () => `/v1/notebooks/${ids.notebook}/documents`;
const skillFiles = (text: string) => [
  { path: 'SKILL.md', content: `---\nname: returns\ndescription: How returns go.\n---\n\n${text}\n` },
];
const server = (more: object = {}) => ({
  mcp: good.url,
  name: 'Shop',
  auth: '${A_TOK}',
  headers: { 'X-Region': 'eu' },
  ...more,
});
const depotFile = (more: object = {}) => ({
  name: 'depot',
  memory: 'none',
  tools: [{ mcp: old.url, name: 'Depot', auth: '${A_TOK}' }],
  ...more,
});
const file = (more: object = {}) => ({
  name: 'shop',
  instructions: 'Be kind.',
  memory: 'none',
  knowledge: [{ notebook: ids.notebook }],
  skills: [{ id: ids.skill }],
  tools: [server(), { function: 'find_order', description: 'Finds an order.', read_only: true }],
  computer: { files: [{ file_id: ids.file, path: 'prices.csv' }], env: { REGION: 'eu', KEY: '${A_TOK}' } },
  tests: [{ name: 'Greets', ask: 'Hello?', expect: 'It greets.' }],
  webhooks: [{ url: 'https://hooks.example.com/shop', events: '*' }],
  ...more,
});

/** One request of a test key for each way to change what a deployment relies on. */
const changes = (): [method: string, path: string, body?: object][] => [
  ['PUT', '/v1/deployments/shop?promote=now', file({ instructions: 'Be rude.' })],
  ['PUT', '/v1/deployments/shop?promote=no', file({ tools: [server({ auth: '${B_TOK}' })] })],
  ['PUT', '/v1/deployments/shop?promote=now', file({ tools: [server({ deny: ['find'] })] })],
  ['PUT', '/v1/deployments/shop?promote=now', file({ tools: [{ mcp: evil.url, name: 'Shop', auth: '${A_TOK}' }] })],
  ['PUT', '/v1/deployments/shop?promote=now', file({ tools: [], computer: undefined, knowledge: [], skills: [] })],
  ['PUT', '/v1/deployments/shop?promote=now', file({ tests: [], webhooks: [], model: 'compatible/scripted' })],
  [
    'PUT',
    '/v1/deployments/other?promote=now',
    file({ name: 'other', tools: [server({ headers: { 'X-Region': 'us' } })] }),
  ],
  ['PATCH', `/v1/mcp-servers/${ids.server}`, { url: evil.url }],
  [
    'PATCH',
    `/v1/mcp-servers/${ids.server}`,
    { auth: { type: 'headers', headers: { Authorization: 'Bearer ${B_TOK}' } } },
  ],
  ['PATCH', `/v1/mcp-servers/${ids.server}`, { tools: { deny: ['find'], require_approval: ['find'] }, sampling: true }],
  ['PATCH', `/v1/mcp-servers/${ids.server}`, { name: 'Evil' }],
  ['DELETE', `/v1/mcp-servers/${ids.server}`],
  ['PATCH', `/v1/mcp-servers/${ids.moved}`, { url: evil.url }],
  ['DELETE', `/v1/mcp-servers/${ids.moved}`],
  ['PUT', '/v1/deployments/depot?promote=now', depotFile({ instructions: 'Be rude.', tools: [] })],
  ['POST', '/v1/mcp-servers', { name: 'Twin', slug: 'twin', url: good.url, auth: { type: 'none' } }],
  ['POST', documents(), { title: 'Returns', text: 'Ninety days.' }],
  ['DELETE', `${documents()}/${ids.document}?promote=no`],
  ['DELETE', `${documents()}/${ids.document}`],
  ['PATCH', `/v1/notebooks/${ids.notebook}`, { name: 'Other', description: 'Other.' }],
  ['DELETE', `/v1/notebooks/${ids.notebook}`],
  ['PUT', `/v1/skills/${ids.skill}`, { files: skillFiles('Two.') }],
  ['DELETE', `/v1/skills/${ids.skill}`],
  ['DELETE', `/v1/files/${ids.file}`],
  ['PUT', '/v1/secrets/A_TOK', { value: 'stolen' }],
  ['DELETE', '/v1/secrets/B_TOK'],
  ['POST', '/v1/deployments/shop/promote', { version: 1, when: 'now' }],
  ['POST', '/v1/deployments/shop/rollback'],
  ['PATCH', '/v1/deployments/shop', { name: 'Evil', description: 'Evil.' }],
  ['POST', '/v1/deployments/shop/archive'],
  ['DELETE', '/v1/deployments/shop'],
  ['PATCH', '/v1/org', { default_deployment: null, require_user: true }],
  ['POST', '/v1/deployments', { name: 'Made', manifest: { mcp_servers: [{ id: ids.server }] } }],
];

let users = 0;

/** The requests of a live task and a live reply: to the model, to tool servers, and what a command found. */
async function recordLive() {
  toolCalls = [];
  users += 1;
  desk.script(
    inTurn(
      calling('mcp__shop__find', { order: '17' }),
      calling('search_notebooks', { query: 'days' }),
      // Outputs hide the values of secrets, so the command changes their letters.
      calling('run_command', { command: `cat prices.csv; echo "$REGION $KEY" | tr 'a-z' 'n-za-m'` }),
      { text: 'Done.' },
    ),
  );
  const body = { deployment: 'shop', user_id: `user-${users}`, message: 'Do it', hand_off: 'always' };
  const { id } = await desk.say(body, desk.liveKey);
  await desk.until(`/v1/tasks?conversation_id=${id}`, ({ data }) => data.some(isOver), desk.liveKey);
  const model = desk.asked.map(sentTo);
  desk.script(inTurn(calling('mcp__depot__find', { order: '18' }), { text: 'Done.' }));
  const depot = await desk.say({ deployment: 'depot', user_id: `user-${users}`, message: 'Find it' }, desk.liveKey);
  await desk.until(`/v1/conversations/${depot.id}`, ({ status }) => status === 'idle', desk.liveKey);
  const calls = (await Promise.all(toolCalls)).filter(
    (sent) => sent.includes('tools/call') && sent.includes('of-live'),
  );
  return { model: [...model, ...desk.asked.map(sentTo)].map(settled), calls: calls.map(settled) };
}

const sentTo = ({ model, system, messages, tools }: (typeof desk.asked)[number]) =>
  JSON.stringify({ model, system, messages, tools });

/**
 * Replaces what differs between two conversations and nothing else: the fence around data, the ids of calls that the
 * model and the protocol make up, and today's date. A wider pattern would hide a changed port or document.
 */
const settled = (text: string) =>
  text
    .replaceAll(/\bdata-[0-9a-f]{24}\b/g, 'data')
    .replaceAll(/"(id|callId)":"[A-Za-z0-9]{9}"/g, '$1')
    .replaceAll(/\\"(id|progressToken)\\":\d+/g, '$1')
    .replaceAll(/\bIt is [A-Z][a-z]+day, \d{4}-\d{2}-\d{2}\b/g, 'It is today');

it('whatever a test key does, live requests stay the same [VER-701]', async () => {
  // A search says so while documents are not indexed yet.
  await expect
    .poll(async () =>
      (await send(desk.testKey, 'GET', documents())).data.map((each: { indexed: boolean }) => each.indexed),
    )
    .toEqual([true]);
  const before = await recordLive();
  expect(before.calls).toEqual([
    expect.stringMatching(/^\["good","Bearer A_TOK-of-live","eu",.*17/),
    expect.stringMatching(/^\["old","Bearer A_TOK-of-live",null,.*18/),
  ]);
  const [endOfTask] = before.model.filter((sent) => sent.includes('tea,4'));
  expect(endOfTask).toContain('Thirty days.');
  expect(endOfTask).toContain('rh A_TOK-bs-yvir');
  expect(await recordLive()).toEqual(before);
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray([...changes().keys()], { minLength: 12 }), async (order) => {
      for (const at of order) {
        const [method, path, body] = changes()[at] as ReturnType<typeof changes>[number];
        const { status } = await desk.call(method, path, { ...(body && { body }) });
        expect([path, status < 500]).toEqual([path, true]);
      }
      expect(await recordLive()).toEqual(before);
    }),
    { numRuns: 4, seed: 20261117, endOnFailure: true },
  );
  expect(evilCalls).toBe(0);
}, 240_000);
