import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { createLog } from '@vestra/server/main/log';
import { startServer } from '@vestra/server/main/start';
import { readConfig } from '@vestra/server/platform/config/config';
import { linkTo } from '@vestra/server/platform/db/cuttable-link.fixture';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { runCli } from '../support/cli.ts';
import { query } from '../support/database.ts';
import { expectErrorInLog } from '../support/failure-notes.ts';
import {
  type Credentials,
  makeDataDir,
  readCredentials,
  runProgram,
  type ServerProcess,
  startProcess,
} from '../support/process.ts';
import { createTestDatabase } from '../support/test-database.ts';

const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (let step = cleanUp.pop(); step; step = cleanUp.pop()) await step();
});

async function folder(): Promise<string> {
  const { dataDir, remove } = await makeDataDir();
  cleanUp.push(remove);
  return dataDir;
}

async function database(): Promise<string> {
  const made = await createTestDatabase();
  cleanUp.push(() => made.drop());
  return made.connectionString;
}

async function start(...given: Parameters<typeof startProcess>): Promise<ServerProcess> {
  const server = await startProcess(...given);
  cleanUp.push(() => server.kill('SIGTERM'));
  return server;
}

/** Sends the request of a curl command without curl. */
async function asTyped(command: string): Promise<string> {
  const [, url = ''] = /(http:\S+)/.exec(command) ?? [];
  const [, body = ''] = /-d '(.+)'$/.exec(command) ?? [];
  const headers = [...command.matchAll(/-H "([^:]+): ([^"]+)"/g)].map(
    ([, name, value]) => [name, value] as [string, string],
  );
  const answer = await fetch(url, { method: /-X PUT/.test(command) ? 'PUT' : 'POST', headers, body });
  expect(answer.ok).toBe(true);
  return answer.text();
}

const secretsOf = ({ test_key, live_key, owner }: Credentials) => [test_key, live_key, owner.password];

const postmasterOf = async (dataDir: string) =>
  Number.parseInt(await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10);

