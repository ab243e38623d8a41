import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Command, commands } from '@vestra/contract/derive/commands';
import { webhookEventTypes } from '@vestra/contract/webhook-event-types';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Binding, bindingsOf } from './bindings.ts';
import { buildProgram } from './program.ts';
import { precedence } from './settings.ts';
import { keptTerminal, runHere } from './terminal.fixture.ts';
import { takesFileAlone } from './upload.ts';

type Seen = { method: string; path: string; query: string; body: string; type: string; key: string };

let server: Server;
let folder: string;
let url: string;
let seen: Seen[] = [];
/** The server's response; an error unless a test sets another. */
let answer: (request: Seen) => { status: number; body: unknown };
const refusal = { error: { type: 'not_found', code: 'user_not_found', message: 'No such user.', request_id: 'req_1' } };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vestra-cli-program-'));
  await writeFile(join(folder, 'a.txt'), 'some text');
  server = createServer(async (request, response) => {
    const { pathname, search } = new URL(request.url ?? '', 'http://x');
    const { authorization = '', 'content-type': type = '' } = request.headers;
    const one = { method: request.method ?? '', path: pathname, query: search, type, key: authorization };
    seen.push({ ...one, body: await text(request) });
    const { status, body } = answer(seen.at(-1) as Seen);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

const secret = 'vk_test_0123456789abcdefghijklmnopqrstuv';

function vestra(...typed: string[]) {
  seen = [];
  return runHere(typed, { cwd: folder, env: { VESTRA_URL: url, VESTRA_KEY: secret, XDG_CONFIG_HOME: folder } });
}

const ofRoutes = commands.filter(({ route, name }) => route !== null && name !== 'init');

/** A valid sample value for the argument. */
function sample({ shape }: Binding): string {
  if (shape.choices.length > 0) return String(shape.choices[0]);
  return { number: '1', json: '{}', labels: 'a=b' }[shape.kind as string] ?? 'x';
}

/** The shortest complete command line. */
function typedFor(command: Command): string[] {
  const bindings = bindingsOf(command);
  const words = bindings.filter(({ isPositional }) => isPositional).map(({ argument }) => `a-${argument.name}`);
  const flags = bindings
    .filter(({ isPositional, isRequired }) => isRequired && !isPositional)
    .flatMap((binding) => [binding.flag, sample(binding)]);
  const file = command.route && takesFileAlone(command.route.route) ? ['a.txt'] : [];
  return [...command.name.split(' '), ...words, ...file, ...flags];
}

describe('every command of the table', () => {
  it.each(ofRoutes.map((command) => [command.name, command] as const))('%s reaches its route', async (_, command) => {
    answer = () => ({ status: 404, body: refusal });
    const { code, err } = await vestra(...typedFor(command));
    const { method, path } = command.route?.route ?? {};
    expect(
      seen.map((each) => `${each.method} ${each.path}`),
      err,
    ).toEqual([`${method} ${path?.replace(/\{(\w+)\}/g, (__, name) => `a-${name === 'user_id' ? 'user' : name}`)}`]);
    expect(seen[0]?.key).toBe(`Bearer ${secret}`);
    expect(code).toBe(1);
  });

  it('has help that lists every flag', async () => {
    const { terminal } = keptTerminal();
    const { names } = buildProgram(terminal);
    const helped = names.filter((name) => name !== 'admin');
    expect(helped.length).toBeGreaterThan(120);
    for (const name of helped) {
      const { code, out, err } = await vestra(...name.split(' '), '--help');
      expect([code, err], name).toEqual([0, '']);
      const command = commands.find((each) => each.name === name);
      const flags = command && name !== 'start' ? bindingsOf(command) : [];
      for (const { flag, argument, isPositional } of flags) {
        if (argument.place !== null) expect(out, name).toContain(isPositional ? argument.name : flag);
      }
      const [about = '', examples = ''] = out.split('\nExamples:\n');
      // A flag or word without a description.
      expect(about.match(/^ {2}(?:--\S+(?: <\S+>)?|[a-z_]+)$/gm), name).toBeNull();
      expect(examples, name).toContain(`vestra ${name}`);
      for (const [flag] of examples.split('\n\n')[0]?.matchAll(/(?<= )--[a-z-]+/g) ?? []) {
        expect(about, name).toContain(`  ${flag.replace('--no-', '--')}`);
      }
    }
  });

  it.each(
    ofRoutes
      .map((command) => command.name)
      .filter((name) => !/^(skills|documents|files|secrets|users screenshot)/.test(name)),
  )('%s: its example works [OPS-320]', async (name) => {
    answer = () => ({ status: 404, body: refusal });
    const { out } = await vestra(...name.split(' '), '--help');
    const [, line = ''] = /\nExamples:\n {2}vestra (.*)/.exec(out) ?? [];
    const words = [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
      ([, one, other, bare]) => one ?? other ?? bare ?? '',
    );
    const files = words.filter((word) => word.startsWith('@')).map((word) => join(folder, word.slice(1)));
    for (const file of files) await writeFile(file, '{}');
    const { code, err } = await vestra(...words);
    for (const file of files) await rm(file);
    expect([code, seen.length], err).toEqual([1, 1]);
  });

  it('matches the pages about commands [OPS-320]', async () => {
    const docs = join(import.meta.dirname, '../../../docs');
    const pages = ['cli.md', 'cli-agents.md', 'import.md'].map((name) => readFile(join(docs, name), 'utf8'));
    const lines = [...(await Promise.all(pages)).join('\n').matchAll(/(?:`|\$ )(vestra [a-z][^`\n#]*)/g)].map(
      ([, line]) => line as string,
    );
    expect(lines.length).toBeGreaterThan(30);
    const { names } = buildProgram(keptTerminal().terminal);
    for (const line of lines) {
      const words = line.split(/\s+/).slice(1);
      const name = names
        .filter((each) => `${words.join(' ')} `.startsWith(`${each} `))
        .reduce((longest, each) => (each.length > longest.length ? each : longest), '');
      const isGroup = words.length === 1 && names.some((each) => each.startsWith(`${words[0]} `));
      expect(name !== '' || isGroup || words[0] === 'help', line).toBe(true);
      if (name === '' || name === 'admin') continue;
      const { out } = await vestra(...name.split(' '), '--help');
      for (const flag of words.filter((word) => word.startsWith('--'))) expect(out, line).toContain(flag);
    }
  });

  it('shows only examples that the command line and the contract accept [OPS-320]', async () => {
    answer = () => ({ status: 200, body: {} });
    const examples = new Map<string, string>();
    for (const { name, route } of commands.filter(
      ({ name }) => !['init', 'start', 'test', 'improve', 'apply'].includes(name),
    )) {
      const { out } = await vestra(...name.split(' '), '--help');
      const shown = out.split('\nExamples:\n')[1]?.split('\n\n')[0]?.split('\n') ?? [];
      expect(shown.length, name).toBeGreaterThan(0);
      for (const line of shown.map((each) => each.trim())) examples.set(line, route ? name : '');
    }
    const refused: string[] = [];
    // An example with a file or a pipe takes what the reader has.
    for (const [line, name] of [...examples].filter(
      ([each]) => !/@|[|]|--file|--out|--attach|\.\w{2,4}( |$)|follow/.test(each),
    )) {
      const [, ...words] = [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? '');
      const { code, err } = await vestra(...words);
      // A terminal asks for a missing secret and for the answer.
      if (code === 2 && !['vestra answer', 'vestra secrets set ORDERS_TOKEN'].includes(line))
        refused.push(`${line}: ${err}`);
      const body = commands.find((command) => command.name === name)?.route?.route.body;
      const sent = seen[0]?.body ? JSON.parse(seen[0].body) : undefined;
      const read = body && sent !== undefined ? body.safeParse(sent) : undefined;
      if (read && !read.success) refused.push(`${line}: ${read.error.message}`);
    }
    expect(refused).toEqual([]);
    expect(examples.size).toBeGreaterThan(100);
  });

  it('lists every event type and the lookup order of server and key [OPS-321]', async () => {
    const help = async (...words: string[]) => (await vestra('help', ...words)).out.replace(/\s+/g, ' ');
    for (const type of webhookEventTypes) {
      expect(await help('events')).toContain(type);
      expect(await help('logs')).toContain(type);
    }
    for (const each of precedence) expect(await help()).toContain(each);
    for (const name of ['usage', 'conversations list', 'tasks list', 'interactions list', 'events']) {
      expect(await help(...name.split(' ')), name).not.toContain('absent: the org’s own agent');
    }
  });

  it('is listed by help under a heading', async () => {
    const { code, out } = await vestra('help');
    expect(code).toBe(0);
    for (const name of ofRoutes.map((command) => command.name)) {
      const [first = '', second = ''] = name.split(' ');
      const at = out.indexOf(`\n  ${first} `);
      expect(at, name).toBeGreaterThan(0);
      expect(out.slice(at), name).toContain(second);
    }
    expect(out).not.toContain('\nCommands:');
  });
});

describe('a command that calls one route', () => {
  it('sends each value in the right place', async () => {
    answer = () => ({ status: 200, body: {} });
    await vestra('users', 'update', 'ada', '--name', 'null', '--spend-cap-usd', '2', '--status', 'active');
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({ name: null, spend_cap_usd: 2, status: 'active' });
    await vestra('memory', 'list', '--user', 'ada', '--limit', '3');
    expect([seen[0]?.query, seen[0]?.body]).toEqual(['?user_id=ada&limit=3', '']);
    await vestra('users', 'get', '--user', 'ada');
    expect(seen[0]?.path).toBe('/v1/users/ada');
    await vestra('routines', 'update', 'rtn_1', '--no-enabled');
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({ enabled: false });
  });

  it('lets flags override --body', async () => {
    answer = () => ({ status: 200, body: {} });
    await vestra('users', 'create', '--body', '{"user_id":"ada","name":"A"}', '--name', 'Ada');
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({ user_id: 'ada', name: 'Ada' });
    await vestra('routines', 'trigger', 'rtn_1', '--body', '{"a":1}');
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({ a: 1 });
    expect((await vestra('users', 'create', '--body', '[]')).code).toBe(2);
  });

  it('uploads a file, and a folder as a skill', async () => {
    answer = () => ({ status: 200, body: {} });
    await vestra('files', 'upload', 'a.txt', '--user', 'ada');
    expect([seen[0]?.query, seen[0]?.type]).toEqual(['?user_id=ada', expect.stringMatching(/^multipart\/form-data;/)]);
    expect(seen[0]?.body).toMatch(/filename="a.txt"[\s\S]*some text/);
    await vestra('documents', 'create', 'nb_1', '--file', 'a.txt');
    expect(seen[0]?.body).toContain('some text');
    await vestra('skills', 'create', '--file', folder);
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({ files: [{ path: 'a.txt', content: 'some text' }] });
    expect((await vestra('documents', 'create', 'nb_1', '--file', 'a.txt', '--title', 'x')).code).toBe(2);
    expect((await vestra('files', 'upload', 'nowhere.txt')).err).toMatch(/There is no file .*nowhere.txt/);
  });

  it('reads all pages, and shows the next one', async () => {
    const ids = ['ada', 'grace', 'linus'];
    answer = ({ query }) => {
      const at = Number(new URLSearchParams(query).get('cursor') ?? 0);
      const next_cursor = at + 1 < ids.length ? String(at + 1) : null;
      return { status: 200, body: { data: [{ object: 'user', id: ids[at] }], next_cursor } };
    };
    const one = await vestra('users', 'list');
    expect(one.out).toMatch(/^ID +NAME/);
    expect(one.err).toBe('There are more: --cursor 1, or --all.\n');
    const all = await vestra('users', 'list', '--all', '--json');
    expect(JSON.parse(all.out)).toEqual({ data: ids.map((id) => ({ object: 'user', id })), next_cursor: null });
    expect(seen.map(({ query }) => query)).toEqual(['?limit=100', '?limit=100&cursor=1', '?limit=100&cursor=2']);
  });

  it("distinguishes its own --url from the server's", async () => {
    answer = () => ({ status: 200, body: {} });
    await vestra('--url', url, 'webhooks', 'create', '--url', 'https://example.com/hook', '--events', '*');
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({ url: 'https://example.com/hook', events: '*' });
    await vestra('webhooks', 'create', '--url', 'https://example.com/hook', '--events', '*');
    expect(seen).toHaveLength(1);
  });
});

describe('an error', () => {
  it("is the API's body with --json, and a sentence without", async () => {
    answer = () => ({ status: 404, body: refusal });
    const json = await vestra('users', 'get', 'ada', '--json');
    expect([json.code, json.out, JSON.parse(json.err)]).toEqual([1, '', refusal]);
    const words = await vestra('users', 'get', 'ada');
    expect([words.code, words.out, words.err]).toEqual([
      1,
      '',
      '✖ No such user.\n  A user exists from the first call for them; check the id and the mode of the key.\n  user_not_found · req_1\n',
    ]);
  });

  it.each<[string[], RegExp]>([
    [['users', 'create'], /Missing: --user\./],
    [['keys', 'create'], /Missing: --name, --scopes\./],
    [['users', 'get'], /Missing: <user>\./],
    [['users', 'get', 'ada', 'grace'], /Too many arguments/],
    [['users', 'list', '--limt', '3'], /Unknown option '--limt'\n +\(Did you mean --limit\?\)/],
    [['deploymets', 'list'], /no command `vestra deploymets`. Did you mean `vestra deployments list`/],
    [['files', 'uplod'], /no command `vestra files uplod`. Did you mean `vestra files upload`/],
    [['aply'], /Did you mean `vestra apply`/],
    [['qwertyuiop'], /`vestra help` lists the commands/],
    [['listen'], /Missing: --to/],
    [['listen', '--to', 'ftp://x'], /--to expects an address such as localhost:3000/],
    [['trace', 'msg_1'], /a turn_ id, a task_ id, or a conv_ id/],
    [['open', 'window'], /There are: chat, docs, console/],
    [['logs', '--type', 'no.such'], /`vestra help logs` lists the types/],
    [['test', 'desk', '--user', 'ada'], /omit --user/],
  ])('%j is a command line that cannot be read', async (typed, message) => {
    const { code, out, err } = await vestra(...typed);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(message);
    expect(seen).toEqual([]);
    const json = await vestra(...typed, '--json');
    expect(JSON.parse(json.err).error).toMatchObject({ type: 'invalid_request', code: 'invalid_command' });
  });

  it.each([
    ['wallet_empty', 'vk_live_', 'vestra admin credit --org <org id> --mode live --usd 50'],
    ['wallet_empty', 'vk_test_', 'vestra admin credit --org <org id> --mode test --usd 50'],
    ['user_cap_reached', 'vk_live_', 'A cap of live mode is reached: `vestra limits get` shows it'],
  ])('about money (%s) names the command to run [OPS-216]', async (code, key, hint) => {
    answer = () => ({ status: 402, body: { error: { ...refusal.error, type: 'cap_reached', code } } });
    const words = await vestra('users', 'get', 'ada', '--key', `${key}${'A'.repeat(43)}`);
    expect([words.code, words.err]).toEqual([1, expect.stringContaining(hint)]);
  });

  it("about a key names the key's source and the server", async () => {
    answer = () => ({
      status: 401,
      body: { error: { ...refusal.error, type: 'authentication', code: 'key_invalid' } },
    });
    const words = await vestra('me');
    expect(words.err).toContain(`The key is from VESTRA_KEY, sent to ${url}.`);
    const debug = await vestra('me', '--key', secret, '--debug');
    expect(debug.err).toContain(
      `Server ${url} (VESTRA_URL), key of --key\nThe first one that is set wins: --url and --key`,
    );
  });

  it('about a missing secret shows how to store it with the same key', async () => {
    const error = { ...refusal.error, type: 'invalid_request', code: 'secret_missing', names: ['SHOP_KEY'] };
    answer = () => ({ status: 400, body: { error } });
    expect((await vestra('me')).err).toContain('\n  vestra secrets set SHOP_KEY\n');
    expect((await vestra('me', '--key', secret)).err).toContain('vestra secrets set SHOP_KEY --key <the same key>\n');
    await mkdir(join(folder, '.vestra'), { recursive: true });
    const keys = { test_key: 'vk_test_folder', live_key: 'vk_live_folder' };
    await writeFile(join(folder, '.vestra/credentials.json'), JSON.stringify(keys));
    expect((await vestra('me', '--live')).err).toContain('vestra secrets set SHOP_KEY --live\n');
    await rm(join(folder, '.vestra'), { recursive: true });
  });

  it('about an unreachable server shows at once how to start one [OPS-322]', async () => {
    const gone = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => gone.once('listening', resolve));
    const away = `http://127.0.0.1:${(gone.address() as AddressInfo).port}`;
    await new Promise((resolve) => gone.close(resolve));
    const called = vi.spyOn(globalThis, 'fetch');
    const { code, err } = await vestra('users', 'list', '--url', away);
    expect([code, called.mock.calls.length]).toEqual([1, 1]);
    expect(err).toBe(
      `✖ No server listens at ${away}. Start a server with \`vestra start\`, or name another with --url.\n`,
    );
    called.mockRestore();
    expect(JSON.parse((await vestra('me', '--url', away, '--json')).err).error.code).toBe('connection_refused');
  });

  it('waits for a server that responded before and restarts', async () => {
    let calls = 0;
    answer = () => ({ status: calls++ === 0 ? 503 : 200, body: calls === 1 ? refusal : { object: 'me' } });
    expect((await vestra('me')).code).toBe(0);
    expect(calls).toBe(2);
  });

  it('never shows the key', async () => {
    answer = ({ key }) => ({ status: 400, body: { error: { ...refusal.error, message: `Bad ${key}` } } });
    for (const flags of [['--debug'], ['--debug', '--json'], []]) {
      const { out, err } = await vestra('me', ...flags);
      expect(out + err).not.toContain(secret.slice(8));
      expect(err).toContain('vk_test_…');
    }
    expect((await vestra('me', '--debug')).err).toMatch(/GET \/v1\/me → 400/);
  });

  it('reports a missing key, except for the health check', async () => {
    answer = () => ({ status: 200, body: { status: 'ok' } });
    const env = { VESTRA_URL: url, XDG_CONFIG_HOME: folder };
    expect((await runHere(['health'], { env, cwd: folder })).code).toBe(0);
    const { code, err } = await runHere(['me'], { env, cwd: folder });
    expect([code, err]).toEqual([1, `✖ No API key for ${url}: use --key, set VESTRA_KEY, or run \`vestra login\`.\n`]);
    const asJson = await runHere(['me', '--json'], { env, cwd: folder });
    expect(JSON.parse(asJson.err).error).toMatchObject({ type: 'authentication', code: 'key_missing' });
  });
});

describe('vestra status', () => {
  const me = {
    object: 'me',
    org: { id: 'org_1', name: 'Shop', status: 'active' },
    mode: 'test',
    key: null,
    member: null,
  };
  const health = { object: 'health', status: 'ok', version: '9.9.9', checks: {} };

  it.each(['status', 'whoami'])('shows the server and key in use, and why: %s [OPS-321]', async (name) => {
    answer = ({ path }) => ({ status: 200, body: path === '/v1/health' ? health : me });
    const { code, out, err } = await vestra(name);
    expect(code).toBe(0);
    for (const word of [url, 'VESTRA_URL', '9.9.9', 'VESTRA_KEY', secret.slice(-4), 'Shop'])
      expect(out).toContain(word);
    expect(out + err).not.toContain(secret);
    expect(err).toContain(`1. ${precedence[0]}`);
    const json = JSON.parse((await vestra(name, '--json', '--url', `${url}/v1/`)).out);
    expect(json).toMatchObject({
      server: { url, from: '--url' },
      key: { from: 'VESTRA_KEY', status: 'good' },
      precedence,
    });
  });

  it('exits with 1 if the key is rejected', async () => {
    const body = {
      error: { ...refusal.error, type: 'authentication', code: 'key_invalid', message: 'No such API key.' },
    };
    answer = ({ path }) => (path === '/v1/health' ? { status: 200, body: health } : { status: 401, body });
    const { code, out } = await vestra('status');
    expect([code, out]).toEqual([1, expect.stringContaining('No such API key.')]);
  });
});

describe('completion', () => {
  it.each(['bash', 'zsh', 'fish'])('%s contains every word', async (shell) => {
    const { code, out } = await vestra('completion', shell);
    expect(code).toBe(0);
    for (const word of ['deployments', 'unarchive', 'apply', 'completion', '--success-criteria', '--dry-run']) {
      expect(out).toContain(word);
    }
  });
});

describe('vestra init', () => {
  const ready = {
    status: 'ready',
    yaml: 'name: desk\n',
    deployment: 'desk',
    conversation_id: 'conv_1',
    question: null,
    dropped: [],
  };
  const firstLine = async (path: string) => (await readFile(join(folder, path), 'utf8')).split('\n')[0];

  it('writes the schema of the installed package as the first line, or else that of the server [DFILE-706]', async () => {
    answer = () => ({ status: 201, body: ready });
    const start = ['--deployment', 'desk', '--describe', 'Answers.', '--file'];
    await mkdir(join(folder, 'installed/deep/er'), { recursive: true });
    await mkdir(join(folder, 'installed/node_modules/vestra/schemas'), { recursive: true });
    await writeFile(join(folder, 'installed/node_modules/vestra/schemas/service.yaml.json'), '{}');
    for (const [file, address] of [
      ['bare.yaml', `${url}/schemas/service.yaml.json`],
      ['installed/service.yaml', './node_modules/vestra/schemas/service.yaml.json'],
      ['installed/deep/er/service.yaml', '../../node_modules/vestra/schemas/service.yaml.json'],
    ] as const) {
      expect((await vestra('init', ...start, file)).code).toBe(0);
      expect(await firstLine(file)).toBe(`# yaml-language-server: $schema=${address}`);
    }
  });
});
