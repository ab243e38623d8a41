import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { runCli } from '../support/cli.ts';
import { freePort } from '../support/free-port.ts';
import { runProgram } from '../support/process.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

let server: AgentServer;
let database: TestDatabase;
let taken: Server;
let root: string;
let closedPort: number;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'vestra-mistakes-'));
  server = await startAgentServer();
  database = await createTestDatabase();
  closedPort = await freePort();
  await server.apply({ name: 'shop', instructions: 'Help.' });
  taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
});
afterAll(async () => {
  await server.stop();
  await database.drop();
  taken.close();
  await rm(root, { recursive: true, force: true });
});

const shop = 'name: shop\ninstructions: Help.\n';

type Command = {
  mistake: string;
  types: string[];
  files?: Record<string, string>;
  env?: () => Record<string, string>;
  says: RegExp[];
  code?: number;
};

const commands: Command[] = [
  {
    mistake: 'a mistyped command',
    types: ['aplly'],
    says: [/There is no command `vestra aplly`\. Did you mean `vestra apply`/],
    code: 2,
  },
  {
    mistake: 'a command of another product',
    types: ['deploy'],
    says: [/There is no command `vestra deploy`\. Did you mean `vestra apply`\?/],
    code: 2,
  },
  {
    mistake: 'a mistyped second word',
    types: ['deployments', 'lst'],
    says: [/Did you mean `vestra deployments list`/],
    code: 2,
  },
  {
    mistake: 'a mistyped flag',
    types: ['ask', 'Hi', '--deploymnt', 'shop'],
    says: [/--deploymnt/, /Did you mean --deployment/],
    code: 2,
  },
  {
    mistake: 'a flag without its value',
    types: ['ask', 'Hi', '--deployment'],
    says: [/--deployment/, /`vestra help ask` shows the usage\./],
    code: 2,
  },
  { mistake: 'no message', types: ['ask'], says: [/message/, /`vestra help ask` shows the usage\./], code: 2 },
  {
    mistake: 'a number that is none',
    types: ['ask', 'Hi', '--wait-s', 'soon'],
    says: [/--wait-s expects a number, not "soon"\. `vestra help ask` shows the usage\./],
    code: 2,
  },
  {
    mistake: 'a mistyped deployment',
    types: ['ask', 'Hi', '--deployment', 'shoop'],
    says: [/No such deployment\. Did you mean `shop`\?/],
  },
  {
    mistake: 'a deployment that is not there',
    types: ['ask', 'Hi', '--deployment', 'warehouse'],
    says: [/No such deployment: `vestra deployments list`/],
  },
  {
    mistake: 'a version that is not there',
    types: ['ask', 'Hi', '--deployment', 'shop@9'],
    says: [/`shop` has no version 9: its newest is 1\. Name that one, or an older one\./],
  },
  {
    mistake: 'an unknown conversation',
    types: ['conversations', 'get', 'conv_1'],
    says: [/Must look like conv_ followed by 24 characters: copy the whole id\./],
  },
  { mistake: 'an unknown user', types: ['users', 'get', 'nobody'], says: [/No such user\.\n {2}\S/] },
  { mistake: 'no key', types: ['me'], env: () => ({ VESTRA_KEY: '' }), says: [/key/i, /vestra login|VESTRA_KEY/] },
  {
    mistake: 'a key of another product',
    types: ['me'],
    env: () => ({ VESTRA_KEY: 'sk-proj-abcdef' }),
    says: [/begin with vk_test_ or vk_live_/, /model provider: set it in the environment of the server/],
  },
  {
    mistake: 'half a key',
    types: ['me'],
    env: () => ({ VESTRA_KEY: 'vk_test_abc' }),
    says: [/incomplete/, /VESTRA_KEY/],
  },
  {
    mistake: 'a key of another server',
    types: ['me'],
    env: () => ({ VESTRA_KEY: `vk_test_${'a'.repeat(43)}` }),
    says: [/No such API key\.\n {2}The key is from VESTRA_KEY, sent to http/],
  },
  {
    mistake: 'no server',
    types: ['me'],
    env: () => ({ VESTRA_URL: `http://127.0.0.1:${closedPort}` }),
    says: [/No server listens at http:\/\/127\.0\.0\.1:\d+\. Start a server with `vestra start`/],
  },
  {
    mistake: 'an address that is none',
    types: ['me'],
    env: () => ({ VESTRA_URL: 'localhost:4600' }),
    says: [/write it like http:\/\/127\.0\.0\.1:4600/],
    code: 2,
  },
  {
    mistake: 'a host name that is none',
    types: ['me'],
    env: () => ({ VESTRA_URL: 'http://vestra.invalid' }),
    says: [/cannot be resolved\. Start a server with `vestra start`, or name another with --url/],
  },
  {
    mistake: 'https for http',
    types: ['me'],
    env: () => ({ VESTRA_URL: server.url.replace('http:', 'https:') }),
    says: [/does not speak https: try http:\/\/127/],
  },
  {
    mistake: 'a page as address',
    types: ['me'],
    env: () => ({ VESTRA_URL: `${server.url}/docs` }),
    says: [/set to http:\S+\/docs\. Try it without its path: http:\/\/127\.0\.0\.1:\d+\.\n/],
  },
  {
    mistake: 'a live command with a test key',
    types: ['apply', '--live'],
    files: { 'service.yaml': shop },
    says: [/Give a live key with --key/],
  },
  {
    mistake: 'no file',
    types: ['apply'],
    says: [/service\.yaml: There is no such file: write one, for example with `vestra init`/],
  },
  {
    mistake: 'a folder that is not there',
    types: ['apply', 'agent'],
    says: [/There is no folder or file agent\. Write one with `vestra init`/],
  },
  { mistake: 'an empty file', types: ['apply'], files: { 'service.yaml': '' }, says: [/`name`/] },
  {
    mistake: 'no name',
    types: ['apply'],
    files: { 'service.yaml': 'instructions: Help.\n' },
    says: [/`name` is needed/],
  },
  {
    mistake: 'a name with a space',
    types: ['apply'],
    files: { 'service.yaml': 'name: My Shop\n' },
    says: [/lowercase/],
  },
  {
    mistake: 'a missing colon',
    types: ['apply'],
    files: { 'service.yaml': `${shop}tools\n  - function: find_order\n    description: Finds.\n` },
    says: [/service\.yaml:3:6 A colon is missing after `tools`\./, /3 \| tools\n.*\| {6}\^/],
  },
  {
    mistake: 'a tab',
    types: ['apply'],
    files: { 'service.yaml': `${shop}limits:\n\tmax_steps: 5\n` },
    says: [/service\.yaml:4:1 YAML allows no tab here/, /4 \| \tmax_steps/],
  },
  {
    mistake: 'a missing space',
    types: ['apply'],
    files: { 'service.yaml': 'name:shop\ninstructions: Help.\n' },
    says: [/service\.yaml:1:5 Write a space after the colon of `name`\./],
  },
  {
    mistake: 'an open quote',
    types: ['apply'],
    files: { 'service.yaml': 'name: shop\ninstructions: "Help.\n' },
    says: [
      /service\.yaml:2:15 The text that begins here has no closing " quote\./,
      /2 \| instructions: "Help\.\n.*\| {15}\^/,
    ],
  },
  {
    mistake: 'a mistyped field',
    types: ['apply'],
    files: { 'service.yaml': `${shop}langauge: en\n` },
    says: [/service\.yaml:3:1 langauge: Unknown field `langauge`\. Did you mean `language`\?/],
  },
  {
    mistake: 'a field of the API',
    types: ['apply'],
    files: { 'service.yaml': `${shop}mcp_servers: []\n` },
    says: [/Write MCP servers as entries under `tools`/],
  },
  {
    mistake: 'a field of another product',
    types: ['apply'],
    files: { 'service.yaml': 'name: shop\nsystem_prompt: Help.\n' },
    says: [/Write it as `instructions`/],
  },
  {
    mistake: 'a list for a text',
    types: ['apply'],
    files: { 'service.yaml': 'name: shop\ninstructions: [Help]\n' },
    says: [/Must be text, not a list/],
  },
  {
    mistake: 'a model without a provider',
    types: ['apply'],
    files: { 'service.yaml': `${shop}model: gpt-4o\n` },
    says: [/model: No configured provider has the model gpt-4o\. `vestra models` lists/],
  },
  {
    mistake: 'a tool without a kind',
    types: ['apply'],
    files: { 'service.yaml': `${shop}tools:\n  - name: find_order\n` },
    says: [/`mcp` for a server or `function` for a function/],
  },
  {
    mistake: 'knowledge that is not there',
    types: ['apply'],
    files: { 'service.yaml': `${shop}knowledge: [docs/faq.md]\n` },
    says: [/knowledge\.0: There is no `docs\/faq\.md`\. Correct the path, or add the file\./],
  },
  {
    mistake: 'a secret that is not set',
    types: ['apply'],
    files: {
      'service.yaml': `${shop}tools:\n  - mcp: https://mcp.example.com\n    headers: { Authorization: "Bearer \${SHOP_TOKEN}" }\n`,
    },
    says: [/vestra secrets set SHOP_TOKEN/],
  },
  {
    mistake: 'a webhook without https',
    types: ['apply'],
    files: { 'service.yaml': `${shop}webhooks:\n  - url: http://example.com/hook\n    events: [turn.failed]\n` },
    says: [/https/],
  },
  {
    mistake: 'functions that are not there',
    types: ['functions', 'serve', 'functions.ts', '--deployment', 'shop'],
    says: [/There is no file functions\.ts\. Write it/],
    code: 2,
  },
  {
    mistake: 'functions without an export',
    types: ['functions', 'serve', 'empty.mjs', '--deployment', 'shop'],
    files: { 'empty.mjs': 'const find = 1;\n' },
    says: [/exports no function: write `export async function/],
  },
  {
    mistake: 'a package that is not installed',
    types: ['functions', 'serve', 'f.mjs', '--deployment', 'shop'],
    files: { 'f.mjs': "import 'no-such-package';\n" },
    says: [/run `npm install no-such-package`/],
  },
  {
    mistake: 'functions for no deployment',
    types: ['functions', 'serve', 'f.mjs'],
    files: { 'f.mjs': 'export const find = () => 1;\n' },
    says: [/Name the deployment: --deployment/],
    code: 2,
  },
  {
    mistake: 'an answer to nothing',
    types: ['answer', '--approve'],
    says: [/Name the interaction.*`vestra interactions list`/],
  },
  {
    mistake: 'an unknown part',
    types: ['setup', 'speech'],
    says: [/There is no part `speech` to add\. There is: voice/],
    code: 2,
  },
  {
    mistake: 'a profile that is not there',
    types: ['me', '--profile', 'work'],
    says: [/No profile is named "work"\. Create it with `vestra login --profile work`\./],
  },
  {
    mistake: 'a label without a value',
    types: ['users', 'create', '--user', 'ada', '--metadata', 'gold'],
    says: [/--metadata expects key=value.*`vestra help users create` shows the usage\./],
    code: 2,
  },
  {
    mistake: 'an origin without a scheme',
    types: ['org', 'update', '--allowed-embed-origins', 'localhost:3000'],
    says: [/write http:\/\/localhost:3000\./],
  },
  {
    mistake: 'a file to attach that is not there',
    types: ['ask', 'Hi', '--attach', 'plan.pdf'],
    says: [/There is no file .*plan\.pdf\. Name one that exists/],
    code: 2,
  },
];

type Call = {
  mistake: string;
  sends: string;
  headers?: Record<string, string>;
  body?: string;
  status: number;
  says: RegExp[];
};

const json = { 'content-type': 'application/json' };
const calls: Call[] = [
  {
    mistake: 'no header',
    sends: 'GET /v1/me',
    headers: { authorization: '' },
    status: 401,
    says: [/Authorization: Bearer/],
  },
  {
    mistake: 'no Bearer',
    sends: 'GET /v1/me',
    headers: { authorization: 'vk_test_abc' },
    status: 401,
    says: [/Authorization: Bearer/],
  },
  {
    mistake: 'a mistyped route',
    sends: 'GET /v1/conversation',
    status: 404,
    says: [/Did you mean GET \/v1\/conversations\?/],
  },
  {
    mistake: 'a mistyped part of a route',
    sends: 'GET /v1/conversations/conv_1/mesages',
    status: 404,
    says: [/\/v1\/conversations\/\{conversation_id\}\/messages/],
  },
  { mistake: 'no /v1', sends: 'GET /deployments', status: 404, says: [/Did you mean GET \/v1\/deployments\?/] },
  {
    mistake: '/v1 twice',
    sends: 'GET /v1/v1/deployments',
    status: 404,
    says: [/Did you mean GET \/v1\/deployments\?/],
  },
  {
    mistake: 'a slash at the end',
    sends: 'GET /v1/deployments/',
    status: 404,
    says: [/Did you mean GET \/v1\/deployments\?/],
  },
  {
    mistake: 'a route that nothing resembles',
    sends: 'GET /v1/invoices/of/today',
    status: 404,
    says: [/API reference at \/docs/],
  },
  {
    mistake: "OpenAI's route",
    sends: 'POST /v1/chat/completions',
    headers: json,
    body: '{}',
    status: 404,
    says: [/\/v1\/openai/],
  },
  { mistake: 'another method', sends: 'POST /v1/me', headers: json, body: '{}', status: 405, says: [/Send GET/] },
  {
    mistake: 'no content type',
    sends: 'POST /v1/conversations',
    body: '{"message":"Hi"}',
    status: 415,
    says: [/application\/json/],
  },
  {
    mistake: 'a form',
    sends: 'POST /v1/conversations',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'message=Hi',
    status: 415,
    says: [/Send application\/json/],
  },
  {
    mistake: 'half a JSON',
    sends: 'POST /v1/conversations',
    headers: json,
    body: '{"message": ',
    status: 400,
    says: [/JSON: it ends too early\. Send it whole/],
  },
  {
    mistake: 'an open quote in its JSON',
    sends: 'POST /v1/conversations',
    headers: json,
    body: '{"message": "hunter2',
    status: 400,
    says: [/JSON: it ends too early\. Send it whole/],
  },
  {
    mistake: 'single quotes in its JSON',
    sends: 'POST /v1/conversations',
    headers: json,
    body: "{\n  'message': 'hunter2'\n}",
    status: 400,
    says: [/JSON at line 2, column 3\. Write names and texts in double quotes/],
  },
  {
    mistake: 'a comma too many in its JSON',
    sends: 'POST /v1/conversations',
    headers: json,
    body: '{"message": "hunter2",}',
    status: 400,
    says: [/JSON at line 1, column 23\..*no comma after the last field/],
  },
  {
    mistake: 'a text instead of JSON',
    sends: 'POST /v1/conversations',
    headers: json,
    body: 'hunter2',
    status: 400,
    says: [/The body is not valid JSON\. Write names and texts in double quotes/],
  },
  {
    mistake: 'a list as body',
    sends: 'POST /v1/conversations',
    headers: json,
    body: '[]',
    status: 400,
    says: [/object/],
  },
  {
    mistake: 'no body',
    sends: 'PUT /v1/deployments/desk',
    headers: json,
    body: '',
    status: 400,
    says: [/The body is empty: send a JSON object/],
  },
  {
    mistake: 'a mistyped field of a body',
    sends: 'POST /v1/conversations',
    headers: json,
    body: '{"mesage": "Hi"}',
    status: 400,
    says: [/Did you mean `message`\?/],
  },
  {
    mistake: 'a text for a number',
    sends: 'GET /v1/deployments?limit=many',
    status: 400,
    says: [/`limit` must be a whole number from 1 to 100\./],
  },
  {
    mistake: 'a mistyped deployment in a body',
    sends: 'POST /v1/conversations',
    headers: json,
    body: '{"message": "Hi", "deployment": "shopp"}',
    status: 400,
    says: [/Did you mean `shop`\?/],
  },
  {
    mistake: 'a mistyped deployment in a path',
    sends: 'GET /v1/deployments/shpo',
    status: 404,
    says: [/Did you mean `shop`\?/],
  },
  {
    mistake: 'a mistyped deployment as model',
    sends: 'GET /v1/openai/models/shpo',
    status: 404,
    says: [/Did you mean `shop`\?/],
  },
  {
    mistake: 'the wrong mode',
    sends: 'GET /v1/me',
    headers: { 'service-mode': 'live' },
    status: 400,
    says: [/The key is a test key, and Service-Mode is `live`: omit the header, or use a live key/],
  },
  {
    mistake: 'a mode that is none',
    sends: 'GET /v1/me',
    headers: { 'service-mode': 'prod' },
    status: 400,
    says: [/`live` or `test`: send one of them, or omit the header/],
  },
];

type Start = { mistake: string; env: () => Record<string, string>; says: RegExp };

const starts: Start[] = [
  {
    mistake: 'a taken port',
    env: () => ({ PORT: String((taken.address() as AddressInfo).port) }),
    says: /^Port \d+ on 127\.0\.0\.1 is in use\. .* set PORT to another port\.$/,
  },
  {
    mistake: 'a port that is none',
    env: () => ({ PORT: 'http' }),
    says: /^The setting PORT is not valid: must be a number\.$/,
  },
  { mistake: 'a host that is none', env: () => ({ HOST: 'vestra.invalid' }), says: /Set HOST/ },
  {
    mistake: 'an unknown role',
    env: () => ({ VESTRA_ROLE: 'web' }),
    says: /^The setting VESTRA_ROLE is not valid: must be one of .*`worker`.*\.$/,
  },
  {
    mistake: 'a data folder in /proc',
    env: () => ({ VESTRA_DATA_DIR: '/proc/x' }),
    says: /cannot be created there: set VESTRA_DATA_DIR/,
  },
  {
    mistake: 'a data folder in /proc beside a database',
    env: () => ({ VESTRA_DATA_DIR: '/proc/x/y', DATABASE_URL: database.connectionString }),
    says: /cannot be created there: set VESTRA_DATA_DIR/,
  },
  {
    mistake: 'a file as data folder',
    env: () => ({ VESTRA_DATA_DIR: '/dev/null' }),
    says: /a file is in its way: move it, or set VESTRA_DATA_DIR/,
  },
  {
    mistake: 'a database where nobody listens',
    env: () => ({ DATABASE_URL: 'postgresql://u:hunter2@127.0.0.1:1/x' }),
    says: /^No PostgreSQL answers at 127\.0\.0\.1:1: start it there, or correct DATABASE_URL\.$/,
  },
  {
    mistake: 'a wrong database password',
    env: () => ({ DATABASE_URL: database.connectionString.replace(/:[^:@/]+@/, ':wrong@') }),
    says: /(does not accept the password of user .*: correct|did not answer in time: check) DATABASE_URL/,
  },
  {
    mistake: 'a database that is not there',
    env: () => ({ DATABASE_URL: database.connectionString.replace(/\/[^/?]+(\?|$)/, '/nowhere$1') }),
    says: /(has no database "nowhere": create it, or correct|did not answer in time: check) DATABASE_URL/,
  },
  {
    mistake: 'a database of another kind',
    env: () => ({ DATABASE_URL: 'mysql://u:p@127.0.0.1/x' }),
    says: /write it as postgresql:/,
  },
  {
    mistake: 'a model server without a scheme',
    env: () => ({ OPENAI_COMPATIBLE_BASE_URL: 'localhost:11434' }),
    says: /such as http:\/\/127\.0\.0\.1:11434\/v1\.$/,
  },
  {
    mistake: 'a short master key',
    env: () => ({ VESTRA_MASTER_KEY: 'secret', DATABASE_URL: database.connectionString }),
    says: /VESTRA_MASTER_KEY must hold .* Make one with/,
  },
];

/** Names an action, a command, the form to write, or the one sign that is missing. */
const nextStep =
  /`vestra [a-z]|Did you mean|is missing after|no closing|lists all routes|\b(check|copy|correct|create|give|indent|make|move|must (be|begin)|name|needed|run|send|set|start|stop|store|try|use|write)\b/i;
const stack = /\n\s+at .+:\d+|node:internal|ZodError|\[object Object\]|undefined/;

describe('a natural mistake gets a sentence with the next step, and no stack', () => {
  it.each(commands)('vestra with $mistake [FIRST-700]', async ({ types, files = {}, env, says, code = 1 }) => {
    const cwd = await mkdtemp(join(root, 'cli-'));
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(cwd, name)), { recursive: true });
      await writeFile(join(cwd, name), text);
    }
    const ran = await runCli(types, { cwd, env: { VESTRA_URL: server.url, VESTRA_KEY: server.testKey, ...env?.() } });
    expect([ran.code, ran.err]).toEqual([code, expect.any(String)]);
    for (const each of [...says, nextStep]) expect(ran.err).toMatch(each);
    expect(ran.err).not.toMatch(stack);
  });

  it.each(calls)('a request with $mistake [FIRST-700]', async ({ sends, headers = {}, body, status, says }) => {
    const [method = '', path = ''] = sends.split(' ');
    const given = new Headers({ authorization: `Bearer ${server.testKey}`, ...headers });
    if (headers.authorization === '') given.delete('authorization');
    const sent = body === undefined ? {} : { body: new TextEncoder().encode(body) };
    const response = await fetch(server.url + path, { method, headers: given, ...sent });
    const { error } = (await response.json()) as { error: { message: string; param?: string } };
    expect(response.status).toBe(status);
    for (const each of [...says, nextStep]) expect(`${error.param ?? ''} ${error.message}`).toMatch(each);
    expect(error.message).not.toMatch(stack);
    expect(error.message).not.toContain('hunter2');
  });

  it.each(starts)('vestra start with $mistake [FIRST-700, FIRST-702]', async ({ env, says }) => {
    const VESTRA_DATA_DIR = await mkdtemp(join(root, 'data-'));
    const { code, output } = await runProgram('server', [], {
      PORT: '0',
      VESTRA_DATA_DIR,
      ...env(),
    });
    const lines = output.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
    expect([code, lines]).toEqual([1, [expect.stringMatching(says)]]);
    expect(lines[0]).toMatch(nextStep);
    expect(output).not.toMatch(stack);
    expect(output).not.toContain('hunter2');
  });

  it('checks address and port before it creates a database [FIRST-701]', async () => {
    for (const given of [{ PORT: String((taken.address() as AddressInfo).port) }, { HOST: '192.0.2.1' }] as Record<
      string,
      string
    >[]) {
      const VESTRA_DATA_DIR = join(root, 'untouched');
      const { code, output } = await runProgram('server', [], { PORT: '0', VESTRA_DATA_DIR, ...given });
      expect([code, output.split('\n').length, existsSync(VESTRA_DATA_DIR)]).toEqual([1, 2, false]);
    }
  });

  it('covers at least sixty', () => {
    expect(commands.length + calls.length + starts.length).toBeGreaterThanOrEqual(60);
  });
});