describe('a promise that nobody handles', () => {
  it('is logged, and the server keeps answering [START-680]', async () => {
    expectErrorInLog(/unhandled rejection/);
    const dataDir = await folder();
    const faulty = join(dataDir, 'faulty.mjs');
    await writeFile(faulty, `process.on('SIGUSR2', () => void Promise.reject(new Error('left behind')));\n`);
    const server = await start(dataDir, { NODE_OPTIONS: `--import=${faulty}` });
    server.child.kill('SIGUSR2');
    await expect.poll(() => server.output()).toContain('left behind');
    expect((await server.call('GET', '/v1/me')).status).toBe(200);
    expect(await server.kill('SIGTERM')).toBe(0);
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('the first start', () => {
  it('creates org, keys and owner, prints them once to a terminal and saves them to a file [START-002, START-003, START-015, START-016, START-017, SEC-018, OPS-420]', async () => {
    const dataDir = await folder();
    const first = await start(dataDir, {}, { inTerminal: true });
    const credentials = await readCredentials(dataDir);
    expect(Object.keys(credentials).sort()).toEqual(['live_key', 'org_id', 'owner', 'test_key', 'url']);
    for (const shown of secretsOf(credentials)) expect(first.output()).toContain(shown);
    for (const file of ['credentials.json', 'master-key']) {
      expect((await stat(join(dataDir, file))).mode & 0o777).toBe(0o600);
    }
    const [make, talk] = first.output().match(/curl .+(?=\r)/g) as [string, string];
    expect(JSON.parse(await asTyped(make)).draft_version).toBe(1);
    expect(await asTyped(talk)).toMatch(/event: turn.started[\s\S]+event: reply.delta[\s\S]+event: turn.settled/);
    expect(first.output()).toContain('No model key is set');
    // The log of a terminal is for a person.
    expect(first.output()).toMatch(/\d\d:\d\d:\d\d\S* \S*info/);
    expect(first.output()).not.toContain('{"level"');
    await first.call('PATCH', '/v1/org', { body: { name: 'Kept' } });
    // The window of the terminal is closed.
    const postmaster = await postmasterOf(dataDir);
    await first.kill('SIGKILL');
    await vi.waitFor(() => expect(isAlive(postmaster)).toBe(false), { timeout: 20_000 });

    const second = await start(dataDir, {}, { inTerminal: true });
    expect(await readCredentials(dataDir)).toEqual({ ...credentials, url: second.url });
    expect((await stat(join(dataDir, 'credentials.json'))).mode & 0o777).toBe(0o600);
    expect(second.output()).not.toContain(credentials.test_key);
    expect((await second.call('GET', '/v1/org')).body.name).toBe('Kept');
  });

  it('continues if the primary fails at any of its queries [FOV-551]', async () => {
    const link = await linkTo(await database());
    cleanUp.push(() => link.close());
    const config = readConfig({
      PORT: '0',
      DATABASE_URL: link.url,
      VESTRA_DATA_DIR: await folder(),
      VESTRA_MASTER_KEY: 'cd'.repeat(32),
      VESTRA_STOP_SECONDS: '1',
    });
    // In this process, since a process for each round would take a second of a core.
    const startHere = () => startServer(config, createLog('silent'));
    await (await startHere()).stop();
    let questions = 0;
    for (let isCut = true; isCut; ) {
      questions += 1;
      const isReached = link.cutAfter(questions);
      const server = await startHere();
      isCut = isReached();
      link.cutAfter(0);
      await server.stop();
    }
    expect(questions).toBeGreaterThan(10);
  });

  it('shows no key and no password to a log, and a command in its folder finds it there on any port [START-101, START-102]', async () => {
    const dataDir = await folder();
    const env = { DATABASE_URL: await database(), VESTRA_MASTER_KEY: 'cd'.repeat(32), NODE_ENV: 'production' };
    const server = await start(dataDir, env);
    const credentials = await readCredentials(dataDir);
    for (const secret of secretsOf(credentials)) expect(server.output()).not.toContain(secret);
    expect(server.output()).toContain(`in ${join(dataDir, 'credentials.json')}, with the owner's password`);
    const me = await runCli(['me', '--json'], { cwd: dataDir, env: { VESTRA_DATA_DIR: dataDir } });
    expect(JSON.parse(me.out)).toMatchObject({ org: { id: credentials.org_id }, mode: 'test' });
  });

  it('listens on 127.0.0.1:4600 by default [START-001]', async () => {
    expect(readConfig({})).toMatchObject({ host: '127.0.0.1', port: 4600, role: 'all' });
    expect(readConfig({ HOST: '0.0.0.0', PORT: '80' })).toMatchObject({ host: '0.0.0.0', port: 80 });
  });
});

describe('a stop signal', () => {
  it.each([
    // As in a terminal: ctrl-C goes to the whole group, and npm passes it on besides.
    ['ctrl-C in a terminal, which reaches the server twice', 'SIGINT', -1],
    ['SIGTERM to npm alone', 'SIGTERM', 1],
    ['SIGKILL to npm alone, which can pass nothing on', 'SIGKILL', 1],
  ] as const)('npm start ends with its database on %s [START-020]', async (_name, signal, group) => {
    const dataDir = await folder();
    const npm = spawn('npm', ['start'], {
      cwd: join(import.meta.dirname, '../..'),
      env: { ...process.env, VESTRA_DATA_DIR: dataDir, PORT: '0', VESTRA_LOG_LEVEL: 'info' },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    cleanUp.push(async () => spawn('kill', ['-KILL', '--', `-${npm.pid}`], { stdio: 'ignore' }));
    const ended = once(npm, 'exit');
    let output = '';
    for await (const chunk of npm.stdout) {
      output += chunk;
      if (/is running at/.test(output)) break;
    }
    const postmaster = await postmasterOf(dataDir);
    process.kill(group * (npm.pid as number), signal);
    await ended;
    await vi.waitFor(() => expect(isAlive(postmaster)).toBe(false), { timeout: 20_000 });
    await expect(readFile(join(dataDir, 'postgres/postmaster.pid'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('during the start leaves nothing running [START-020]', async () => {
    const dataDir = await folder();
    const child = spawn(process.execPath, [join(import.meta.dirname, '../../packages/server/src/main/main.ts')], {
      env: { PATH: process.env.PATH ?? '', VESTRA_DATA_DIR: dataDir, PORT: '0' },
      stdio: 'ignore',
    });
    const ended = once(child, 'exit');
    const pidFile = join(dataDir, 'postgres/postmaster.pid');
    await vi.waitFor(() => readFile(pidFile), { timeout: 30_000, interval: 5 });
    const postmaster = await postmasterOf(dataDir);
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    expect(isAlive(postmaster)).toBe(false);
  });
});

describe('kill -9', () => {
  it('loses nothing that was acknowledged, and the next start adopts the database', async () => {
    const dataDir = await folder();
    const first = await start(dataDir);
    const acknowledged: string[] = [];
    const writing = (async () => {
      for (;;) {
        const made = await first.call('POST', '/v1/keys', { body: { name: 'k', scopes: ['runtime'] } });
        acknowledged.push(made.body.id);
      }
    })().catch(() => {});
    while (acknowledged.length < 20) await new Promise((resolve) => setTimeout(resolve, 5));
    await first.kill('SIGKILL');
    await writing;

    const second = await start(dataDir);
    const kept = new Set<string>();
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await second.call('GET', `/v1/keys?limit=100${cursor && `&cursor=${cursor}`}`);
      for (const { id } of body.data) kept.add(id);
      cursor = body.next_cursor;
    }
    for (const id of acknowledged) expect(kept).toContain(id);
  });
});

describe('one sentence and exit code 1', () => {
  const fails = async (env: Record<string, string>) => {
    const { code, output } = await runProgram('server', [], { PORT: '0', ...env });
    expect(code).toBe(1);
    const lines = output
      .trim()
      .split('\n')
      .filter((line) => !line.startsWith('{'));
    expect(lines).toHaveLength(1);
    return lines[0] as string;
  };

  it('for a port in use', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    cleanUp.push(() => new Promise((resolve) => taken.close(resolve)));
    const { port } = taken.address() as { port: number };
    expect(
      await fails({ VESTRA_DATA_DIR: await folder(), DATABASE_URL: await database(), PORT: String(port) }),
    ).toContain(`Port ${port}`);
  });

  it('for a DATABASE_URL that leads nowhere, without its password', async () => {
    const line = await fails({ VESTRA_DATA_DIR: await folder(), DATABASE_URL: 'postgresql://u:hunter2@127.0.0.1:1/x' });
    expect(line).toContain('127.0.0.1');
    expect(line).not.toContain('hunter2');
  });

  it('for a data folder that another server uses, and for one whose database has another password', async () => {
    const dataDir = await folder();
    const first = await start(dataDir);
    expect(await fails({ VESTRA_DATA_DIR: dataDir })).toContain(String(first.child.pid));
    await first.kill('SIGTERM');
    const file = join(dataDir, 'postgres/vestra.password');
    await writeFile(file, 'wrong\n');
    expect(await fails({ VESTRA_DATA_DIR: dataDir })).toContain(`the password in ${file}`);
    await expect(postmasterOf(dataDir)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('for a data folder that cannot be one', async () => {
    const file = join(await folder(), 'file');
    await writeFile(file, '');
    expect(await fails({ VESTRA_DATA_DIR: file })).toContain(file);
  });

  it('for an invalid setting [START-010]', async () => {
    expect(await fails({ VESTRA_ROLE: 'boss', VESTRA_DATA_DIR: await folder() })).toContain('VESTRA_ROLE');
    expect(await fails({ PORT: '70000', VESTRA_DATA_DIR: await folder() })).toContain('PORT');
    expect(
      await fails({ VESTRA_MASTER_KEY: 'short', VESTRA_DATA_DIR: await folder(), DATABASE_URL: await database() }),
    ).toContain('VESTRA_MASTER_KEY');
  });

  it('for a master key that does not fit the database', async () => {
    const DATABASE_URL = await database();
    const first = await start(await folder(), { DATABASE_URL, VESTRA_MASTER_KEY: 'aa'.repeat(32) });
    await first.kill('SIGTERM');
    expect(
      await fails({ DATABASE_URL, VESTRA_MASTER_KEY: 'bb'.repeat(32), VESTRA_DATA_DIR: await folder() }),
    ).toContain('master key');
  });
});

it('an address of a provider without http or https stops the start with an example [START-632]', async () => {
  const { readConfig } = await import('@vestra/server/platform/config/config');
  const names = ['ANTHROPIC', 'OPENAI', 'GOOGLE_GENERATIVE_AI', 'OPENAI_COMPATIBLE'].map((each) => `${each}_BASE_URL`);
  for (const name of names) {
    for (const address of ['localhost:11434', '127.0.0.1:4745', 'ftp://a.example', 'ollama']) {
      const message = `The setting ${name} is not valid: must be an address with http or https, such as http`;
      expect(() => readConfig({ [name]: address })).toThrow(message);
    }
    expect(() => readConfig({ [name]: 'http://localhost:11434/v1' })).not.toThrow();
  }
  const { code, output } = await runProgram('server', [], { OPENAI_COMPATIBLE_BASE_URL: 'localhost:11434' });
  expect([code, output.trim()]).toEqual([
    1,
    'The setting OPENAI_COMPATIBLE_BASE_URL is not valid: must be an address with http or https, such as http://127.0.0.1:11434/v1.',
  ]);
});

describe('OPENAI_COMPATIBLE_BASE_URL alone', () => {
  const endpoint = async (answer: RequestListener) => {
    const server = createHttpServer(answer);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanUp.push(async () => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  };
  const outputWith = async (url: string, sentence: string) => {
    const env = { DATABASE_URL: await database(), VESTRA_MASTER_KEY: 'cd'.repeat(32) };
    const server = await start(await folder(), { ...env, OPENAI_COMPATIBLE_BASE_URL: url });
    await vi.waitFor(() => expect(server.output()).toContain(sentence), { timeout: 20_000 });
    return server.output();
  };
  const example = 'for example OPENAI_COMPATIBLE_BASE_URL=http://127.0.0.1:11434/v1.';

  it('is named as the default by the welcome, with its price [START-630, START-631]', async () => {
    const url = await endpoint((request, response) => {
      const isAsked = request.url === '/v1/models';
      response.writeHead(isAsked ? 200 : 404).end(JSON.stringify({ data: [{ id: 'llama-9' }, { id: 'qwen-5' }] }));
    });
    const sentence = 'Agents answer with compatible/llama-9 unless a deployment chooses another model.';
    const output = await outputWith(url, sentence);
    expect(output).toContain('OPENAI_COMPATIBLE_PRICE is not set');
    expect(output).not.toContain('No model key is set');
  });

  it.each<[string, RequestListener | null, string]>([
    ['nobody listens', null, 'does not answer'],
    ['it lists nothing', (_request, response) => void response.end('{"data":[]}'), 'lists no model for conversations'],
    ['it never answers', () => {}, 'has not answered yet'],
  ])('is explained by one sentence if %s, and the server starts [START-631]', async (_what, answer, problem) => {
    const url = answer ? await endpoint(answer) : 'http://127.0.0.1:9/v1';
    const given = answer ? url : url.replace('//', '//someone:secret-word@');
    const sentence = `${url}/models ${problem}: check OPENAI_COMPATIBLE_BASE_URL, ${example}`;
    expect(await outputWith(given, sentence)).not.toMatch(/No model key is set|secret-word/);
  });
});

describe('two servers on one database', () => {
  it('start at once without collision and share one org [START-004, START-012, TEN-003]', async () => {
    const DATABASE_URL = await database();
    const env = { DATABASE_URL, VESTRA_MASTER_KEY: 'cd'.repeat(32) };
    const folders = [await folder(), await folder(), await folder()];
    const servers = await Promise.all(folders.map((dataDir) => start(dataDir, env)));
    const orgs = await query<{ id: string }>(DATABASE_URL, 'SELECT id FROM orgs');
    expect(orgs).toHaveLength(1);
    const made = (await Promise.all(folders.map((dataDir) => readCredentials(dataDir).catch(() => null)))).filter(
      (each) => each !== null,
    );
    expect(made).toHaveLength(1);
    for (const server of servers) {
      const { status } = await server.call('GET', '/v1/me', { key: made[0]?.test_key as string });
      expect(status).toBe(200);
    }
  });

  it('with role api run no jobs, with role worker serve no requests [START-011]', async () => {
    const DATABASE_URL = await database();
    const env = { DATABASE_URL, VESTRA_MASTER_KEY: 'cd'.repeat(32) };
    const api = await start(await folder(), { ...env, VESTRA_ROLE: 'api' });
    expect(api.url).not.toBe('');
    const pending = async () =>
      Number((await query<{ n: string }>(DATABASE_URL, 'SELECT count(*) AS n FROM unfolded_entries'))[0]?.n);
    expect(await pending()).toBeGreaterThan(0);
    const worker = await start(await folder(), { ...env, VESTRA_ROLE: 'worker' });
    expect(worker.url).toBe('');
    while ((await pending()) > 0) await new Promise((resolve) => setTimeout(resolve, 50));
  });
});

describe('a lost database', () => {
  it('is reported by health and every other route, and recovers', async () => {
    const DATABASE_URL = await database();
    const server = await start(await folder(), { DATABASE_URL, VESTRA_MASTER_KEY: 'cd'.repeat(32) });
    const name = new URL(DATABASE_URL).pathname.slice(1);
    const maintenance = new URL(DATABASE_URL);
    maintenance.pathname = '/postgres';
    await query(maintenance.href, `ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS false`);
    await query(maintenance.href, 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
    const health = await server.call('GET', '/v1/health', { key: null });
    expect([health.status, health.body.status]).toEqual([503, 'failing']);
    const other = await server.call('GET', '/v1/org');
    expect([other.status, other.body.error.code]).toEqual([503, 'not_ready']);
    await query(maintenance.href, `ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS true`);
    expect((await server.call('GET', '/v1/org')).status).toBe(200);
  });
});

describe('the log', () => {
  it('names each request and carries no secret, body or query [REQ-010, SEC-003]', async () => {
    const server = await start(await folder(), { DATABASE_URL: await database(), VESTRA_MASTER_KEY: 'cd'.repeat(32) });
    const stored = await server.call('PUT', '/v1/secrets/LOGGED', { body: { value: 'log-me-not-value' } });
    await server.call('GET', '/v1/keys?limit=3&cursor=log-me-not-cursor');
    await server.kill('SIGTERM');
    const lines = server
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));
    const line = lines.find(({ request_id }) => request_id === stored.headers.get('request-id'));
    expect(line).toMatchObject({ method: 'PUT', route: '/v1/secrets/{name}', status: 200 });
    const logged = JSON.stringify(lines);
    for (const secret of ['log-me-not', 'vk_test_', 'Bearer']) expect(logged).not.toContain(secret);
  });
});
